/* Edits the shared state as JSON and sends what is new. Keys that are left out stay as they are. */
import { useState } from 'react';
import { asApiError } from '../lib/api';
import { isEqual, isObject, pretty, readJson, type Json, type JsonObject } from '../lib/json';
import type { Thread } from '../lib/thread';

interface Props {
  thread: Thread;
  state: Json;
  isIdle: boolean;
  onDone: () => void;
}

export function StateEditor({ thread, state, isIdle, onDone }: Props) {
  const [typed, setTyped] = useState(() => pretty(state));
  const [problem, setProblem] = useState('');
  const value = readJson(typed);
  const known: JsonObject = isObject(state) ? state : {};
  const delta = isObject(value) ? Object.fromEntries(Object.entries(value).filter(([key, member]) => !isEqual(member, known[key]))) : {};
  const missing = isObject(value) ? Object.keys(known).filter((key) => !Object.hasOwn(value, key)) : [];
  const count = Object.keys(delta).length;
  const send = () => {
    thread.editState(delta).then(onDone, (error: unknown) => setProblem(asApiError(error).message));
  };
  return (
    <form
      className="editor"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label className="field">
        <span>State as JSON</span>
        <textarea className="mono" rows={18} spellCheck={false} value={typed} aria-invalid={!isObject(value)} onChange={(event) => setTyped(event.target.value)} />
      </label>
      {!isObject(value) && <p className="wrong">The state must be a JSON object.</p>}
      {missing.length > 0 && <p className="note">A key that is left out stays as it is: {missing.join(', ')}.</p>}
      {problem !== '' && (
        <p className="wrong" role="alert">
          {problem}
        </p>
      )}
      <div className="actions">
        <button type="submit" className="primary" disabled={!isIdle || count === 0}>
          Send {count} {count === 1 ? 'key' : 'keys'}
        </button>
        <button type="button" onClick={() => setTyped(pretty(state))}>
          Reset
        </button>
      </div>
    </form>
  );
}
