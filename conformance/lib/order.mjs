// Order of a run's events: what opens is closed, what is named is known, what is patched exists.
import patches from "fast-json-patch";

const PAIRS = {
  TEXT_MESSAGE: { key: "messageId", inner: ["TEXT_MESSAGE_CONTENT"] },
  TOOL_CALL: { key: "toolCallId", inner: ["TOOL_CALL_ARGS"] },
  REASONING_MESSAGE: { key: "messageId", inner: ["REASONING_MESSAGE_CONTENT"] },
};

/**
 * Reads a run's events on top of what the client held (`before`: `{ messages, state }`). The reading has
 * `found` (what is wrong, as `rule: event N TYPE: why`), the `state` that the events lead to, the `calls`
 * and `results` by id, and the event types `seen`.
 */
export function follow(events, before) {
  const reading = {
    state: structuredClone(before.state),
    found: [],
    open: new Map(),
    closed: new Set(),
    steps: new Set(),
    roles: new Map(before.messages.map((m) => [m.id, m.role])),
    calls: new Map(before.messages.flatMap((m) => (m.toolCalls ?? []).map((c) => [c.id, { name: c.function.name, old: true }]))),
    results: new Set(before.messages.filter((m) => m.role === "tool").map((m) => m.toolCallId)),
    activities: new Set(before.messages.filter((m) => m.role === "activity").map((m) => m.id)),
    carriers: new Set(),
    seen: new Set(),
  };
  events.forEach((event, index) => {
    const fault = (rule, why) => reading.found.push(`${rule}: event ${index} ${event.type}: ${why}`);
    pairing(reading, event, fault);
    HANDLERS[event.type]?.(reading, event, fault);
    reading.seen.add(event.type);
  });
  return reading;
}

function pairing({ open, closed, found, seen }, event, fault) {
  if (seen.has("RUN_FINISHED") || seen.has("RUN_ERROR")) fault("after-the-end", "the run has ended");
  for (const [family, { key, inner }] of Object.entries(PAIRS)) {
    const id = `${family} ${event[key]}`;
    if (event.type === `${family}_START`) {
      if (open.has(id)) fault("opened-twice", id);
      if (closed.has(id)) fault("reopened", id);
      open.set(id, event);
    } else if (event.type === `${family}_END`) {
      if (!open.delete(id)) fault("not-open", id);
      closed.add(id);
    } else if (inner.includes(event.type) && !open.has(id)) fault("not-open", id);
  }
  if (event.type === "RUN_FINISHED" && open.size > 0) fault("left-open", [...open.keys()].join(", "));
}

/** A message id names one message of one role for the life of the thread. */
function name(reading, id, role, fault) {
  const known = reading.roles.get(id);
  if (known !== undefined && known !== role) fault("message-id", `${id} already names a ${known} message`);
  reading.roles.set(id, role);
}

/** A message is streamed once; only the text of a message that already carries calls may come later. */
function fresh(reading, id, fault) {
  if (reading.roles.has(id) && !reading.carriers.has(id)) fault("message-id", `${id} is already used`);
}

const HANDLERS = {
  TEXT_MESSAGE_START(reading, event, fault) {
    fresh(reading, event.messageId, fault);
    name(reading, event.messageId, event.role ?? "assistant", fault);
  },
  TEXT_MESSAGE_CONTENT(_, event, fault) {
    if (event.delta === "") fault("empty-delta", "0.x clients refuse an empty delta");
  },
  REASONING_MESSAGE_START(reading, event, fault) {
    fresh(reading, event.messageId, fault);
    name(reading, event.messageId, "reasoning", fault);
  },
  TOOL_CALL_START(reading, event, fault) {
    if (reading.calls.has(event.toolCallId)) fault("tool-call-id", `${event.toolCallId} is already used`);
    reading.calls.set(event.toolCallId, { name: event.toolCallName, text: "" });
    if (event.parentMessageId !== undefined) {
      name(reading, event.parentMessageId, "assistant", fault);
      reading.carriers.add(event.parentMessageId);
    }
  },
  TOOL_CALL_ARGS(reading, event) {
    const call = reading.calls.get(event.toolCallId);
    if (call?.text !== undefined) call.text += event.delta;
  },
  TOOL_CALL_END(reading, event, fault) {
    const call = reading.calls.get(event.toolCallId);
    try { JSON.parse(call?.text || "{}"); } catch { fault("arguments", `not JSON: ${call.text.slice(0, 80)}`); }
  },
  TOOL_CALL_RESULT(reading, event, fault) {
    if (!reading.calls.has(event.toolCallId)) fault("result", `nobody made the call ${event.toolCallId}`);
    if (reading.open.has(`TOOL_CALL ${event.toolCallId}`)) fault("result", `the call ${event.toolCallId} is still open`);
    if (reading.results.has(event.toolCallId)) fault("result", `the call ${event.toolCallId} is already answered`);
    if (reading.roles.has(event.messageId)) fault("message-id", `${event.messageId} is already used`);
    reading.results.add(event.toolCallId);
    name(reading, event.messageId, "tool", fault);
  },
  STEP_STARTED({ steps }, { stepName }, fault) {
    if (steps.has(stepName)) fault("step", `${stepName} is already open`);
    steps.add(stepName);
  },
  STEP_FINISHED({ steps }, { stepName }, fault) {
    if (!steps.delete(stepName)) fault("step", `${stepName} is not open`);
  },
  STATE_SNAPSHOT(reading, event) {
    reading.state = structuredClone(event.snapshot);
  },
  STATE_DELTA(reading, event, fault) {
    try {
      reading.state = patches.applyPatch(structuredClone(reading.state), structuredClone(event.delta), true).newDocument;
    } catch (error) {
      fault("patch", `does not apply: ${error.name} ${JSON.stringify(event.delta).slice(0, 200)}`);
    }
  },
  MESSAGES_SNAPSHOT(reading, event, fault) {
    const ids = event.messages.map((m) => m.id);
    if (new Set(ids).size !== ids.length) fault("snapshot", `message ids repeat: ${ids}`);
    for (const id of reading.closed) {
      const [family, message] = id.split(" ");
      if (family === "TEXT_MESSAGE" && !ids.includes(message)) fault("snapshot", `${message} was streamed and is missing`);
    }
    for (const m of event.messages) {
      name(reading, m.id, m.role, fault);
      if (m.role === "activity") reading.activities.add(m.id);
      for (const call of m.toolCalls ?? []) if (!reading.calls.has(call.id)) reading.calls.set(call.id, { name: call.function.name, old: true });
    }
  },
  ACTIVITY_SNAPSHOT(reading, event, fault) {
    name(reading, event.messageId, "activity", fault);
    reading.activities.add(event.messageId);
  },
  ACTIVITY_DELTA({ activities }, event, fault) {
    if (!activities.has(event.messageId)) fault("activity", `no snapshot of ${event.messageId} came before`);
  },
  RUN_FINISHED({ steps }, _, fault) {
    if (steps.size > 0) fault("step", `left open: ${[...steps]}`);
  },
};
