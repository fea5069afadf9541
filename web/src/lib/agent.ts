/* The official client, with the two things that a page with a server of its own needs on top: it can
 * open a thread without saying anything, and it can come back to a run that is under way. */
import { HttpAgent, runHttpRequest, transformHttpEventStream, type RunAgentInput } from '@ag-ui/client';

export type Mode = 'turn' | 'open' | 'private' | 'join';

/** What went over the wire, for the request pane. A private payload is replaced before it gets here. */
export interface Sent {
  method: 'GET' | 'POST';
  url: string;
  body?: unknown;
  at: number;
}

interface Hooks {
  onSent: (sent: Sent) => void;
  onBytes: (count: number) => unknown;
}

const PRIVATE = '(private, not shown)';

export class ThreadAgent extends HttpAgent {
  private mode: Mode = 'turn';
  private joined = '';
  private readonly hooks: Hooks;

  constructor(url: string, threadId: string, headers: Record<string, string>, hooks: Hooks) {
    super({ url, threadId, headers, fetch: (input, init) => counted(fetch(input, init), hooks.onBytes) });
    this.hooks = hooks;
  }

  /** What the next run is for. `join` reads the run at this address instead of starting one. */
  next(mode: Mode, joined = ''): void {
    this.mode = mode;
    this.joined = joined;
    // Opening and joining answer nothing; what is open comes back as the outcome.
    if (mode === 'open' || mode === 'join') this.pendingInterrupts = [];
  }

  /** A request that opens a thread or carries a private value holds neither messages nor state. */
  protected override requestInit(input: RunAgentInput): RequestInit {
    const bare = this.mode === 'open' || this.mode === 'private';
    const sent: RunAgentInput = bare ? { ...input, messages: [], state: {} } : input;
    const shown =
      this.mode === 'private'
        ? { ...sent, resume: input.resume?.map((entry) => ('payload' in entry ? { ...entry, payload: PRIVATE } : entry)) }
        : sent;
    this.hooks.onSent({ method: 'POST', url: this.url, body: shown, at: Date.now() });
    return super.requestInit(sent);
  }

  override run(input: RunAgentInput): ReturnType<HttpAgent['run']> {
    if (this.mode !== 'join') return super.run(input);
    const url = this.joined;
    this.hooks.onSent({ method: 'GET', url, at: Date.now() });
    const headers = { ...this.headers, Accept: 'text/event-stream' };
    const { signal } = this.abortController;
    return transformHttpEventStream(runHttpRequest(() => this.fetch(url, { headers, signal, cache: 'no-store' })));
  }
}

/** Counts a body's bytes as they pass. */
async function counted(answer: Promise<Response>, onBytes: Hooks['onBytes']): Promise<Response> {
  const response = await answer;
  if (response.body === null) return response;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      onBytes(chunk.byteLength);
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counter), { status, statusText, headers });
}
