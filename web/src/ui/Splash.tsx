/* What there is before there is an agent to talk to. */
import type { ApiError } from '../lib/api';
import { TokenForm } from './TokenForm';

export function Splash({ error, isEmpty }: { error: ApiError | undefined; isEmpty: boolean }) {
  return (
    <main className="splash">
      <h1>Antiphon</h1>
      {error?.status === 401 ? (
        <TokenForm />
      ) : (
        <p role="status">{error !== undefined ? `${error.message} Trying again…` : isEmpty ? 'The server has no agents.' : 'Loading…'}</p>
      )}
    </main>
  );
}
