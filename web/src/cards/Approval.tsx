/* Yes, no, or neither. Three plain buttons; none of them is a default, and none reacts to Enter unless
 * it was reached on purpose. */
import { useState } from 'react';
import { isObject, pretty, readJson, type Json, jsonOrText } from '../lib/json';
import type { Controls } from './controls';

export function Approval({ question, isOver, isDone, guarded, answer }: Controls) {
  const given = typeof question.arguments === 'string' ? jsonOrText(question.arguments) : (question.arguments ?? {});
  const [edited, setEdited] = useState<string>();
  const [reason, setReason] = useState<string>();
  const value = edited === undefined ? undefined : readJson(edited);
  const isWrong = edited !== undefined && !isObject(value);
  if (isDone) return null;

  const approve = () => {
    const payload: Record<string, Json> = { [question.yes]: true };
    if (isObject(value)) payload['editedArgs'] = value;
    answer('approved', { payload });
  };
  const decline = () => {
    const payload: Record<string, Json> = { [question.yes]: false };
    if (reason !== undefined && reason.trim() !== '') payload['reason'] = reason.trim();
    answer('declined', { payload });
  };
  return (
    <>
      {edited !== undefined && (
        <label className="field">
          <span>Arguments to use instead</span>
          <textarea className="mono" rows={Math.min(14, edited.split('\n').length + 1)} value={edited} spellCheck={false} aria-invalid={isWrong} onChange={(event) => setEdited(event.target.value)} />
          {isWrong && <small className="wrong">This is not a JSON object.</small>}
        </label>
      )}
      {reason !== undefined && (
        <label className="field">
          <span>Reason, passed on to the agent if you decline</span>
          <textarea rows={2} maxLength={2000} value={reason} onChange={(event) => setReason(event.target.value)} />
        </label>
      )}
      <div className="actions">
        <button type="button" className="primary" disabled={isOver || isWrong} onClick={guarded(approve)}>
          {edited === undefined ? 'Approve' : 'Approve with changes'}
        </button>
        <button type="button" disabled={isOver} onClick={guarded(decline)}>
          Decline
        </button>
        <button type="button" onClick={guarded(() => answer('cancelled'))}>
          Cancel
        </button>
        <span className="grow" />
        {question.mayEdit && !isOver && (
          <button type="button" className="quiet" aria-expanded={edited !== undefined} onClick={() => setEdited(edited === undefined ? pretty(given) : undefined)}>
            {edited === undefined ? 'Edit arguments' : 'Discard changes'}
          </button>
        )}
        {question.mayGiveReason && !isOver && (
          <button type="button" className="quiet" aria-expanded={reason !== undefined} onClick={() => setReason(reason === undefined ? '' : undefined)}>
            {reason === undefined ? 'Add a reason' : 'Without a reason'}
          </button>
        )}
      </div>
    </>
  );
}
