// Streams written by hand, for what no agent of the demo says: each is the middle of a run.

const call = { id: "c9", type: "function", function: { name: "draw", arguments: '{"what":"a cat"}' } };

export const WRITTEN = {
  "reasoning, visible and encrypted": [
    { type: "REASONING_START", messageId: "r1" },
    { type: "REASONING_MESSAGE_START", messageId: "r1", role: "reasoning" },
    { type: "REASONING_MESSAGE_CONTENT", messageId: "r1", delta: "let me " },
    { type: "REASONING_MESSAGE_CONTENT", messageId: "r1", delta: "see" },
    { type: "REASONING_MESSAGE_END", messageId: "r1" },
    { type: "REASONING_ENCRYPTED_VALUE", subtype: "message", entityId: "r1", encryptedValue: "b3BhcXVl" },
    { type: "REASONING_END", messageId: "r1" },
    { type: "TEXT_MESSAGE_START", messageId: "m1", role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: "42" },
    { type: "TEXT_MESSAGE_END", messageId: "m1" },
  ],
  "an encrypted value of a call": [
    { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "find", parentMessageId: "m1" },
    { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: "{}" },
    { type: "TOOL_CALL_END", toolCallId: "c1" },
    { type: "REASONING_ENCRYPTED_VALUE", subtype: "tool-call", entityId: "c1", encryptedValue: "c2VhbA==" },
  ],
  "chunks of all kinds": [
    { type: "TEXT_MESSAGE_CHUNK", messageId: "k1", delta: "Hel" },
    { type: "TEXT_MESSAGE_CHUNK", delta: "lo" },
    { type: "TOOL_CALL_CHUNK", toolCallId: "k2", toolCallName: "search", parentMessageId: "k1", delta: '{"q":' },
    { type: "TOOL_CALL_CHUNK", delta: '"x"}' },
    { type: "TOOL_CALL_RESULT", messageId: "k3", toolCallId: "k2", content: "r" },
    { type: "REASONING_MESSAGE_CHUNK", messageId: "k4", delta: "hm" },
    { type: "TEXT_MESSAGE_CHUNK", messageId: "k5", delta: "done" },
  ],
  "an activity that grows and is replaced": [
    { type: "ACTIVITY_SNAPSHOT", messageId: "a1", activityType: "search", content: { found: 0, hits: [] } },
    { type: "ACTIVITY_DELTA", messageId: "a1", activityType: "search", patch: [{ op: "add", path: "/hits/-", value: "x" }, { op: "replace", path: "/found", value: 1 }] },
    { type: "ACTIVITY_SNAPSHOT", messageId: "a1", activityType: "search", content: { found: 9 }, replace: false },
    { type: "ACTIVITY_SNAPSHOT", messageId: "a2", activityType: "plan", content: { steps: 1 } },
    { type: "ACTIVITY_SNAPSHOT", messageId: "a2", activityType: "plan", content: { steps: 2 }, replace: true },
  ],
  "subagents that talk": [
    { type: "SUBAGENT_STARTED", subagentRunId: "s1", name: "researcher", description: "d" },
    { type: "TEXT_MESSAGE_START", messageId: "m1", role: "assistant", subagentRunId: "s1" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: "one", subagentRunId: "s1" },
    { type: "TEXT_MESSAGE_END", messageId: "m1", subagentRunId: "s1" },
    { type: "SUBAGENT_FINISHED", subagentRunId: "s1", result: { ok: true }, outcome: { type: "success" } },
  ],
  "parallel calls whose arguments interleave": [
    { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "f", parentMessageId: "m1" },
    { type: "TOOL_CALL_START", toolCallId: "c2", toolCallName: "g", parentMessageId: "m1" },
    { type: "TOOL_CALL_ARGS", toolCallId: "c2", delta: '{"b":' },
    { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: "{}" },
    { type: "TOOL_CALL_ARGS", toolCallId: "c2", delta: "2}" },
    { type: "TOOL_CALL_END", toolCallId: "c2" },
    { type: "TOOL_CALL_END", toolCallId: "c1" },
    { type: "TOOL_CALL_RESULT", messageId: "t2", toolCallId: "c2", content: "two" },
    { type: "TOOL_CALL_RESULT", messageId: "t1", toolCallId: "c1", content: "one" },
  ],
  "a call in the message that has the text": [
    { type: "TEXT_MESSAGE_START", messageId: "m1", role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: "I look" },
    { type: "TEXT_MESSAGE_END", messageId: "m1" },
    { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "f", parentMessageId: "m1" },
    { type: "TOOL_CALL_END", toolCallId: "c1" },
  ],
  "a snapshot with content parts and a call": [
    {
      type: "MESSAGES_SNAPSHOT",
      messages: [
        { id: "u1", role: "user", content: [{ type: "text", text: "draw" }] },
        { id: "m1", role: "assistant", toolCalls: [call] },
        { id: "t1", role: "tool", toolCallId: "c9", content: [{ type: "text", text: "made" }, { type: "image", source: { type: "url", value: "https://example.com/h.png" } }] },
      ],
    },
    { type: "TEXT_MESSAGE_START", messageId: "m2", role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "m2", delta: "There." },
    { type: "TEXT_MESSAGE_END", messageId: "m2" },
  ],
  "patches of every operation": [
    { type: "STATE_SNAPSHOT", snapshot: { list: [1, 2, 3], "a/b": { "c~d": 1 } } },
    { type: "STATE_DELTA", delta: [{ op: "add", path: "/list/1", value: "new" }, { op: "remove", path: "/list/0" }] },
    { type: "STATE_DELTA", delta: [{ op: "test", path: "/a~1b/c~0d", value: 1 }, { op: "replace", path: "/a~1b/c~0d", value: null }] },
    { type: "STATE_DELTA", delta: [{ op: "copy", from: "/list", path: "/copied" }, { op: "move", from: "/a~1b", path: "/moved" }] },
  ],
  "steps and notes beside a text": [
    { type: "STEP_STARTED", stepName: "s" },
    { type: "CUSTOM", name: "com.example.note", value: { a: null } },
    { type: "RAW", event: { anything: [1, null] }, source: "test" },
    { type: "TEXT_MESSAGE_START", messageId: "m1", role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: "Grüße 🧪" },
    { type: "TEXT_MESSAGE_END", messageId: "m1" },
    { type: "STEP_FINISHED", stepName: "s" },
  ],
};

/** The whole body of a run around these events. */
export function bodyOf(events, { threadId, runId }) {
  const whole = [
    { type: "RUN_STARTED", threadId, runId, protocolVersion: "1.0" },
    ...events,
    { type: "RUN_FINISHED", threadId, runId, outcome: { type: "success" } },
  ];
  return whole.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}
