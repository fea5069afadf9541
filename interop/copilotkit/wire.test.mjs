// The runtime wire by itself, without a browser: what each call answers, what a thread looks like to a page that comes
// back, and that nobody sees anything of anybody else.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after, before, describe } from "node:test";
import { startAgent } from "../support/agent.mjs";
import { Runtime, SingleRuntime, follow, input, interrupts, last, legal, read, text, types, user } from "./wire.mjs";

const ORIGIN = "http://app.example:3000";
let agent;
before(async () => { agent = await startAgent({ origins: [ORIGIN] }); });
after(() => agent?.stop());

/** Says something on a thread and reads the answer. */
const say = async (runtime, threadId, words, over) => read(await runtime.run(input(threadId, { messages: [user(words)], ...over })));

/** Says something whose answer takes a while; the run is at work when this returns. */
async function begin(runtime, threadId) {
  const body = input(threadId, { messages: [user("slow")] });
  const events = follow(await runtime.run(body));
  const seen = [];
  while (seen.at(-1)?.type !== "TEXT_MESSAGE_CONTENT") seen.push((await events.next()).value);
  const rest = async () => {
    for await (const event of events) seen.push(event);
    return legal(seen);
  };
  return { runId: body.runId, rest };
}

for (const [way, Kind] of Object.entries({ "a path per call": Runtime, "a single endpoint": SingleRuntime })) {
  describe(`the wire at ${way}`, () => {
    let runtime;
    before(() => { runtime = new Kind(agent.url); });

    test("info names the agents and what there is", async () => {
      const { status, body } = await runtime.info();
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body.agents), ["default", "interop"]);
      assert.equal(body.agents.interop.description, "Shows each situation of the protocol on a word");
      assert.equal(body.mode, "sse");
      assert.deepEqual(body.threadEndpoints, { list: true, inspect: true, mutations: true, realtimeMetadata: false });
      assert.equal(body.singleRoute.resourceOperations, true);
      assert.equal(body.telemetryDisabled, true);
    });

    test("a run streams its events", async () => {
      const events = await say(runtime, randomUUID(), "weather", { context: [{ description: "page", value: "x" }] });
      assert.match(text(events), /sunny in Paris/);
      assert.equal(last(events, "TOOL_CALL_RESULT").content, '{"degrees":21,"sky":"sunny over Paris"}');
    });

    test("the agent without a name is the default one", async () => {
      const response = await runtime.run(input(randomUUID(), { messages: [user("hello")] }), "default");
      assert.match(text(await read(response)), /You said: 'hello'/);
    });

    test("an agent that is not there is refused", async () => {
      const response = await runtime.run(input(randomUUID(), { messages: [user("hello")] }), "nobody");
      assert.equal(response.status, 404);
    });

    test("connecting to a new thread shows an empty one and makes none", async () => {
      const threadId = randomUUID();
      const events = await read(await runtime.connect(input(threadId)));
      assert.deepEqual(types(events), ["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
      assert.deepEqual(last(events, "MESSAGES_SNAPSHOT").messages, []);
      assert.deepEqual(interrupts(events), []);
      const { body } = await runtime.threads();
      assert.ok(!body.threads.some((thread) => thread.id === threadId));
    });

    test("connecting to a thread shows its messages and its state", async () => {
      const threadId = randomUUID();
      const said = user("recipe");
      const lived = await read(await runtime.run(input(threadId, { messages: [said] })));
      const events = await read(await runtime.connect(input(threadId)));
      const { messages } = last(events, "MESSAGES_SNAPSHOT");
      assert.deepEqual(messages.map((message) => message.role), ["user", "assistant", "tool", "assistant"]);
      assert.deepEqual(messages[0], said);
      assert.equal(messages.at(-1).id, last(lived, "TEXT_MESSAGE_END").messageId);
      assert.deepEqual(last(events, "STATE_SNAPSHOT").snapshot, last(lived, "STATE_SNAPSHOT").snapshot);
      assert.equal(last(events, "STATE_SNAPSHOT").snapshot.recipe.ingredients.length, 4);
      assert.deepEqual(interrupts(events), []);
    });

    test("connecting shows an approval for as long as it is open", async () => {
      const threadId = randomUUID();
      const asked = interrupts(await say(runtime, threadId, "delete"));
      assert.equal(asked[0].message, "Delete report.txt?");
      for (let visit = 0; visit < 2; visit++) {
        const shown = await read(await runtime.connect(input(threadId)));
        assert.deepEqual(interrupts(shown), asked);
        assert.equal(last(shown, "MESSAGES_SNAPSHOT").messages.at(-1).toolCalls[0].id, asked[0].toolCallId);
      }
      const resume = [{ interruptId: asked[0].id, status: "resolved", payload: { approved: true } }];
      assert.match(text(await read(await runtime.run(input(threadId, { resume })))), /Decision received: \{"approved":true/);
      const shown = await read(await runtime.connect(input(threadId)));
      assert.deepEqual(interrupts(shown), []);
      const { messages } = last(shown, "MESSAGES_SNAPSHOT");
      assert.equal(messages.filter((message) => message.toolCallId === asked[0].toolCallId).length, 1);
    });

    test("connecting to a run that is at work follows it to its end", async () => {
      const threadId = randomUUID();
      const { rest } = await begin(runtime, threadId);
      const [followed, lived] = await Promise.all([runtime.connect(input(threadId)).then(read), rest()]);
      assert.deepEqual(followed.at(-1), lived.at(-1));
      const { messages } = last(followed, "MESSAGES_SNAPSHOT");
      assert.equal(messages[0].content, "slow");
      assert.ok(text(lived).endsWith(text(followed)) && text(followed).length > 0);
    });

    test("connecting never stands in the way of a run", async () => {
      for (let round = 0; round < 20; round++) {
        const threadId = randomUUID();
        const [, ran, shown] = await Promise.all([
          runtime.connect(input(threadId)).then(read),
          say(runtime, threadId, "hello"),
          runtime.connect(input(threadId)).then(read),
        ]);
        assert.match(text(ran), /You said/);
        assert.equal(shown.at(-1).type, "RUN_FINISHED");
      }
    });

    test("a second run on a busy thread is refused", async () => {
      const threadId = randomUUID();
      const { runId, rest } = await begin(runtime, threadId);
      const response = await runtime.run(input(threadId, { messages: [user("hello")] }));
      assert.equal(response.status, 409);
      const { error } = await response.json();
      assert.equal(error.code, "thread_busy");
      assert.match(JSON.stringify(error), new RegExp(runId));
      await rest();
    });

    test("a run is stopped, and only the one that is meant", async () => {
      const threadId = randomUUID();
      const { runId, rest } = await begin(runtime, threadId);
      assert.deepEqual((await runtime.stop(threadId, { runId: "another" })).body.stopped, false);
      assert.equal((await runtime.stop(threadId, { runId: 7 })).status, 400);
      const { body } = await runtime.stop(threadId, { runId });
      assert.equal(body.stopped, true);
      assert.deepEqual([body.interrupt.type, body.interrupt.code], ["RUN_ERROR", "STOPPED"]);
      assert.equal((await rest()).at(-1).type, "RUN_FINISHED");
      assert.equal((await runtime.stop(threadId)).body.stopped, false);
    });

    test("a stop without a body ends whatever is at work", async () => {
      const threadId = randomUUID();
      const { rest } = await begin(runtime, threadId);
      assert.equal((await runtime.stop(threadId)).body.stopped, true);
      const said = text(await rest());
      assert.match(said, /^This is a /);
      assert.doesNotMatch(said, /while to arrive\.$/);
      assert.match(text(await say(runtime, threadId, "hello")), /You said: 'hello'/);
    });

    test("a thread is listed, inspected, renamed and deleted", async () => {
      const threadId = `a thread/${randomUUID()}`;
      await say(runtime, threadId, "weather");
      const listed = (await runtime.threads()).body.threads[0];
      assert.equal(listed.id, threadId);
      assert.equal(listed.name, "weather");
      assert.equal(listed.agentId, "interop");
      assert.ok(new Date(listed.updatedAt) >= new Date(listed.createdAt));

      const { messages } = (await runtime.thread(threadId, "messages")).body;
      assert.deepEqual(messages.map((message) => message.role), ["user", "assistant", "tool", "assistant"]);
      const [call] = messages[1].toolCalls;
      assert.deepEqual([call.name, call.args], ["get_weather", '{"city":"Paris"}']);
      assert.equal((await runtime.thread(threadId, "state")).body.state.turns, 2);
      const { events } = (await runtime.thread(threadId, "events")).body;
      assert.deepEqual(types(events), ["STATE_SNAPSHOT", "MESSAGES_SNAPSHOT"]);

      const renamed = await runtime.thread(threadId, "", "PATCH", { agentId: "interop", name: "Paris" });
      assert.deepEqual([renamed.status, renamed.body.name], [200, "Paris"]);
      assert.equal((await runtime.threads()).body.threads.find((thread) => thread.id === threadId).name, "Paris");
      assert.equal((await runtime.thread(threadId, "", "PATCH", { agentId: "interop", archived: false })).body.name, "Paris");
      for (const wrong of [{}, { name: 7 }, { archived: true }]) {
        assert.equal((await runtime.thread(threadId, "", "PATCH", wrong)).status, 400, JSON.stringify(wrong));
      }

      assert.equal((await runtime.thread(threadId, "", "DELETE", { agentId: "interop" })).status, 204);
      assert.equal((await runtime.thread(threadId, "messages")).status, 404);
      assert.ok(!(await runtime.threads()).body.threads.some((thread) => thread.id === threadId));
    });

    test("a long list comes in pages", async () => {
      const made = [randomUUID(), randomUUID(), randomUUID()];
      for (const threadId of made) await say(runtime, threadId, "hello");
      const first = (await runtime.threads("&limit=2")).body;
      const second = (await runtime.threads(`&limit=2&cursor=${encodeURIComponent(first.nextCursor)}`)).body;
      const ids = [...first.threads, ...second.threads].map((thread) => thread.id);
      assert.deepEqual(ids.slice(0, 3), made.reverse());
      assert.equal((await runtime.threads("&limit=0")).status, 400);
    });
  });
}

test("what the single endpoint does not know is refused", async () => {
  const runtime = new Runtime(agent.url);
  for (const [call, status] of [
    [{}, 400],
    [{ method: "agent/dance", params: {} }, 400],
    [{ method: "resource/request" }, 400],
    [{ method: "resource/request", params: { path: "/agents", httpMethod: "GET" } }, 404],
    [{ method: "resource/request", params: { path: "/threads", httpMethod: "DELETE" } }, 404],
    [{ method: "resource/request", params: { path: "/threads/x/secrets" } }, 404],
  ]) {
    const answer = await runtime.call("", "POST", call);
    assert.equal(answer.status, status, JSON.stringify(call));
    assert.equal(typeof answer.body.error.message, "string");
  }
});

test("a page of a listed origin may call, another may not", async () => {
  const preflight = (origin, method) =>
    fetch(`${agent.url}/copilotkit/threads/t`, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": method, "access-control-request-headers": "content-type" },
    });
  for (const method of ["POST", "PATCH", "DELETE"]) {
    const allowed = await preflight(ORIGIN, method);
    assert.equal(allowed.headers.get("access-control-allow-origin"), ORIGIN);
    assert.match(allowed.headers.get("access-control-allow-methods"), new RegExp(method));
  }
  const refused = await fetch(`${agent.url}/copilotkit/info`, { headers: { origin: "http://evil.example" } });
  assert.equal(refused.status, 403);
});

