// The rules themselves: a legal run passes, and each way to break it is noticed by the rule meant for it.
import assert from "node:assert/strict";
import test from "node:test";
import { PROTO, SSE } from "../lib/http.mjs";
import { faults } from "../lib/rules.mjs";
import { read } from "../lib/streams.mjs";

const LEGAL = [
  { type: "RUN_STARTED", threadId: "t", runId: "r", protocolVersion: "1.0" },
  { type: "STATE_SNAPSHOT", snapshot: { list: [] } },
  { type: "STEP_STARTED", stepName: "s" },
  { type: "TEXT_MESSAGE_START", messageId: "m1", role: "assistant" },
  { type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: "Hi" },
  { type: "TEXT_MESSAGE_END", messageId: "m1" },
  { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "f", parentMessageId: "m1" },
  { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: "{}" },
  { type: "TOOL_CALL_END", toolCallId: "c1" },
  { type: "TOOL_CALL_RESULT", messageId: "m2", toolCallId: "c1", content: "ok", role: "tool" },
  { type: "STATE_DELTA", delta: [{ op: "add", path: "/list/-", value: 1 }] },
  { type: "STEP_FINISHED", stepName: "s" },
  { type: "MESSAGES_SNAPSHOT", messages: [{ id: "u1", role: "user", content: "Hello" }, { id: "m1", role: "assistant", content: "Hi" }] },
  { type: "RUN_FINISHED", threadId: "t", runId: "r", outcome: { type: "success" } },
];

const body = (events) => Buffer.from(events.map((event, i) => `id: r:${i + 1}\ndata: ${JSON.stringify(event)}\n\n`).join(""));

function recorded(bytes, { request = {}, headers = {}, ...members } = {}) {
  return {
    status: 200,
    type: SSE,
    headers: { "content-type": SSE, "cache-control": "no-cache, no-transform", ...headers },
    request: { threadId: "t", runId: "r", protocolVersion: "1.0", state: {}, messages: [{ id: "u1", role: "user", content: "Hello" }], ...request },
    ...read(bytes, SSE),
    ...members,
  };
}

const without = (type) => LEGAL.filter((e) => e.type !== type);
const changed = (type, members) => LEGAL.map((e) => (e.type === type ? { ...e, ...members } : e));
const before = (type, ...more) => LEGAL.flatMap((e) => (e.type === type ? [...more, e] : [e]));
const ending = (outcome) => changed("RUN_FINISHED", { outcome });

const BROKEN = {
  "first": without("RUN_STARTED"),
  "last": without("RUN_FINISHED"),
  "started": before("RUN_FINISHED", LEGAL[0]),
  "run": changed("RUN_FINISHED", { runId: "other" }),
  "thread": changed("RUN_STARTED", { threadId: "other" }),
  "version": changed("RUN_STARTED", { protocolVersion: undefined }),
  "after-the-end": [...LEGAL, { type: "CUSTOM", name: "x.y", value: 1 }],
  "left-open": without("TEXT_MESSAGE_END"),
  "not-open": without("TEXT_MESSAGE_START"),
  "reopened": before("STEP_FINISHED", ...LEGAL.slice(3, 6)),
  "opened-twice": before("TEXT_MESSAGE_CONTENT", LEGAL[3]),
  "event-type": before("STATE_DELTA", { type: "THINKING_START" }),
  "unknown-member": changed("TEXT_MESSAGE_START", { color: "red" }),
  "null-optional": changed("RUN_FINISHED", { result: null }),
  "schema": changed("TEXT_MESSAGE_CONTENT", { delta: 7 }),
  "empty-delta": changed("TEXT_MESSAGE_CONTENT", { delta: "" }),
  "patch": changed("STATE_DELTA", { delta: [{ op: "replace", path: "/missing/x", value: 1 }] }),
  "arguments": changed("TOOL_CALL_ARGS", { delta: "{" }),
  "result": changed("TOOL_CALL_RESULT", { toolCallId: "ghost" }),
  "message-id": changed("TOOL_CALL_RESULT", { messageId: "u1" }),
  "tool-call-id": before("STATE_DELTA", LEGAL[6], LEGAL[8]),
  "step": without("STEP_FINISHED"),
  "snapshot": changed("MESSAGES_SNAPSHOT", { messages: [] }),
  "activity": before("STATE_DELTA", { type: "ACTIVITY_DELTA", messageId: "a", activityType: "x", patch: [] }),
  "pending": ending({ type: "success", pendingToolCallIds: ["ghost"] }),
  "interrupt": ending({ type: "interrupt", interrupts: [] }),
  "usage": changed("RUN_FINISHED", { usage: [{ inputTokens: 1, outputTokens: 1, totalTokens: 3 }] }),
};

test("a legal run breaks no rule", () => {
  assert.deepEqual(faults(recorded(body(LEGAL))), []);
});

for (const [rule, events] of Object.entries(BROKEN)) {
  test(`the rule "${rule}" notices its fault`, () => {
    const found = faults(recorded(body(events)));
    assert.ok(found.some((fault) => fault.startsWith(`${rule}: `)), `found only ${JSON.stringify(found, null, 1)}`);
  });
}

const text = body(LEGAL).toString();
const FRAMING = {
  "CR line ends": text.replaceAll("\n", "\r\n"),
  "a cut frame": text.slice(0, -5),
  "two data lines": text.replace('"TEXT_MESSAGE_END",', '"TEXT_MESSAGE_END",\ndata: '),
  "a frame without JSON": text.replace("data: {", "data: "),
  "an unknown field": text.replace("id: ", "number: "),
  "a byte order mark": `\ufeff${text}`,
};

for (const [what, bytes] of Object.entries(FRAMING)) {
  test(`framing with ${what} is noticed`, () => {
    const found = faults(recorded(Buffer.from(bytes)));
    assert.ok(found.some((fault) => fault.startsWith("framing: ")), JSON.stringify(found));
  });
}

const AROUND = {
  "event-id": [body(LEGAL).toString().replace("id: r:3", "id: r:1")],
  "cache-control": [body(LEGAL), { headers: { "cache-control": "public" } }],
  "content-encoding": [body(LEGAL), { headers: { "content-encoding": "gzip" } }],
  "content-type": [body(LEGAL), { type: "text/plain" }],
  "client-warned": [body(LEGAL), { warnings: ["a warning"] }],
  "client-refused": [body(LEGAL), { error: new Error("no") }],
  "state": [body(LEGAL), { state: {} }],
  "older-peer": [body(ending({ type: "cancelled" })), { request: { protocolVersion: undefined } }],
};

for (const [rule, [bytes, members]] of Object.entries(AROUND)) {
  test(`the rule "${rule}" notices its fault`, () => {
    const found = faults(recorded(Buffer.from(bytes), members));
    assert.ok(found.some((fault) => fault.startsWith(`${rule}: `)), JSON.stringify(found));
  });
}

test("a protobuf body that ends inside a frame is noticed", () => {
  const { problems } = read(Buffer.from([0, 0, 0, 9, 1, 2]), PROTO);
  assert.equal(problems.length, 1);
});
