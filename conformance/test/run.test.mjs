// A run from the client's side: one turn, the next turn, and many at once.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import test, { after, before } from "node:test";
import { connect, run, TRANSPORTS } from "../lib/client.mjs";
import { alive, input, legal, post } from "../lib/probe.mjs";
import { faults } from "../lib/rules.mjs";
import { startDemo } from "../lib/server.mjs";

let demo, url;
before(async () => { demo = await startDemo(); url = `${demo.url}/agui`; });
after(() => demo.stop());

const say = (content) => ({ id: randomUUID(), role: "user", content });

for (const [name, transport] of Object.entries(TRANSPORTS)) {
  test(`a client reads a run (${name})`, async () => {
    const made = await run(connect(url, transport, { messages: [say("Hello")] }));
    assert.deepEqual(faults(made), []);
    assert.equal(made.type, transport.type);
    assert.equal(made.events.at(-1).type, "RUN_FINISHED");
    assert.ok(made.messages.length > 1, "the run added no message");
    assert.equal(made.request.protocolVersion, transport.legacy ? undefined : "1.0");
  });

  test(`a second turn with the returned history adds to the thread (${name})`, async () => {
    const client = connect(url, transport, { messages: [say("Hello")] });
    const first = await run(client);
    assert.deepEqual(faults(first), []);
    client.agent.addMessage(say("And again"));
    const second = await run(client);
    assert.deepEqual(faults(second), []);
    const ids = second.messages.map((m) => m.id);
    assert.equal(new Set(ids).size, ids.length, `message ids repeat: ${ids}`);
    assert.deepEqual(second.messages.slice(0, first.messages.length), first.messages, "the first turn's messages changed");
    assert.ok(second.messages.length > first.messages.length + 1, "the second turn added no message");
  });

  test(`a second turn with the new message alone goes on with the thread (${name})`, async () => {
    const client = connect(url, transport, { messages: [say("Hello")] });
    const first = await run(client);
    client.agent.setMessages([say("And again")]);
    const second = await run(client);
    assert.deepEqual(faults({ ...second, before: { ...second.before, messages: [...first.messages, ...second.before.messages] } }), []);
    assert.equal(second.events.at(-1).type, "RUN_FINISHED");
  });
}

test("events arrive as they happen", async () => {
  const body = input();
  const answer = await post(url, body);
  legal(answer, body);
  assert.ok(answer.reads > 1, "the whole body came in one read");
});

test("a stream is not to be cached, changed or buffered on its way", async () => {
  const { headers } = await post(url, input());
  assert.match(headers["cache-control"], /no-cache/);
  assert.match(headers["cache-control"], /no-transform/);
  assert.equal(headers["x-accel-buffering"], "no");
});

test("opening a thread without a message says what is there and calls no model", async () => {
  const body = input({ messages: [] });
  const { events } = legal(await post(url, body), body);
  assert.ok(!events.some((e) => e.type.startsWith("TEXT_MESSAGE")), "the model was called");
  assert.equal(events.at(-1).type, "RUN_FINISHED");
});

test("parallel runs on their own threads do not mix", async () => {
  const bodies = Array.from({ length: 24 }, () => input());
  const answers = await Promise.all(bodies.map((body) => post(url, body)));
  const ids = answers.flatMap((answer, i) => legal(answer, bodies[i]).events.filter((e) => e.type === "TEXT_MESSAGE_START").map((e) => e.messageId));
  assert.equal(new Set(ids).size, ids.length, "two runs share a message id");
});

test("clients that leave in the middle do no harm", async () => {
  await Promise.all(Array.from({ length: 8 }, () => post(url, input(), { leaveAfter: 1 })));
  await alive(url);
});

test("a run posted again after its end is answered with its ending and runs nothing", async () => {
  const body = input();
  const first = legal(await post(url, body), body);
  const again = await post(url, body);
  const known = { messages: first.events.findLast((e) => e.type === "MESSAGES_SNAPSHOT")?.messages ?? body.messages, state: {} };
  assert.equal(again.status, 200);
  const repeated = legal(again, { ...body, messages: known.messages });
  assert.ok(!repeated.events.some((e) => e.type === "TEXT_MESSAGE_CONTENT"), "the model was called again");
  assert.equal(repeated.events.at(-1).type, first.events.at(-1).type);
});
