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

/** What follows from the messages and the events. */
export interface Recorded {
  items: Item[];
  questions: Question[];
  calls: PageCall[];
  external: ExternalWait[];
  durations: ReadonlyMap<string, number>;
  background: string | undefined;
  base: Json;
  predicted: ReadonlySet<string>;
  versions: Version[];
  log: readonly Logged[];
  spans: Span[];
  samples: Sample[];
  usage: Usage | undefined;
}

export interface View extends Recorded {
  phase: 'opening' | 'idle' | 'running';
  /** Streams of runs that have come to an end, also one that began and ended within a frame. */
  ended: number;
  isStopping: boolean;
  /** The server does not answer; the page keeps trying. */
  isAway: boolean;
  given: ReadonlyMap<string, Given>;
  notice: Notice | undefined;
  /** Text that the server did not take, for the composer to get back. */
  returned: string | undefined;
  needsToken: boolean;
  state: Json;
  sent: readonly Sent[];
}
