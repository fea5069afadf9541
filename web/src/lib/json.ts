/* JSON as data: types, reading without throwing, printing, and pointers. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads a text as JSON; undefined where it is none. */
export function readJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** A text that holds JSON as the value, every other text as itself. */
export function jsonOrText(text: string): Json {
  const value = readJson(text);
  return value === undefined ? text : value;
}

/** Prints a value over several lines; never throws. */
export function pretty(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2) ?? 'undefined';
  } catch {
    return String(value);
  }
}

/** One more segment of an RFC 6901 pointer. */
export function pointer(parent: string, key: string | number): string {
  return `${parent}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The first segment of a pointer, as the key that it names. */
export function firstKey(path: string): string {
  const segment = path.split('/')[1] ?? '';
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}

export function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => isEqual(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]));
}
