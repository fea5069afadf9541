// An agent server that says whatever a test wants, also what no honest server would say. It keeps
// threads like the real one: a request without messages opens a thread, and what is open is its outcome.
import { randomUUID } from 'node:crypto';
import http from 'node:http';

const json = (response, status, body) => {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(status === 204 ? undefined : JSON.stringify(body));
};
const read = async (request) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text === '' ? {} : JSON.parse(text);
};
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * `agents` maps names to `(turn) => steps`. A turn has `text` (what the person said last), `input` (the
 * whole request), `resume` and `thread`. A step is an event, a number of milliseconds to wait, `'cut'` to
 * drop the connection, or `'end'` to end the body without a terminal event.
 */
export async function fakeAgent({ agents, describe = () => ({}) }) {
  const threads = new Map();
  const requests = [];

  const thread = (id) => {
    if (!threads.has(id)) threads.set(id, { id, title: '', messages: [], state: undefined, open: [], at: new Date().toISOString() });
    return threads.get(id);
  };

  async function stream(response, input, steps, kept) {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    const send = (event) => response.write(typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`);
    send({ type: 'RUN_STARTED', threadId: input.threadId, runId: input.runId, protocolVersion: '1.0' });
    let isOver = false;
    for (const step of steps) {
      if (typeof step === 'number') await sleep(step);
      else if (step === 'cut') return response.destroy();
      else if (step === 'end') return response.end();
      else {
        const event = typeof step === 'object' && step.type === 'RUN_FINISHED' ? { threadId: input.threadId, runId: input.runId, ...step } : step;
        if (event.type === 'RUN_FINISHED') kept.open = event.outcome?.interrupts ?? [];
        if (event.type === 'MESSAGES_SNAPSHOT') kept.messages = event.messages;
        if (event.type === 'STATE_SNAPSHOT') kept.state = event.snapshot;
        isOver ||= event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR';
        send(event);
      }
    }
    if (!isOver) send({ type: 'RUN_FINISHED', threadId: input.threadId, runId: input.runId });
    response.end();
  }

  async function run(response, name, input) {
    const agent = agents[name];
    if (agent === undefined) return json(response, 404, { error: { code: 'not_found', message: 'there is no such agent' } });
    if (input.messages.length === 0 && !(input.resume?.length > 0)) {
      const kept = threads.get(input.threadId);
      if (kept === undefined) return stream(response, input, [], {});
      const outcome = kept.open.length > 0 ? { type: 'interrupt', interrupts: kept.open } : { type: 'success' };
      const snapshots = [{ type: 'MESSAGES_SNAPSHOT', messages: kept.messages }];
      if (kept.state !== undefined) snapshots.unshift({ type: 'STATE_SNAPSHOT', snapshot: kept.state });
      return stream(response, input, [...snapshots, { type: 'RUN_FINISHED', outcome }], kept);
    }
    const kept = thread(input.threadId);
    if (input.messages.length > 0) kept.messages = input.messages;
    const said = input.messages.findLast(({ role }) => role === 'user')?.content ?? '';
    kept.title ||= String(said).slice(0, 80);
    const answer = agent({ text: String(said), input, resume: input.resume, thread: kept });
    if (answer.status !== undefined) return json(response, answer.status, answer.body);
    return stream(response, input, answer, kept);
  }

  async function sessions(request, response, id) {
    if (id === undefined) {
      const list = [...threads.values()].map(({ id: name, title, at }) => ({ id: name, createdAt: at, updatedAt: at, metadata: { title } }));
      return json(response, 200, { sessions: list.reverse(), nextCursor: null });
    }
    const kept = threads.get(id);
    if (kept === undefined) return json(response, 404, { error: { code: 'not_found', message: 'there is no such session' } });
    if (request.method === 'DELETE') {
      threads.delete(id);
      return json(response, 204);
    }
    if (request.method === 'PATCH') {
      const body = await read(request);
      kept.title = body.title ?? kept.title;
      if (body.stateDelta !== undefined) kept.state = { ...kept.state, ...body.stateDelta };
    }
    return json(response, 200, { id, state: kept.state ?? {}, metadata: { title: kept.title } });
  }

  const server = http.createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://fake');
    const [, root, id, rest] = pathname.split('/').map(decodeURIComponent);
    requests.push({ method: request.method, path: request.url });
    if (pathname === '/healthz') return json(response, 200, { status: 'ok' });
    if (root === 'agents' && id === undefined) {
      return json(response, 200, { agents: Object.keys(agents).map((name, index) => ({ name, default: index === 0, ...describe(name) })) });
    }
    if (root === 'agents' && request.method === 'GET') return json(response, 200, { name: id, ...describe(id) });
    if (root === 'agents') {
      const input = await read(request);
      requests.at(-1).input = input;
      return run(response, id, input);
    }
    if (root === 'sessions' && rest === 'interactions') {
      return json(response, 200, { open: (threads.get(id)?.open ?? []).map(({ id: open }) => ({ id: open })), decisions: [] });
    }
    if (root === 'sessions') return sessions(request, response, id);
    return json(response, 404, { error: { code: 'not_found', message: 'there is no such run' } });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    threads,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A text message, in pieces. */
export function says(text, { id = randomUUID(), piece = 40, pace = 0 } = {}) {
  const steps = [{ type: 'TEXT_MESSAGE_START', messageId: id, role: 'assistant' }];
  for (let at = 0; at < text.length; at += piece) {
    steps.push({ type: 'TEXT_MESSAGE_CONTENT', messageId: id, delta: text.slice(at, at + piece) });
    if (pace > 0) steps.push(pace);
  }
  return [...steps, { type: 'TEXT_MESSAGE_END', messageId: id }];
}

export function calls(name, args, { id = randomUUID(), result } = {}) {
  const steps = [
    { type: 'TOOL_CALL_START', toolCallId: id, toolCallName: name },
    { type: 'TOOL_CALL_ARGS', toolCallId: id, delta: typeof args === 'string' ? args : JSON.stringify(args) },
    { type: 'TOOL_CALL_END', toolCallId: id },
  ];
  if (result !== undefined) steps.push({ type: 'TOOL_CALL_RESULT', messageId: randomUUID(), toolCallId: id, content: result });
  return steps;
}

/** The messages of a thread with what a run added, as a snapshot. */
export const snapshot = (messages) => ({ type: 'MESSAGES_SNAPSHOT', messages });

export function approval({ id = randomUUID(), toolCallId, name, args, message, edits = false, expiresAt = new Date(Date.now() + 900_000).toISOString() }) {
  const properties = { approved: { type: 'boolean' }, reason: { type: 'string' } };
  if (edits) properties.editedArgs = { type: 'object' };
  return {
    id,
    reason: 'tool_call',
    message,
    toolCallId,
    responseSchema: { type: 'object', properties, required: ['approved'], additionalProperties: false },
    expiresAt,
    metadata: { harnest: { type: 'human_approval', id, name, arguments: args, message, expiresAt } },
  };
}
