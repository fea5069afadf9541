/* Events as the inspector reads them. The client has checked their shape; nothing here trusts it. */
import { isObject, type JsonObject } from './json';

export type WireEvent = JsonObject & { type: string };

export function text(event: JsonObject, member: string): string {
  const value = event[member];
  return typeof value === 'string' ? value : '';
}

/** What an event says, in one line. */
export function gist(event: WireEvent): string {
  const { type } = event;
  if (type === 'STATE_DELTA' || type === 'ACTIVITY_DELTA') {
    const operations = event[type === 'STATE_DELTA' ? 'delta' : 'patch'];
    return Array.isArray(operations) ? operations.filter(isObject).map((o) => `${text(o, 'op')} ${text(o, 'path')}`).join(', ') : '';
  }
  if (type === 'RUN_FINISHED') return isObject(event['outcome']) ? text(event['outcome'], 'type') : 'success';
  if (type === 'RUN_ERROR') return [text(event, 'code'), text(event, 'message')].filter(Boolean).join(': ');
  if (type === 'MESSAGES_SNAPSHOT') return Array.isArray(event['messages']) ? `${event['messages'].length} messages` : '';
  if (type === 'STATE_SNAPSHOT') return isObject(event['snapshot']) ? Object.keys(event['snapshot']).join(', ') : '';
  const members = ['delta', 'toolCallName', 'name', 'stepName', 'activityType', 'content', 'role', 'runId'];
  const found = members.map((member) => event[member]).find((value) => value !== undefined);
  return typeof found === 'string' ? found : found === undefined ? '' : JSON.stringify(found).slice(0, 200);
}

/** The family of an event, for filters and colours. */
export function family(type: string): 'run' | 'text' | 'tool' | 'state' | 'reasoning' | 'other' {
  if (type.startsWith('RUN_') || type.startsWith('STEP_') || type.startsWith('SUBAGENT_')) return 'run';
  if (type.startsWith('TEXT_') || type === 'MESSAGES_SNAPSHOT') return 'text';
  if (type.startsWith('TOOL_')) return 'tool';
  if (type.startsWith('STATE_') || type.startsWith('ACTIVITY_')) return 'state';
  return type.startsWith('REASONING_') ? 'reasoning' : 'other';
}

export interface Logged {
  seq: number;
  /** Milliseconds since the page began. */
  at: number;
  event: WireEvent;
}

const KEPT = 2000;

/** The newest events, at most so many. Arrays are replaced and not changed, so that React sees it. */
export class EventLog {
  private entries: Logged[] = [];
  private seq = 0;

  get all(): Logged[] {
    return this.entries;
  }

  add(event: WireEvent, at: number): void {
    this.seq += 1;
    this.entries.push({ seq: this.seq, at, event });
    if (this.entries.length > KEPT * 1.25) this.entries = this.entries.slice(-KEPT);
  }

  clear(): void {
    this.entries = [];
  }
}

/** Which entries a filter lets through: family chips, and words that all have to occur. */
export function filtered(entries: Logged[], families: ReadonlySet<string>, words: string): Logged[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return entries.filter(({ event }) => {
    if (families.size > 0 && !families.has(family(event.type))) return false;
    if (wanted.length === 0) return true;
    const haystack = JSON.stringify(event).toLowerCase();
    return wanted.every((word) => haystack.includes(word));
  });
}

