/* Until when a question can be answered. */
import { remaining } from '../lib/format';
import { useNow } from '../ui/useNow';

export function useIsOver(at: number | undefined): boolean {
  const now = useNow(1000, at !== undefined);
  return at !== undefined && at <= now;
}

export function Deadline({ at }: { at: number | undefined }) {
  const now = useNow(1000, at !== undefined);
  if (at === undefined) return null;
  const left = at - now;
  return (
    <time className="tag" dateTime={new Date(at).toISOString()} title={new Date(at).toLocaleString()} data-urgent={left < 60_000}>
      {left <= 0 ? 'expired' : `expires in ${remaining(left)}`}
    </time>
  );
}
