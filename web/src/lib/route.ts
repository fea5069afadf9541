/* Where the page is: `#/AGENT/THREAD`. The address alone is enough to show the same screen again. */

export interface Place {
  agent: string | undefined;
  thread: string | undefined;
}

export function readPlace(hash: string): Place {
  const [, agent, thread] = hash.replace(/^#/, '').split('/');
  return { agent: decoded(agent), thread: decoded(thread) };
}

export function placeHash(agent: string, thread: string): string {
  return `#/${encodeURIComponent(agent)}/${encodeURIComponent(thread)}`;
}

function decoded(segment: string | undefined): string | undefined {
  if (segment === undefined || segment === '') return undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