test("nobody sees anything of anybody else", async () => {
  const guarded = await startAgent({ tokens: { "token-of-alice": "alice", "token-of-bob": "bob" } });
  try {
    const [alice, bob] = ["token-of-alice", "token-of-bob"].map((token) => new Runtime(guarded.url, token));
    assert.equal((await new Runtime(guarded.url).info()).status, 401);
    assert.equal((await bob.info()).status, 200);

    const threadId = "shared-name";
    const [open] = interrupts(await say(alice, threadId, "delete"));
    assert.deepEqual((await bob.threads()).body.threads, []);
    for (const part of ["messages", "state", "events"]) assert.equal((await bob.thread(threadId, part)).status, 404);
    assert.equal((await bob.thread(threadId, "", "PATCH", { name: "mine" })).status, 404);
    assert.equal((await bob.thread(threadId, "", "DELETE", {})).status, 404);
    const shown = await read(await bob.connect(input(threadId)));
    assert.deepEqual([last(shown, "MESSAGES_SNAPSHOT").messages, interrupts(shown)], [[], []]);
    const resume = [{ interruptId: open.id, status: "resolved", payload: { approved: true } }];
    const stolen = await bob.run(input(threadId, { resume }));
    assert.ok(stolen.status >= 400 && stolen.status < 500, `a stranger's answer came to ${stolen.status}`);
    assert.deepEqual(interrupts(await read(await alice.connect(input(threadId)))), [open]);

    const { runId, rest } = await begin(alice, "at-work");
    assert.equal((await bob.stop("at-work", { runId })).body.stopped, false);
    assert.equal((await bob.stop("at-work")).body.stopped, false);
    assert.deepEqual(text(await read(await bob.connect(input("at-work")))), "");
    assert.equal((await rest()).at(-1).type, "RUN_FINISHED");
  } finally {
    await guarded.stop();
  }
});

test("an open approval outlives the server", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "antiphon-wire-"));
  const store = path.join(folder, "threads.db");
  const threadId = randomUUID();
  try {
    const first = await startAgent({ store });
    const asked = interrupts(await say(new Runtime(first.url), threadId, "delete"));
    assert.equal(asked.length, 1);
    await first.stop();

    const second = await startAgent({ store });
    const runtime = new Runtime(second.url);
    assert.deepEqual(interrupts(await read(await runtime.connect(input(threadId)))), asked);
    const resume = [{ interruptId: asked[0].id, status: "resolved", payload: { approved: false } }];
    const events = await read(await runtime.run(input(threadId, { resume })));
    assert.doesNotMatch(text(events), /"approved":true/);
    assert.deepEqual(interrupts(await read(await runtime.connect(input(threadId)))), []);
    await second.stop();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
