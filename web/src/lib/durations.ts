/* How long tool calls took. The server does not say it, so the tab remembers what it has seen. */
import { isObject } from './json';
import { recallInTab, rememberInTab } from './memory';

const KEPT = 200;

export class Durations {
  known: ReadonlyMap<string, number>;
  private readonly key: string;

  constructor(thread: string) {
    this.key = `durations.${thread}`;
    const kept = recallInTab(this.key);
    const entries = Object.entries(isObject(kept) ? kept : {});
    this.known = new Map(entries.filter((entry): entry is [string, number] => typeof entry[1] === 'number'));
  }

  add(durations: ReadonlyMap<string, number>): void {
    const fresh = [...durations].filter(([id]) => !this.known.has(id));
    if (fresh.length === 0) return;
    this.known = new Map([...this.known, ...fresh.map(([id, ms]): [string, number] => [id, Math.round(ms * 10) / 10])].slice(-KEPT));
    rememberInTab(this.key, Object.fromEntries(this.known));
  }
}
