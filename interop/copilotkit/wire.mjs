// CopilotKit's runtime wire, called as its browser library calls it. Every stream is held to what
// @ag-ui/client 0.0.59 takes, which is the version that CopilotKit uses.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { verifyEvents } from "@ag-ui/client";
import { EventSchemas } from "@ag-ui/core";
import { from, lastValueFrom, toArray } from "rxjs";

/** The body of a run, a connect or, in part, anything else. */
export const input = (threadId, over = {}) => ({
  threadId,
  runId: randomUUID(),
  state: {},
  messages: [],
  tools: [],
  context: [],
  forwardedProps: {},
  ...over,
});

export const user = (content) => ({ id: randomUUID(), role: "user", content });

/** A runtime at one path per call. */
export class Runtime {
  constructor(url, token) {
    this.url = `${url}/copilotkit`;
    this.headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  fetch(path, method = "GET", body) {
    const headers = { ...this.headers, ...(body !== undefined && { "content-type": "application/json" }) };
    return fetch(this.url + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  }

  /** A call that is answered with JSON, or with nothing. */
  async call(path, method, body) {
    const response = await this.fetch(path, method, body);
    const text = await response.text();
    return { status: response.status, ...(text && { body: JSON.parse(text) }) };
  }

  info = () => this.call("/info");
  run = (body, agent = "interop") => this.fetch(`/agent/${agent}/run`, "POST", body);
  connect = (body, agent = "interop") => this.fetch(`/agent/${agent}/connect`, "POST", body);
  stop = (threadId, body) => this.call(`/agent/interop/stop/${encodeURIComponent(threadId)}`, "POST", body);
  threads = (query = "") => this.call(`/threads?agentId=interop${query}`);
  thread = (id, part, method, body) => this.call(`/threads/${encodeURIComponent(id)}${part ? `/${part}` : ""}`, method, body);
}

/** The same at a single endpoint: each call is wrapped up in a body. */
export class SingleRuntime extends Runtime {
  fetch(path, method = "GET", body) {
    const [, agentId, verb, threadId] = /^\/agent\/([^/]+)\/(run|connect|stop)(?:\/(.+))?$/.exec(path) ?? [];
    const call =
      path === "/info" ? { method: "info" }
      : verb ? { method: `agent/${verb}`, params: { agentId, ...(threadId && { threadId: decodeURIComponent(threadId) }) }, body }
      : { method: "resource/request", params: { path, httpMethod: method }, body };
    return super.fetch("", "POST", call);
  }
}

/** The events of a stream to its end; fails where they are not legal. */
export async function read(response) {
  const seen = [];
  for await (const event of follow(response)) seen.push(event);
  return legal(seen);
}

/** The events of a stream as they come. */
export async function* follow(response) {
  assert.equal(response.status, 200, response.status === 200 ? "" : await response.text());
  assert.match(response.headers.get("content-type"), /^text\/event-stream/);
  let rest = "";
  for await (const piece of response.body.pipeThrough(new TextDecoderStream("utf-8", { fatal: true }))) {
    const frames = (rest + piece).split("\n\n");
    rest = frames.pop();
    for (const frame of frames) {
      const data = frame.split("\n").filter((line) => line.startsWith("data: ")).map((line) => line.slice(6)).join("\n");
      if (data) yield JSON.parse(data);
    }
  }
  assert.equal(rest, "", "the stream ends within a frame");
}

/** One run in the order that the client allows, each event in the shape that it knows. */
export async function legal(events) {
  const parsed = events.map((event) => EventSchemas.parse(event));
  const verified = await lastValueFrom(verifyEvents(false)(from(parsed)).pipe(toArray()));
  assert.equal(verified.length, events.length);
  assert.equal(events[0].type, "RUN_STARTED");
  assert.match(events.at(-1).type, /^RUN_(FINISHED|ERROR)$/);
  return events;
}

export const types = (events) => events.map((event) => event.type);
export const last = (events, type) => events.findLast((event) => event.type === type);
export const text = (events) => events.filter((event) => event.type === "TEXT_MESSAGE_CONTENT").map((event) => event.delta).join("");
/** What a stream leaves open. */
export const interrupts = (events) => last(events, "RUN_FINISHED")?.outcome?.interrupts ?? [];
