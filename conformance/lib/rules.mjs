// Is a run, as recorded by client.mjs, a legal AG-UI run? Judged on the raw events, without the client's help.
import { isDeepStrictEqual } from "node:util";
import { PROTO, SSE } from "./http.mjs";
import { follow } from "./order.mjs";
import { shapeFaults } from "./shape.mjs";

/**
 * All rules that `run` breaks, each as `rule: why`; empty for a legal run.
 * `run` has `status`, `headers`, `type`, `events`, `ids`, `problems`, `request`, `before`, and, when a
 * client read it, `error`, `warnings` and `state`.
 */
export function faults(run) {
  if (run.status !== 200) return [`status: a run that starts answers 200, got ${run.status}: ${run.body?.toString().slice(0, 300)}`];
  const { events } = run;
  const before = run.before ?? { messages: run.request.messages ?? [], state: run.request.state ?? {} };
  const reading = follow(events, { messages: before.messages.filter((m) => typeof m?.id === "string"), state: before.state });
  return [
    ...run.problems.map((problem) => `framing: ${problem}`),
    ...headerFaults(run),
    ...eventIdFaults(run),
    ...shapeFaults(events),
    ...reading.found,
    ...lifecycleFaults(run),
    ...endingFaults(run, reading),
    ...(run.request.protocolVersion === undefined ? olderPeerFaults(events) : []),
    ...clientFaults(run, reading),
  ];
}

function headerFaults({ type, headers }) {
  const found = [];
  if (type !== SSE && type !== PROTO) found.push(`content-type: ${headers["content-type"]}`);
  if (type === PROTO && headers["content-type"] !== PROTO) found.push(`content-type: exactly ${PROTO}, got ${headers["content-type"]}`);
  if (type === SSE && !/no-cache/.test(headers["cache-control"] ?? "")) found.push(`cache-control: ${headers["cache-control"]}`);
  if (headers["content-encoding"]) found.push(`content-encoding: a stream is not compressed, got ${headers["content-encoding"]}`);
  return found;
}

/** Every SSE event has a position to continue from: one run, rising numbers; what only restates a run has 0. */
function eventIdFaults({ type, ids }) {
  if (type !== SSE) return [];
  const found = [];
  let last = { run: undefined, at: -1 };
  ids.forEach((id, index) => {
    const [, run, at] = /^(.+):(\d+)$/.exec(id ?? "") ?? [];
    if (run === undefined) found.push(`event-id: event ${index} has id ${id}`);
    else if (last.run !== undefined && last.run !== run) found.push(`event-id: event ${index} is of run ${run}, the one before of ${last.run}`);
    else if (Number(at) <= last.at && !(Number(at) === 0 && last.at <= 0)) found.push(`event-id: event ${index} has position ${at} after ${last.at}`);
    last = { run, at: Number(at) };
  });
  return found;
}

function lifecycleFaults({ events, request }) {
  const [first, last] = [events.at(0), events.at(-1)];
  if (!first) return ["empty: the stream carried no event"];
  const found = [];
  if (first.type !== "RUN_STARTED" && first.type !== "RUN_ERROR") found.push(`first: the stream opens with ${first.type}`);
  if (last.type !== "RUN_FINISHED" && last.type !== "RUN_ERROR") found.push(`last: the stream ends with ${last.type}`);
  if (events.filter((e) => e.type === "RUN_STARTED").length > 1) found.push("started: RUN_STARTED came more than once");
  for (const event of events.filter((e) => e.type === "RUN_STARTED" || e.type === "RUN_FINISHED")) {
    if (event.threadId !== request.threadId) found.push(`thread: ${event.type} is of thread ${event.threadId}`);
    if (event.runId !== request.runId) found.push(`run: ${event.type} is of run ${event.runId}`);
  }
  if (first.type === "RUN_STARTED" && request.protocolVersion !== undefined && !/^1\.\d+$/.test(first.protocolVersion ?? "")) {
    found.push(`version: RUN_STARTED declares ${first.protocolVersion}`);
  }
  return found;
}

function endingFaults({ events, request }, { calls, results, seen }) {
  const ending = events.at(-1);
  if (ending?.type !== "RUN_FINISHED") return [];
  const outcome = ending.outcome ?? { type: "success" };
  const open = [...calls].filter(([id, call]) => call.text !== undefined && !results.has(id)).map(([id]) => id);
  if (outcome.type === "interrupt") return interruptFaults(outcome, calls, seen);
  const found = [];
  const named = outcome.pendingToolCallIds;
  if (named !== undefined && !isDeepStrictEqual(named, open)) found.push(`pending: named ${JSON.stringify(named)}, open are ${JSON.stringify(open)}`);
  if (named === undefined && open.length > 0 && request.protocolVersion !== undefined) found.push(`pending: ${open} left open and not named`);
  for (const usage of ending.usage ?? []) {
    const { inputTokens, outputTokens, totalTokens } = usage;
    if (totalTokens !== undefined && inputTokens + outputTokens !== totalTokens) found.push(`usage: ${JSON.stringify(usage)}`);
  }
  return found;
}

function interruptFaults({ interrupts = [] }, calls, seen) {
  const found = [];
  const ids = interrupts.map((x) => x.id);
  if (ids.length === 0 || new Set(ids).size !== ids.length) found.push(`interrupt: ids are ${JSON.stringify(ids)}`);
  for (const needed of ["MESSAGES_SNAPSHOT", "STATE_SNAPSHOT"]) if (!seen.has(needed)) found.push(`interrupt: no ${needed} before it`);
  for (const { id, toolCallId, expiresAt } of interrupts) {
    if (toolCallId !== undefined && !calls.has(toolCallId)) found.push(`interrupt: ${id} names the unknown call ${toolCallId}`);
    if (expiresAt !== undefined && Number.isNaN(Date.parse(expiresAt))) found.push(`interrupt: ${id} expires at ${expiresAt}`);
  }
  return found;
}

/** What a 0.x client refuses or fails on must not be sent to a peer that declared no version. */
function olderPeerFaults(events) {
  const unreadable = {
    SUBAGENT_STARTED: () => "a subagent event",
    SUBAGENT_FINISHED: () => "a subagent event",
    SUBAGENT_ERROR: () => "a subagent event",
    RUN_STARTED: (e) => e.input && !(e.input.tools && e.input.context) && "a partial input echo",
    RUN_FINISHED: (e) => (e.outcome?.type === "cancelled" && "the cancelled outcome") || (e.outcome?.pendingToolCallIds && "pendingToolCallIds"),
    TOOL_CALL_RESULT: (e) => Array.isArray(e.content) && "content parts in a result",
    MESSAGES_SNAPSHOT: (e) => e.messages.some((m) => m.role === "tool" && Array.isArray(m.content)) && "content parts in a tool message",
  };
  return events.flatMap((event) => {
    const what = unreadable[event.type]?.(event);
    return what ? [`older-peer: ${event.type} carries ${what}`] : [];
  });
}

function clientFaults({ error, warnings = [], state }, reading) {
  const found = warnings.map((warning) => `client-warned: ${warning.replace(/\s+/g, " ").slice(0, 300)}`);
  if (error) found.push(`client-refused: ${error.message}`);
  else if (state !== undefined && !isDeepStrictEqual(state, reading.state)) {
    found.push(`state: the client holds ${JSON.stringify(state)}, the events lead to ${JSON.stringify(reading.state)}`);
  }
  return found;
}
