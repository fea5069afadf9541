// The Dojo's pages against the demo's agents, over every transport.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import test, { after, before } from "node:test";
import { connect, openCalls, run, TRANSPORTS } from "../lib/client.mjs";
import { CONVERSATIONS } from "../lib/dojo.mjs";
import { faults } from "../lib/rules.mjs";
import { startDemo } from "../lib/server.mjs";

let demo;
before(async () => { demo = await startDemo(); });
after(() => demo.stop());

for (const conversation of CONVERSATIONS) {
  for (const [name, transport] of Object.entries(TRANSPORTS)) {
    test(`dojo: ${conversation.name} (${name})`, () => hold(conversation, transport));
  }
}

async function hold({ agent, turns, tools = [], context = [], state = {} }, transport) {
  const client = connect(`${demo.url}/agents/${agent}`, transport, { state });
  for (const turn of turns) {
    if (turn.say) client.agent.addMessage({ id: randomUUID(), role: "user", content: turn.say });
    for (const call of turn.answer ? openCalls(client.agent.messages) : []) {
      client.agent.addMessage({ id: randomUUID(), role: "tool", toolCallId: call.id, content: JSON.stringify(turn.answer) });
    }
    const made = await run(client, { tools, context });
    assert.deepEqual(faults(made), []);
    turn.check({ ...made, open: openCalls(made.messages).map((call) => call.function.name) });
  }
}
