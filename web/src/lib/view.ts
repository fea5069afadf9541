/* What the page shows of one thread, as values that React can compare. */
import type { Sent } from './agent';
import type { Item } from './items';
import type { Json } from './json';
import type { Notice } from './notice';
import type { ExternalWait, PageCall, Question } from './questions';
import type { Version } from './shared';
import type { Sample, Span, Usage } from './spans';
import type { Logged } from './wire';

/** An answer that waits for the others to be given, since all go out together. */
export interface Given {
  verdict: 'approved' | 'declined' | 'cancelled' | 'answered';
}

export interface View {
  phase: 'opening' | 'idle' | 'running';
  /** What the person started: a run may also be another tab's. */
  isStopping: boolean;
  /** The server does not answer; the page keeps trying. */
  isAway: boolean;
  items: Item[];
  questions: Question[];
  given: ReadonlyMap<string, Given>;
  calls: PageCall[];
  external: ExternalWait[];
  notice: Notice | undefined;
  /** Text that the server refused to take, for the composer to get back. */
  returned: string | undefined;
  durations: ReadonlyMap<string, number>;
  background: string | undefined;
  state: Json;
  base: Json;
  predicted: ReadonlySet<string>;
  versions: Version[];
  log: readonly Logged[];
  spans: Span[];
  samples: Sample[];
  usage: Usage | undefined;
  sent: readonly Sent[];
  needsToken: boolean;
}
