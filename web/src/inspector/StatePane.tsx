/* The shared state: as a tree, as the difference to what was committed, and as it was before. */
import { useState } from 'react';
import type { Thread } from '../lib/thread';
import type { View } from '../lib/view';
import { isEqual, type Json } from '../lib/json';
import { Copy } from '../ui/Copy';
import { Differences } from './Differences';
import { History } from './History';
import { StateEditor } from './StateEditor';
import { Tree } from './Tree';

const MODES = ['Tree', 'Diff', 'History', 'Edit'] as const;
type Mode = (typeof MODES)[number];

export function StatePane({ thread, view }: { thread: Thread; view: View }) {
  const [mode, setMode] = useState<Mode>('Tree');
  const { state, base, predicted, versions } = view;
  const isNothing = state === null || isEqual(state, {});
  return (
    <>
      <div className="bar">
        <div className="segments" role="group" aria-label="Show the state as">
          {MODES.map((name) => (
            <button key={name} type="button" aria-pressed={name === mode} onClick={() => setMode(name)}>
              {name}
            </button>
          ))}
        </div>
        <span className="grow" />
        {predicted.size > 0 && <span className="tag predicted">predicted</span>}
        <Copy what="the state" text={() => JSON.stringify(state, null, 2)} />
      </div>
      {mode === 'Tree' && (isNothing ? <p className="nothing">The shared state is empty. Agents fill it, and what you change here they see.</p> : <Tree value={state as Json} predicted={predicted} />)}
      {mode === 'Diff' && <Differences before={base} after={state} words={predicted.size > 0 ? 'What is predicted, against the state that is committed.' : 'What the last commit changed.'} />}
      {mode === 'History' && <History versions={versions} />}
      {mode === 'Edit' && <StateEditor thread={thread} state={state} isIdle={view.phase === 'idle'} onDone={() => setMode('Tree')} />}
    </>
  );
}
