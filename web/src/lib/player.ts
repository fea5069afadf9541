/* Plays one stream of an agent to its end, whatever that is. */
import type { AgentStateMutation, AgentSubscriber, ResumeEntry } from '@ag-ui/client';
import { ThreadAgent, type Mode, type Sent } from './agent';
import { address, asApiError, describeAgent, eventsPath, runPath, type ApiError } from './api';
import { isObject, type Json } from './json';
import { failed, type Notice } from './notice';
import type { Records } from './records';
import { bearer } from './token';
import { offered } from './tools';
import { text, type WireEvent } from './wire';

/** How a stream ended. `cut` has no terminal event; `refused` may be a refusal or an illegal stream. */
export type Ending = { as: 'finished' | 'cancelled' | 'cut' } | { as: 'failed'; notice: Notice } | { as: 'refused'; error: ApiError };

interface Hooks {
  onStarted: (mode: Mode) => void;
  onChange: () => void;
}

const SENT_KEPT = 30;

export class Player {
  readonly agent: ThreadAgent;
  /** The newest requests. */
  sent: readonly Sent[] = [];
  runId = '';
  /** Events of the stream so far. */
  seen = 0;
  private mode: Mode = 'open';
  private readonly records: Records;
  private readonly hooks: Hooks;
  private readonly serverTools: Promise<Set<string>>;

  constructor(agentName: string, threadId: string, records: Records, hooks: Hooks) {
    this.records = records;
    this.hooks = hooks;
    this.agent = new ThreadAgent(address(runPath(agentName)), threadId, bearer(), {
      onSent: (sent) => (this.sent = [...this.sent.slice(1 - SENT_KEPT), sent]),
      onBytes: (count) => this.mode !== 'open' && records.spans.count(count, performance.now()),
    });
    this.serverTools = describeAgent(agentName).then(toolNames, () => new Set<string>());
  }

  async play(mode: Mode, runId: string, resume?: ResumeEntry[]): Promise<Ending> {
    const isNew = mode === 'turn' || mode === 'private';
    let ending: Ending = { as: 'cut' };
    this.mode = mode;
    this.runId = runId;
    this.seen = 0;
    if (isNew) this.records.spans.reset(performance.now());
    this.agent.next(mode, mode === 'join' ? address(eventsPath(runId, this.agent.threadId)) : '');
    try {
      // Opening does not wait for the agent's description: a run under way has to be joined soon.
      const tools = isNew ? offered(await this.serverTools) : [];
      await this.agent.runAgent({ runId, tools, ...(resume && { resume }) }, this.subscriber((taken) => (ending = taken)));
    } catch (error) {
      ending = { as: 'refused', error: asApiError(error) };
    }
    return ending;
  }

  private subscriber(take: (ending: Ending) => void): AgentSubscriber {
    const { records, hooks } = this;
    return {
      onEvent: ({ event, state }) => {
        this.seen += 1;
        if (event.type === 'RUN_STARTED') hooks.onStarted(this.mode);
        records.fold(event as unknown as WireEvent, state as Json, this.mode);
        hooks.onChange();
      },
      onStateChanged: ({ state }) => {
        records.settle(state as Json, this.mode === 'open' ? 'opened' : 'run');
        hooks.onChange();
      },
      onMessagesChanged: hooks.onChange,
      onRunFinishedEvent: ({ event, messages }) => {
        const outcome: unknown = event.outcome;
        take({ as: isObject(outcome) && outcome['type'] === 'cancelled' ? 'cancelled' : 'finished' });
        records.waits.finish(event, messages);
      },
      onRunErrorEvent: ({ event: { code, message } }) => {
        // The client's own word for a request that this page has given up.
        take(code === 'abort' ? { as: 'cancelled' } : { as: 'failed', notice: failed(message, code ?? '') });
      },
      onRunFailed: ({ error }) => {
        take({ as: 'refused', error: asApiError(error) });
        // Said on the page; the console has nothing to add.
        return { stopPropagation: true } as AgentStateMutation;
      },
    };
  }
}

function toolNames(described: Json | undefined): Set<string> {
  const capabilities = isObject(described) && isObject(described['capabilities']) ? described['capabilities'] : {};
  const tools = isObject(capabilities['tools']) ? capabilities['tools'] : {};
  const listed = Array.isArray(tools['items']) ? tools['items'] : [];
  return new Set(listed.filter(isObject).map((tool) => text(tool, 'name')));
}
