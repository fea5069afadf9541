/* The shared state as the page knows it: what is there now, what of it is only predicted, and what was
 * committed before.
 *
 * While the model still writes the arguments of a call that CUSTOM `PredictState` has announced, state
 * deltas show what the state may become. The call's result, a snapshot or the run's end settle it. */
import { firstKey, isEqual, isObject, pointer, type Json } from './json';
import { text, type WireEvent } from './wire';

export interface Version {
  at: number;
  cause: string;
  state: Json;
}

const KEPT = 100;

export class SharedState {
  current: Json = {};
  versions: Version[] = [];
  /** Pointers of what is predicted. */
  predicted: ReadonlySet<string> = new Set();
  /** Keys that each announced tool predicts. */
  private announced = new Map<string, Set<string>>();
  /** Calls of announced tools that have no result yet, by id. */
  private calls = new Map<string, string>();

  /** The state that counts: the newest committed one. */
  get committed(): Json {
    return this.versions.at(-1)?.state ?? {};
  }

  /** What the current state is compared with. */
  get base(): Json {
    return this.predicted.size > 0 ? this.committed : (this.versions.at(-2)?.state ?? {});
  }

  /** Takes an event and the state before it; `settle` follows when the state after it is known. */
  fold(event: WireEvent): void {
    switch (event.type) {
      case 'RUN_STARTED':
        this.announced.clear();
        this.calls.clear();
        this.predicted = new Set();
        return;
      case 'CUSTOM':
        if (text(event, 'name') === 'PredictState') this.announce(event['value']);
        return;
      case 'TOOL_CALL_START':
        if (this.announced.has(text(event, 'toolCallName'))) {
          this.calls.set(text(event, 'toolCallId'), text(event, 'toolCallName'));
        }
        return;
      case 'STATE_DELTA':
        this.predict(event['delta']);
        return;
      case 'TOOL_CALL_RESULT':
        this.calls.delete(text(event, 'toolCallId'));
        if (this.calls.size === 0) this.predicted = new Set();
        return;
      case 'STATE_SNAPSHOT':
      case 'RUN_ERROR':
        this.predicted = new Set();
        return;
      case 'RUN_FINISHED':
        this.predicted = this.heldBack(event['outcome']);
    }
  }

  /** Takes the state as it is now; what is not predicted is committed. */
  settle(state: Json, cause: string, at: number): void {
    this.current = state;
    if (this.predicted.size > 0 || isEqual(state, this.committed)) return;
    this.versions = [...this.versions.slice(1 - KEPT), { at, cause, state }];
  }

  private announce(value: Json | undefined): void {
    for (const entry of Array.isArray(value) ? value.filter(isObject) : []) {
      const keys = this.announced.get(text(entry, 'tool')) ?? new Set();
      this.announced.set(text(entry, 'tool'), keys.add(text(entry, 'state_key')));
    }
  }

  private predict(delta: Json | undefined): void {
    const keys = new Set([...this.calls.values()].flatMap((tool) => [...(this.announced.get(tool) ?? [])]));
    if (keys.size === 0 || !Array.isArray(delta)) return;
    const paths = delta.filter(isObject).map((operation) => text(operation, 'path'));
    const fresh = paths.filter((path) => keys.has(firstKey(path)) && !this.predicted.has(path));
    if (fresh.length > 0) this.predicted = new Set([...this.predicted, ...fresh]);
  }

  /** A predicting call that waits for a person keeps what it predicts unsettled. */
  private heldBack(outcome: Json | undefined): Set<string> {
    const interrupts = isObject(outcome) && Array.isArray(outcome['interrupts']) ? outcome['interrupts'] : [];
    const waiting = interrupts.filter(isObject).map((interrupt) => this.calls.get(text(interrupt, 'toolCallId')));
    const keys = waiting.flatMap((tool) => (tool === undefined ? [] : [...(this.announced.get(tool) ?? [])]));
    return new Set(keys.map((key) => pointer('', key)));
  }
}
