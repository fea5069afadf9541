// One harmless input in many variants, and what its answers must be.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { SSE, mediaType, request } from "./http.mjs";
import { faults } from "./rules.mjs";
import { read } from "./streams.mjs";

/** A run input for a new thread, with some members replaced. */
export function input(members = {}) {
  return {
    threadId: `thread-${randomUUID()}`,
    runId: `run-${randomUUID()}`,
    state: {},
    messages: [{ id: randomUUID(), role: "user", content: "Hello" }],
    tools: [],
    context: [],
    forwardedProps: {},
    protocolVersion: "1.0",
    ...members,
  };
}

/** Posts a body: an object as JSON, text and bytes as they are. */
export function post(url, body, { headers = {}, ...options } = {}) {
  const raw = typeof body === "string" || Buffer.isBuffer(body);
  return request(url, {
    headers: { "content-type": "application/json", accept: SSE, ...headers },
    body: raw ? body : JSON.stringify(body),
    ...options,
  });
}

/** Asserts that an answer to `body` is a whole legal run; returns it as `faults` takes it. */
export function legal(answer, body) {
  assert.ifError(answer.error);
  const type = mediaType(answer.headers["content-type"]);
  const run = { ...answer, type, request: body, ...(answer.status === 200 ? read(answer.body, type) : {}) };
  assert.deepEqual(faults(run), []);
  return run;
}

/** Asserts that an answer refuses the input before any stream, in the one shape that errors have. */
export function refused(answer, ...statuses) {
  const text = answer.body.toString();
  assert.ifError(answer.error);
  assert.ok(statuses.includes(answer.status), `status ${answer.status}, want ${statuses.join(" or ")}: ${text.slice(0, 300)}`);
  assert.equal(mediaType(answer.headers["content-type"]), "application/json");
  const { error } = JSON.parse(text);
  assert.match(error?.code, /^[a-z_]+$/, text);
  assert.ok(typeof error.message === "string" && error.message.length > 0, text);
  assert.doesNotMatch(text, /panicked|\.rs:\d|RUST_BACKTRACE/);
  return error;
}

/** Asserts that the server still serves a run. */
export async function alive(url) {
  const body = input();
  legal(await post(url, body), body);
}
