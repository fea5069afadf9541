// Coming back to a run: a reader that continues, one that starts over, and one that is late.
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { request, SSE } from "../lib/http.mjs";
import { input, legal, post, refused } from "../lib/probe.mjs";
import { startDemo } from "../lib/server.mjs";
import { read } from "../lib/streams.mjs";

let demo, url;
before(async () => { demo = await startDemo(); url = `${demo.url}/agui`; });
after(() => demo.stop());

const rejoin = ({ runId, threadId }, headers = {}) =>
  request(`${demo.url}/runs/${encodeURIComponent(runId)}/events?threadId=${encodeURIComponent(threadId)}`, { method: "GET", headers: { accept: SSE, ...headers } });

test("a reader that comes back with its last position gets exactly the rest", async () => {
  const body = input();
  const whole = legal(await post(url, body), body);
  for (const at of [0, Math.floor(whole.ids.length / 2), whole.ids.length - 2]) {
    const answer = await rejoin(body, { "last-event-id": whole.ids[at] });
    assert.equal(answer.status, 200);
    const rest = read(answer.body, SSE);
    assert.deepEqual(rest.problems, []);
    assert.equal(rest.events.at(-1).type, "RUN_FINISHED");
    const tail = whole.events.slice(at + 1);
    const continued = rest.events.length === tail.length && rest.events[0].type === tail[0].type;
    if (continued) assert.deepEqual(rest.events, tail);
    else assert.ok(rest.events.some((e) => e.type === "MESSAGES_SNAPSHOT"), "neither the rest nor snapshots came");
  }
});

test("a reader of an ended run gets snapshots and the ending", async () => {
  const body = input();
  const whole = legal(await post(url, body), body);
  const { events, problems } = read((await rejoin(body)).body, SSE);
  assert.deepEqual(problems, []);
  assert.equal(events[0].type, "RUN_STARTED");
  assert.ok(events.some((e) => e.type === "MESSAGES_SNAPSHOT"));
  assert.deepEqual(events.at(-1), whole.events.at(-1));
});

test("an unknown run is not found", async () => {
  refused(await rejoin({ runId: "nobody", threadId: "nothing" }), 404);
});

test("a run that has ended cannot be cancelled, an unknown one is not found", async () => {
  const body = input();
  legal(await post(url, body), body);
  const cancel = (runId) => post(`${demo.url}/runs/${runId}/cancel`, {});
  assert.ok([200, 202, 204, 409].includes((await cancel(body.runId)).status));
  refused(await cancel("nobody"), 404);
});
