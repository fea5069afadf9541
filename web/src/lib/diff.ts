/* What is different between two states, as operations that people can read. */
import { isEqual, isObject, pointer, type Json } from './json';

export interface Difference {
  op: 'add' | 'remove' | 'replace';
  path: string;
  before: Json | undefined;
  after: Json | undefined;
}

/** More than these nobody reads. */
const MOST = 500;

/** Differences in document order; lists are compared place by place. */
export function diff(before: Json, after: Json): Difference[] {
  const found: Difference[] = [];
  walk(before, after, '', found);
  return found;
}

function walk(before: Json, after: Json, path: string, found: Difference[]): void {
  if (found.length >= MOST || isEqual(before, after)) return;
  if (isObject(before) && isObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      member(before[key], after[key], pointer(path, key), found);
    }
  } else if (Array.isArray(before) && Array.isArray(after)) {
    for (let index = 0; index < Math.max(before.length, after.length); index += 1) {
      member(before[index], after[index], pointer(path, index), found);
    }
  } else found.push({ op: 'replace', path, before, after });
}

function member(before: Json | undefined, after: Json | undefined, path: string, found: Difference[]): void {
  if (found.length >= MOST) return;
  if (before === undefined && after !== undefined) found.push({ op: 'add', path, before, after });
  else if (before !== undefined && after === undefined) found.push({ op: 'remove', path, before, after });
  else if (before !== undefined && after !== undefined) walk(before, after, path, found);
}

/** Whether a place is predicted, itself or as part of something that is. */
export function isPredicted(path: string, predicted: ReadonlySet<string>): boolean {
  for (const pattern of predicted) {
    if (path === pattern || path.startsWith(`${pattern}/`)) return true;
  }
  return false;
}

/** Whether something below a place is predicted. */
export function holdsPredicted(path: string, predicted: ReadonlySet<string>): boolean {
  for (const pattern of predicted) {
    if (pattern.startsWith(`${path}/`)) return true;
  }
  return false;
}
