/* A call that has to be answered on this side: by choosing steps, by confirming, or by hand. */
import { useEffect, useId, useRef, useState } from 'react';
import { jsonOrText, type Json } from '../lib/json';
import type { PageCall } from '../lib/questions';
import { label } from '../lib/visible';
import { Code } from '../ui/Code';
import { Icon } from '../ui/Icon';
import { useGuard } from '../ui/useGuard';
import { Deadline, useIsOver } from './Deadline';
import { Steps } from './Steps';

export function PageCallCard({ call, onResult }: { call: PageCall; onResult: (result: Json) => void }) {
  const id = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  const { card, guarded } = useGuard<HTMLDivElement>();
  const isOver = useIsOver(call.expiresAt);
  const isSteps = call.name === 'generate_task_steps';
  const isConfirm = call.name.startsWith('confirm');
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <div className="card question" role="group" ref={card} aria-labelledby={id} data-kind="client_tool">
      <h3 className="card-title" id={id} ref={heading} tabIndex={-1}>
        <Icon name="hand" />
        <span>{isSteps ? 'Choose the steps' : isConfirm ? 'Please confirm' : 'A tool that runs on your side'}</span>
        <Deadline at={call.expiresAt} />
      </h3>
      {isSteps ? (
        <Steps args={call.arguments} guarded={guarded} onResult={onResult} />
      ) : (
        <>
          <dl className="facts">
            <dt>Tool</dt>
            <dd>
              <code>{label(call.name, 200)}</code>
            </dd>
          </dl>
          {!/^(\{\s*\})?$/.test(call.arguments) && <Code value={call.arguments} label="Arguments" />}
          {isConfirm ? (
            <div className="actions">
              <button type="button" className="primary" disabled={isOver} onClick={guarded(() => onResult({ accepted: true }))}>
                Confirm
              </button>
              <button type="button" disabled={isOver} onClick={guarded(() => onResult({ accepted: false }))}>
                Reject
              </button>
            </div>
          ) : (
            <Hand isOver={isOver} isDone={false} guarded={guarded} onResult={onResult} />
          )}
        </>
      )}
    </div>
  );
}

interface HandProps {
  isOver: boolean;
  isDone: boolean;
  guarded: (act: () => void) => () => void;
  onResult: (result: Json) => void;
}

/** The result of a tool that this page does not have, typed by hand. */
export function Hand({ isOver, isDone, guarded, onResult }: HandProps) {
  const [result, setResult] = useState('');
  if (isDone) return null;
  return (
    <>
      <label className="field">
        <span>Result: JSON or text</span>
        <textarea className="mono" rows={3} value={result} spellCheck={false} onChange={(event) => setResult(event.target.value)} />
      </label>
      <div className="actions">
        <button type="button" className="primary" disabled={isOver || result.trim() === ''} onClick={guarded(() => onResult(jsonOrText(result)))}>
          Send result
        </button>
      </div>
    </>
  );
}
