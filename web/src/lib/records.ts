/* All that the page keeps of a thread's events beside the messages and the state themselves: what is
 * waited for, what is predicted, when things began and ended, and the events as they came. */
import type { Message } from '@ag-ui/client';
import type { Mode } from './agent';
import { Durations } from './durations';
import { items } from './items';
import type { Json } from './json';
import { SharedState } from './shared';
import { Spans } from './spans';
import { backgroundIn } from './tools';
import type { Recorded } from './view';
import { Waits } from './waits';
import { EventLog, type WireEvent } from './wire';

export class Records {
  readonly waits = new Waits();
  readonly shared = new SharedState();
  readonly log = new EventLog();
  readonly spans = new Spans();
  readonly durations: Durations;

  constructor(threadId: string) {
    this.durations = new Durations(threadId);
  }

  /** Takes an event together with the state before it. */
  fold(event: WireEvent, state: Json, mode: Mode): void {
    const at = performance.now();
    if (event.type === 'RUN_STARTED') this.waits.begin(mode === 'open');
    // A server must not echo a private value; should it do so in its copy of the input, it is not shown.
    this.log.add(mode === 'private' && 'input' in event ? { ...event, input: null } : event, at);
    this.waits.fold(event);
    this.shared.fold(event);
    if (mode !== 'open') this.spans.fold(event, at);
    if (event.type === 'TOOL_CALL_RESULT') {
      this.settle(state, 'tool result');
      this.durations.add(this.spans.durations());
    }
    if (event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR') this.settle(state, 'end of run');
  }

  settle(state: Json, cause: string): void {
    this.shared.settle(state, cause, performance.now());
  }

  view(messages: readonly Message[]): Recorded {
    const { shared, spans, waits, log, durations } = this;
    const shown = items(messages);
    return {
      items: shown,
      questions: waits.questions,
      calls: waits.calls,
      external: waits.external,
      durations: durations.known,
      background: backgroundIn(shown),
      base: shared.base,
      predicted: shared.predicted,
      versions: shared.versions,
      log: [...log.all],
      spans: spans.list,
      samples: spans.samples,
      usage: spans.usage,
    };
  }
}
