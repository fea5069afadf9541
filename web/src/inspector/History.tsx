/* Every committed state that this page has seen, the newest first, each with what it changed. */
import { useState } from 'react';
import { diff } from '../lib/diff';
import { duration } from '../lib/format';
import type { Version } from '../lib/shared';
import { Differences } from './Differences';
import { Tree } from './Tree';

export function History({ versions }: { versions: readonly Version[] }) {
  const [chosen, setChosen] = useState<number>();
  if (versions.length === 0) return <p className="nothing">No state was committed yet.</p>;
  const index = Math.min(chosen ?? versions.length - 1, versions.length - 1);
  const version = versions[index];
  const before = versions[index - 1]?.state ?? {};
  const start = versions[0]?.at ?? 0;
  return (
    <div className="history">
      <ol reversed aria-label="States">
        {versions.map(({ at, cause, state }, place) => (
          <li key={at}>
            <button type="button" aria-pressed={place === index} onClick={() => setChosen(place)}>
              <span>{cause}</span>
              <span className="tag">{changes(diff(versions[place - 1]?.state ?? {}, state).length)}</span>
              <span className="tag time">{place === 0 ? 'first' : `+${duration(at - start)}`}</span>
            </button>
          </li>
        )).reverse()}
      </ol>
      {version !== undefined && (
        <>
          <Differences before={before} after={version.state} words="What this commit changed:" />
          <p className="note">The state after it:</p>
          <Tree value={version.state} />
        </>
      )}
    </div>
  );
}

function changes(count: number): string {
  return `${count} ${count === 1 ? 'change' : 'changes'}`;
}
