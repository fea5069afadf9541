/* The steps that the page's tool `generate_task_steps` proposes: the person unticks what is not wanted. */
import { useState } from 'react';
import { isObject, readJson, type Json } from '../lib/json';
import { label } from '../lib/visible';
import { text } from '../lib/wire';

interface Props {
  args: string;
  guarded: (act: () => void) => () => void;
  onResult: (result: Json) => void;
}

export function Steps({ args, guarded, onResult }: Props) {
  const [off, setOff] = useState<ReadonlySet<number>>(new Set());
  const read = readJson(args);
  const proposed = isObject(read) && Array.isArray(read['steps']) ? read['steps'].filter(isObject).slice(0, 100) : [];
  const toggle = (index: number) => {
    const after = new Set(off);
    if (!after.delete(index)) after.add(index);
    setOff(after);
  };
  const steps = proposed.map((step, index) => ({ description: text(step, 'description'), status: off.has(index) ? 'disabled' : 'enabled' }));
  return (
    <>
      <ul className="steps">
        {steps.map(({ description, status }, index) => (
          <li key={index}>
            <label className="check">
              <input type="checkbox" checked={status === 'enabled'} onChange={() => toggle(index)} />
              <span>{label(description, 300)}</span>
            </label>
          </li>
        ))}
      </ul>
      <div className="actions">
        <button type="button" className="primary" onClick={guarded(() => onResult({ accepted: true, steps: steps.filter(({ status }) => status === 'enabled') }))}>
          Go ahead with {steps.length - off.size} {steps.length - off.size === 1 ? 'step' : 'steps'}
        </button>
        <button type="button" onClick={guarded(() => onResult({ accepted: false, steps }))}>
          Reject
        </button>
      </div>
    </>
  );
}
