/* The server's JSON routes. Addresses are relative to the page, which may be served under a prefix. */
import { isObject, readJson, type Json, type JsonObject } from './json';
import { bearer } from './token';

export function address(path: string): string {
  return new URL(path, document.baseURI).href;
}

/** A refusal in the server's own words, or a server that did not answer (`status` 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: JsonObject;

  constructor(status: number, code: string, message: string, details: JsonObject = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }

  get isAway(): boolean {
    return this.status === 0 || this.status === 502 || this.status === 503 || this.status === 504;
  }
}

/** Reads `{"error": {"code", "message", ...}}`. */
export function refusal(status: number, body: unknown): ApiError {
  const error = isObject(body) && isObject(body['error']) ? body['error'] : {};
  const text = (value: Json | undefined, otherwise: string) => (typeof value === 'string' && value !== '' ? value : otherwise);
  return new ApiError(status, text(error['code'], `http_${status}`), text(error['message'], `The server answered with status ${status}.`), error);
}

/** An error of any kind as an `ApiError`. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof Error && 'status' in error && typeof error.status === 'number') {
    return refusal(error.status, 'payload' in error ? error.payload : undefined);
  }
  if (error instanceof TypeError) return new ApiError(0, 'unreachable', 'The server does not answer.');
  return new ApiError(-1, 'stream_illegal', error instanceof Error ? error.message : String(error));
}

async function call(method: string, path: string, body?: Json, timeout = 15_000): Promise<Json | undefined> {
  const headers: Record<string, string> = { Accept: 'application/json', ...bearer() };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let response: Response;
  let text: string;
  try {
    response = await fetch(address(path), {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeout),
      cache: 'no-store',
    });
    text = await response.text();
  } catch {
    throw new ApiError(0, 'unreachable', 'The server does not answer.');
  }
  const value = readJson(text);
  if (!response.ok) throw refusal(response.status, value);
  return value;
}

const segment = encodeURIComponent;

export interface AgentSummary {
  name: string;
  description: string;
  isDefault: boolean;
}

export async function listAgents(): Promise<AgentSummary[]> {
  const body = await call('GET', 'agents');
  const agents = isObject(body) && Array.isArray(body['agents']) ? body['agents'] : [];
  return agents.filter(isObject).map((agent) => ({
    name: String(agent['name'] ?? ''),
    description: typeof agent['description'] === 'string' ? agent['description'] : '',
    isDefault: agent['default'] === true,
  }));
}

export const describeAgent = (name: string) => call('GET', `agents/${segment(name)}`);

export interface ThreadSummary {
  id: string;
  title: string;
  agent: string | undefined;
  updatedAt: number;
}

/** One page of the threads, the one changed last first. */
export async function listThreads(cursor?: string): Promise<{ threads: ThreadSummary[]; next: string | undefined }> {
  const body = await call('GET', cursor === undefined ? 'sessions' : `sessions?cursor=${segment(cursor)}`);
  const sessions = isObject(body) && Array.isArray(body['sessions']) ? body['sessions'] : [];
  const next = isObject(body) && typeof body['nextCursor'] === 'string' ? body['nextCursor'] : undefined;
  const threads = sessions.filter(isObject).map((session) => {
    const metadata = isObject(session['metadata']) ? session['metadata'] : {};
    return {
      id: String(session['id'] ?? ''),
      title: typeof metadata['title'] === 'string' ? metadata['title'] : '',
      agent: typeof metadata['agent'] === 'string' ? metadata['agent'] : undefined,
      updatedAt: Date.parse(String(session['updatedAt'] ?? '')),
    };
  });
  return { threads, next };
}

export const renameThread = (id: string, title: string) => call('PATCH', `sessions/${segment(id)}`, { title });
export const deleteThread = (id: string) => call('DELETE', `sessions/${segment(id)}`);

/** Replaces keys of a thread's state; answers with the whole state. */
export async function patchState(id: string, stateDelta: JsonObject): Promise<Json> {
  const body = await call('PATCH', `sessions/${segment(id)}`, { stateDelta });
  return isObject(body) && body['state'] !== undefined ? body['state'] : {};
}

/** The ids of what a thread waits for. */
export async function openInteractions(id: string): Promise<string[]> {
  const body = await call('GET', `sessions/${segment(id)}/interactions`);
  const open = isObject(body) && Array.isArray(body['open']) ? body['open'] : [];
  return open.filter(isObject).map((interaction) => String(interaction['id'] ?? ''));
}

export const cancelRun = (runId: string, threadId: string) =>
  call('POST', `runs/${segment(runId)}/cancel?threadId=${segment(threadId)}`, {});

export const runPath = (agent: string) => `agents/${segment(agent)}`;
export const eventsPath = (runId: string, threadId: string) =>
  `runs/${segment(runId)}/events?threadId=${segment(threadId)}&protocolVersion=1.0`;

/** Whether the server is there at all. */
export async function isAlive(): Promise<boolean> {
  try {
    await call('GET', 'healthz', undefined, 4000);
    return true;
  } catch (error) {
    return !asApiError(error).isAway;
  }
}
