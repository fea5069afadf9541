/* A request as a line for a terminal. */
import type { Sent } from './agent';

/** In single quotes a POSIX shell takes everything as it is, but for the single quote. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

export function curl({ method, url, body }: Sent): string {
  const lines = [`curl -N ${quoted(url)}`, `-H ${quoted('Accept: text/event-stream')}`];
  if (method === 'POST') lines.push(`-H ${quoted('Content-Type: application/json')}`, `--data-raw ${quoted(JSON.stringify(body))}`);
  return lines.join(' \\\n  ');
}
