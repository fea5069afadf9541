/* How the last run ended, where that has to be said. Kept for the tab: after a reload it still stands. */
import { isObject } from './json';
import { recallInTab, rememberInTab } from './memory';
import type { ApiError } from './api';

export interface Notice {
  kind: 'error' | 'cancelled' | 'cut';
  title: string;
  message: string;
  code: string;
}

export const CUT: Notice = {
  kind: 'cut',
  title: 'The connection was lost',
  message: 'The run did not come to its end, and the server no longer knows it.',
  code: 'connection_lost',
};

export const ENDLESS: Notice = {
  kind: 'error',
  title: 'The agent keeps calling tools of this page',
  message: 'It did so many times without anything new being said. Retry lets it go on.',
  code: 'tool_loop',
};

export const CANCELLED: Notice = { kind: 'cancelled', title: 'Stopped', message: '', code: '' };

export function failed(message: string, code: string): Notice {
  return { kind: 'error', title: 'The run failed', message: message || 'The server gave no reason.', code };
}

export function refused(error: ApiError): Notice {
  const { status, code, message } = error;
  const title =
    status === -1 ? 'The server sent what the protocol does not allow' : status === 0 ? 'The server does not answer' : 'The server refused the request';
  return { kind: 'error', title, message, code };
}

export function keepNotice(thread: string, notice: Notice | undefined): void {
  rememberInTab(`notice.${thread}`, notice === undefined ? undefined : { ...notice });
}

export function keptNotice(thread: string): Notice | undefined {
  const kept = recallInTab(`notice.${thread}`);
  if (!isObject(kept)) return undefined;
  const { kind, title, message, code } = kept;
  const known = kind === 'error' || kind === 'cancelled' || kind === 'cut';
  if (!known || typeof title !== 'string' || typeof message !== 'string' || typeof code !== 'string') return undefined;
  return { kind, title, message, code };
}
