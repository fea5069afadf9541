/* What the browser remembers: looks and names, never what was said or typed. Storage may be full or
 * forbidden; then the page forgets and goes on. */
import { isObject, readJson, type Json } from './json';

function read(store: () => Storage, key: string): Json | undefined {
  try {
    return readJson(store().getItem(`antiphon.${key}`) ?? '');
  } catch {
    return undefined;
  }
}

function write(store: () => Storage, key: string, value: Json | undefined): void {
  try {
    if (value === undefined) store().removeItem(`antiphon.${key}`);
    else store().setItem(`antiphon.${key}`, JSON.stringify(value));
  } catch {
    // Full or forbidden.
  }
}

const lasting = () => localStorage;
const ofTab = () => sessionStorage;

export const recall = (key: string) => read(lasting, key);
export const remember = (key: string, value: Json) => write(lasting, key, value);
export const recallInTab = (key: string) => read(ofTab, key);
export const rememberInTab = (key: string, value: Json | undefined) => write(ofTab, key, value);

const AGENTS_KEPT = 500;

/** The agent that a thread was last seen with; threads themselves are not bound to one. */
export function agentOf(thread: string): string | undefined {
  const known = recall('agents');
  const agent = isObject(known) && Object.hasOwn(known, thread) ? known[thread] : undefined;
  return typeof agent === 'string' ? agent : undefined;
}

export function rememberAgent(thread: string, agent: string): void {
  const known = recall('agents');
  const entries = Object.entries(isObject(known) ? known : {}).filter(([id]) => id !== thread);
  remember('agents', Object.fromEntries([...entries.slice(1 - AGENTS_KEPT), [thread, agent]]));
}
