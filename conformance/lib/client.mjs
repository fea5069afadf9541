// The official clients, made to keep the bytes they read and the warnings they print.
import { randomUUID } from "node:crypto";
import { HttpAgent } from "@ag-ui/client";
import { HttpAgent as HttpAgent0 } from "agui-client-0059";
import { PROTO, SSE, mediaType } from "./http.mjs";
import { read } from "./streams.mjs";

const RUN_LIMIT_MS = 60_000;

/** How a run can travel: media type asked for, and which client reads it. */
export const TRANSPORTS = {
  sse: { Agent: HttpAgent, accept: SSE, type: SSE },
  protobuf: { Agent: HttpAgent, accept: `${PROTO}, ${SSE}`, type: PROTO },
  "sse, client 0.0.59": { Agent: HttpAgent0, accept: SSE, type: SSE, legacy: true },
};

/** A client on its own thread. `fetch` may be replaced to play a recorded body. */
export function connect(url, transport = TRANSPORTS.sse, { messages = [], state = {}, threadId = randomUUID(), fetch: get = fetch } = {}) {
  const tape = { run: undefined };
  class Recorded extends transport.Agent {
    requestInit(input) {
      const init = super.requestInit(input);
      return { ...init, headers: { ...init.headers, Accept: transport.accept } };
    }
  }
  const agent = new Recorded({
    url,
    threadId,
    initialMessages: structuredClone(messages),
    initialState: structuredClone(state),
    fetch: (to, init) => record(tape.run, get, to, init),
  });
  return { agent, tape, transport };
}

async function record(run, get, to, init) {
  run.request = JSON.parse(init.body);
  const response = await get(to, init);
  run.status = response.status;
  run.headers = Object.fromEntries(response.headers);
  if (!response.body) return response;
  const [forClient, forTape] = response.body.tee();
  run.body = new Response(forTape).arrayBuffer().then(Buffer.from, () => Buffer.alloc(0));
  return new Response(forClient, { status: response.status, statusText: response.statusText, headers: response.headers });
}

/**
 * One run. Never throws for what the server did: the run tells `error` (what the client threw),
 * `events` (as read from the bytes), `problems` (of framing), `warnings`, and the client's
 * `messages` and `state` before and after.
 */
export async function run({ agent, tape }, parameters = {}) {
  const runId = parameters.runId ?? randomUUID();
  const made = { threadId: agent.threadId, runId, before: snapshot(agent), warnings: [] };
  tape.run = made;
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new Error("the run did not end in time")), RUN_LIMIT_MS);
  const restore = listen(made.warnings);
  try {
    await agent.runAgent({ ...parameters, runId, abortController: limit }, { onRunFailed: ({ error }) => { made.error ??= error; } });
  } catch (error) {
    made.error ??= error;
  } finally {
    restore();
    clearTimeout(timer);
  }
  Object.assign(made, snapshot(agent), { body: (await made.body) ?? Buffer.alloc(0) });
  made.type = mediaType(made.headers?.["content-type"]);
  return Object.assign(made, made.status === 200 ? read(made.body, made.type) : { events: [], ids: [], problems: [] });
}

const snapshot = (agent) => structuredClone({ messages: agent.messages, state: agent.state });

/** Collects what the client says on the console. Returns what puts the console back. */
function listen(warnings) {
  const kept = { warn: console.warn, error: console.error, debug: console.debug };
  console.warn = (...words) => warnings.push(words.map(String).join(" "));
  console.error = () => {};
  console.debug = () => {};
  return () => Object.assign(console, kept);
}

/** Tool calls of the history that no tool message answers. */
export function openCalls(messages) {
  const answered = new Set(messages.filter((m) => m.role === "tool").map((m) => m.toolCallId));
  return messages.flatMap((m) => (m.role === "assistant" ? (m.toolCalls ?? []) : [])).filter((call) => !answered.has(call.id));
}
