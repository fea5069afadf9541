/* Two states, and what is different in the second. */
import { useMemo } from 'react';
import { diff } from '../lib/diff';
import type { Json } from '../lib/json';
import { clip, exact, label } from '../lib/visible';

const SIGNS = { add: '+', remove: '−', replace: '±' };
const WORDS = { add: 'added', remove: 'removed', replace: 'changed' };

export function Differences({ before, after, words }: { before: Json; after: Json; words: string }) {
  const found = useMemo(() => diff(before, after), [before, after]);
  return (
    <>
      <p className="note">{words}</p>
      {found.length === 0 ? (
        <p className="nothing">No difference.</p>
      ) : (
        <ul className="diff">
          {found.map(({ op, path, before: old, after: now }) => (
            <li key={path} data-op={op}>
              <span className="sign" title={WORDS[op]}>
                {SIGNS[op]}
              </span>
              <code className="path">{label(path === '' ? '(all)' : path, 200)}</code>
              {old !== undefined && <del>{short(old)}</del>}
              {now !== undefined && <ins>{short(now)}</ins>}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function short(value: Json): string {
  return exact(clip(JSON.stringify(value), 300));
}
