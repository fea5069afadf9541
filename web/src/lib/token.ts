/* The bearer token, where a server wants one: for this tab only, never in an address after loading. */

const KEY = 'antiphon.token';

/** Takes a token out of `#token=...` before anything else reads the address. */
export function takeToken(): void {
  const match = /^#token=([^&]+)(?:&(.*))?$/.exec(location.hash);
  if (match?.[1] === undefined) return;
  setToken(decodeURIComponent(match[1]));
  history.replaceState(null, '', match[2] === undefined ? location.pathname : `#${match[2]}`);
}

export function setToken(token: string): void {
  sessionStorage.setItem(KEY, token);
}

export function bearer(): Record<string, string> {
  const token = sessionStorage.getItem(KEY);
  return token === null || token === '' ? {} : { Authorization: `Bearer ${token}` };
}
