// The Rust Replica makes of a stream what the official client makes of it: on recorded and written
// streams, and on what the demo sends now.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import test, { after, before } from "node:test";
import { connect, openCalls, run, TRANSPORTS } from "../lib/client.mjs";
import { CONVERSATIONS } from "../lib/dojo.mjs";
import { SSE } from "../lib/http.mjs";
import { startDemo } from "../lib/server.mjs";
import { bodyOf, WRITTEN } from "../lib/written.mjs";

const REPLAY = process.env.ANTIPHON_REPLAY;
const CASES = fileURLToPath(new URL("../../tests/cases/", import.meta.url));

let demo, folder;
before(async () => {
  demo = await startDemo();
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "antiphon-replica-"));
});
after(async () => {
  fs.rmSync(folder, { recursive: true });
  await demo.stop();
});

/** What the Rust Replica holds after a folder's `events.sse`, starting from its `input.json`. */
function replica(dir) {
  assert.ok(REPLAY, "set ANTIPHON_REPLAY to the built example `replay` of antiphon-protocol");
  return new Promise((resolve, reject) => {
    const child = spawn(REPLAY, [dir], { stdio: ["ignore", "pipe", "pipe"] });
    let out = "", log = "";
    child.stdout.on("data", (data) => { out += data; });
    child.stderr.on("data", (data) => { log += data; });
    child.on("exit", (code) => {
      try { resolve(JSON.parse(out)); } catch { reject(new Error(`replay ended with ${code}: ${out.slice(0, 200)} ${log}`)); }
    });
    child.on("error", reject);
  });
}

/** What the official client holds after the same. */
async function official(dir) {
  const { threadId, runId, messages = [], state = {} } = JSON.parse(fs.readFileSync(path.join(dir, "input.json")));
  const body = fs.readFileSync(path.join(dir, "events.sse"));
  const client = connect("http://recorded.invalid/", TRANSPORTS.sse, {
    threadId, messages, state, fetch: async () => new Response(body, { headers: { "content-type": SSE } }),
  });
  return run(client, { runId });
}

/** Writes a stream and its input as the replay reads them; returns the folder. */
function store(body, input) {
  const dir = fs.mkdtempSync(path.join(folder, "stream-"));
  fs.writeFileSync(path.join(dir, "events.sse"), body);
  fs.writeFileSync(path.join(dir, "input.json"), JSON.stringify(input));
  return dir;
}

/** Asserts that both hold the same messages and state, as JSON carries them. */
function same(ours, theirs) {
  const held = ({ messages, state }) => JSON.parse(JSON.stringify({ messages, state }));
  assert.deepEqual(held(ours), held(theirs));
}

const recorded = fs.existsSync(CASES)
  ? fs.readdirSync(CASES).filter((name) => ["events.sse", "input.json"].every((file) => fs.existsSync(path.join(CASES, name, file))))
  : [];

for (const name of recorded) {
  test(`recorded stream ${name}`, async () => {
    const dir = path.join(CASES, name);
    same(await replica(dir), await official(dir));
  });
}

for (const [name, events] of Object.entries(WRITTEN)) {
  test(`written stream: ${name}`, async () => {
    const input = { threadId: "t", runId: "r", messages: [{ id: "u1", role: "user", content: "Hello" }], state: { kept: true } };
    const dir = store(bodyOf(events, input), input);
    const [ours, theirs] = [await replica(dir), await official(dir)];
    assert.equal(theirs.error, undefined);
    assert.equal(ours.status, "ok", ours.error);
    same(ours, theirs);
  });
}

for (const { name, agent, turns, tools, context, state = {} } of CONVERSATIONS) {
  test(`the demo's stream: ${name}`, async () => {
    const client = connect(`${demo.url}/agents/${agent}`, TRANSPORTS.sse, { state });
    for (const turn of turns) {
      if (turn.say) client.agent.addMessage({ id: randomUUID(), role: "user", content: turn.say });
      for (const call of turn.answer ? openCalls(client.agent.messages) : []) {
        client.agent.addMessage({ id: randomUUID(), role: "tool", toolCallId: call.id, content: JSON.stringify(turn.answer) });
      }
      const made = await run(client, { tools, context });
      const ours = await replica(store(made.body, { threadId: made.threadId, runId: made.runId, ...made.before }));
      assert.equal(ours.status, "ok", ours.error);
      same(ours, made);
    }
  });
}
