/* JSON as a tree that unfolds. Huge lists and texts show their beginning first. */
import { useState } from 'react';
import { holdsPredicted, isPredicted } from '../lib/diff';
import { isObject, pointer, type Json } from '../lib/json';
import { clip, exact, label } from '../lib/visible';

const NOTHING: ReadonlySet<string> = new Set();
const PAGE = 100;
const LINE = 400;
const DEEPEST = 60;

export function Tree({ value, predicted = NOTHING }: { value: Json; predicted?: ReadonlySet<string> }) {
  return (
    <div className="tree">
      {isObject(value) || Array.isArray(value) ? <Members value={value} path="" predicted={predicted} depth={0} /> : <Leaf value={value} />}
    </div>
  );
}

interface NodeProps {
  path: string;
  predicted: ReadonlySet<string>;
  depth: number;
}

function Members({ value, path, predicted, depth }: NodeProps & { value: Json[] | { [key: string]: Json } }) {
  const [shown, setShown] = useState(PAGE);
  const entries = Object.entries(value);
  return (
    <ul>
      {entries.slice(0, shown).map(([key, member]) => (
        <Member key={key} name={key} isIndex={Array.isArray(value)} value={member} path={pointer(path, key)} predicted={predicted} depth={depth} />
      ))}
      {entries.length > shown && (
        <li>
          <button type="button" className="quiet small" onClick={() => setShown(shown + 10 * PAGE)}>
            {(entries.length - shown).toLocaleString('en')} more
          </button>
        </li>
      )}
    </ul>
  );
}

function Member({ name, isIndex, value, path, predicted, depth }: NodeProps & { name: string; isIndex: boolean; value: Json }) {
  const isNode = isObject(value) || Array.isArray(value);
  const [isOpen, setOpen] = useState(depth < 3);
  const mark = isPredicted(path, predicted) ? 'yes' : holdsPredicted(path, predicted) ? 'inside' : undefined;
  const key = <span className={isIndex ? 'index' : 'key'}>{label(name, 120)}</span>;
  const badge = mark === 'yes' && <span className="badge">predicted</span>;
  if (!isNode) {
    return (
      <li data-predicted={mark}>
        {key} <Leaf value={value} /> {badge}
      </li>
    );
  }
  const size = Array.isArray(value) ? value.length : Object.keys(value).length;
  return (
    <li data-predicted={mark}>
      <button type="button" className="node" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {key} <span className="size">{Array.isArray(value) ? `[${size}]` : `{${size}}`}</span> {badge}
      </button>
      {isOpen && (depth < DEEPEST ? <Members value={value} path={path} predicted={predicted} depth={depth + 1} /> : <p className="nothing">Deeper than is shown here.</p>)}
    </li>
  );
}

function Leaf({ value }: { value: Json }) {
  const [isWhole, setWhole] = useState(false);
  if (typeof value !== 'string') return <span className="value" data-type={value === null ? 'null' : typeof value}>{String(value)}</span>;
  const isClipped = !isWhole && value.length > LINE;
  return (
    <>
      <span className="value" data-type="string" dir="auto">
        {exact(isClipped ? clip(value, LINE) : value)}
      </span>
      {isClipped && (
        <button type="button" className="quiet small" onClick={() => setWhole(true)}>
          all {value.length.toLocaleString('en')}
        </button>
      )}
    </>
  );
}
