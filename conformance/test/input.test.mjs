// Which inputs start a run, and which are refused before anything happens.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import test, { after, before } from "node:test";
import { alive, input, legal, post, refused } from "../lib/probe.mjs";
import { startDemo } from "../lib/server.mjs";

let demo, url;
before(async () => { demo = await startDemo(); url = `${demo.url}/agui`; });
after(() => demo.stop());

const say = (content, members = {}) => ({ id: randomUUID(), role: "user", content, ...members });
const image = { type: "image", source: { type: "url", value: "https://example.com/x.png", mimeType: "image/png" } };

const SERVED = {
  "unknown members at every level": () => input({
    futureMember: { a: 1 },
    messages: [say("Hello", { futureMember: [1] })],
    context: [{ description: "d", value: "v", weight: 3 }],
    tools: [{ name: "noop", description: "d", parameters: { type: "object" }, futureFlag: true }],
  }),
  "metadata with null inside": () => input({ messages: [say("Hello", { metadata: { "ag-ui": {}, x: null, y: [1, { z: true }] } })] }),
  "null for optional members": () => input({ parentRunId: null, state: null, forwardedProps: null, resume: null, tools: null, context: null }),
  "a nested state": () => input({ state: { note: { deep: [null, { nested: true }] } } }),
  "text in all scripts": () => input({ threadId: `スレッド-${randomUUID()}`, messages: [say("日本語 🧪 \u2028 é e\u0301")] }),
  "content parts of every kind": () => input({
    messages: [say([
      { type: "text", text: "Hello", id: "p1" },
      image,
      { type: "audio", source: { type: "data", value: "AAAA", mimeType: "audio/wav" } },
      { type: "video", source: image.source },
      { type: "document", source: { type: "file", value: "file-1", provider: "openai" }, metadata: { filename: "a.pdf" } },
    ])],
  }),
  "an unknown content part beside a known one": () => input({ messages: [say([{ type: "text", text: "Hello" }, { type: "hologram", beam: 1 }])] }),
  "an unknown role beside a user message": () => input({ messages: [{ id: "x1", role: "oracle", content: "?" }, say("Hello")] }),
  "the binary part of 0.x": () => input({ messages: [say([{ type: "text", text: "Hello" }, { type: "binary", mimeType: "image/png", data: "AAAA" }])] }),
  "a history of all roles": () => input({
    messages: [
      { id: "m1", role: "system", content: "s" },
      { id: "m2", role: "developer", content: "d", name: "dev" },
      say("first"),
      { id: "m4", role: "reasoning", content: "thinking", encryptedValue: "b64" },
      { id: "m5", role: "assistant", content: "calling", toolCalls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }] },
      { id: "m6", role: "tool", toolCallId: "c1", content: [{ type: "text", text: "r" }, image], error: "soft" },
      { id: "m7", role: "assistant", content: "done" },
      say("Hello"),
    ],
  }),
  "snake_case members": () => {
    const { threadId, runId, forwardedProps, protocolVersion, ...rest } = input();
    return { ...rest, thread_id: threadId, run_id: runId, forwarded_props: forwardedProps, protocol_version: protocolVersion };
  },
};

for (const [what, make] of Object.entries(SERVED)) {
  test(`served: ${what}`, async () => {
    const body = make();
    legal(await post(url, body), { threadId: body.thread_id, runId: body.run_id, protocolVersion: body.protocol_version, ...body, state: body.state ?? {} });
  });
}

test("served: tools, context, state and forwardedProps left out", async () => {
  const { tools, context, state, forwardedProps, ...body } = input();
  legal(await post(url, body), body);
});

test("served: the same message twice counts once", async () => {
  const message = say("Hello");
  const body = input({ messages: [message, message] });
  legal(await post(url, body), { ...body, messages: [message] });
});

const MALFORMED = {
  "broken JSON": '{"threadId": "t", ',
  "an empty body": "",
  "an array": "[]",
  "a string": '"x"',
  "null": "null",
  "text after the object": () => `${JSON.stringify(input())} trailing`,
  "invalid UTF-8": Buffer.concat([Buffer.from('{"threadId":"'), Buffer.from([0xff, 0xfe, 0xc0]), Buffer.from('","runId":"r","messages":[]}')]),
  "nesting without end": () => `{"threadId":"t","runId":"r","messages":[],"state":${"[".repeat(20_000)}${"]".repeat(20_000)}}`,
};

for (const [what, body] of Object.entries(MALFORMED)) {
  test(`refused: ${what}`, async () => {
    refused(await post(url, typeof body === "function" ? body() : body), 400);
  });
}

const call = { id: "c", type: "function", function: { name: "f", arguments: {} } };
const WRONG = {
  threadId: { "is missing": undefined, "is a number": 7, "is empty": "", "holds a control character": "a\u0000b", "is too long": "x".repeat(257) },
  runId: { "is missing": undefined, "is null": null },
  messages: {
    "is missing": undefined,
    "is an object": {},
    "holds a string": ["hi"],
    "has an element without id": [{ role: "user", content: "x" }],
    "has a numeric id": [{ id: 1, role: "user", content: "x" }],
    "has a user message without content": [{ id: "1", role: "user" }],
    "has a tool message without toolCallId": [{ id: "1", role: "tool", content: "x" }],
    "has a call whose arguments are an object": [{ id: "1", role: "assistant", toolCalls: [call] }],
    "has one id for two contents": [say("a", { id: "1" }), say("b", { id: "1" })],
  },
  tools: { "is a string": "x", "has a tool without name": [{ description: "d" }] },
  context: { "has a value that is a number": [{ description: "d", value: 3 }] },
  resume: { "has an unknown status": [{ interruptId: "i", status: "maybe" }] },
};

for (const [member, values] of Object.entries(WRONG)) {
  for (const [what, value] of Object.entries(values)) {
    test(`refused: ${member} ${what}`, async () => {
      const error = refused(await post(url, input({ [member]: value })), 400, 422);
      assert.match(`${error.field}`, new RegExp(`^${member}\\b`), `the error does not name the member: ${JSON.stringify(error)}`);
    });
  }
}

test("refused: one member in both spellings with different values", async () => {
  refused(await post(url, input({ thread_id: "another" })), 400);
});

for (const key of ["_private", "app:theme", "user:name", "temp:x"]) {
  test(`refused: the reserved state key ${key}`, async () => {
    refused(await post(url, input({ state: { [key]: 1 } })), 400);
  });
}

test("refused: a resume entry that nobody asked for", async () => {
  refused(await post(url, input({ resume: [{ interruptId: "nobody-asked", status: "resolved", payload: { approved: true } }] })), 409);
  await alive(url);
});

test("refused: a tool message for a call that the thread never made", async () => {
  const body = input({ messages: [say("Hello"), { id: "t1", role: "tool", toolCallId: "never", content: "x" }] });
  const error = refused(await post(url, body), 400, 409, 422);
  assert.match(error.message, /thread/i, "the message does not name the likely cause");
});
