/* Asks for the token that a server wants. It stays in this tab. */
import { useRef } from 'react';
import { setToken } from '../lib/token';

export function TokenForm() {
  const input = useRef<HTMLInputElement>(null);
  return (
    <form
      className="card question"
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        setToken(input.current?.value ?? '');
        if (input.current !== null) input.current.value = '';
        location.reload();
      }}
    >
      <h2 className="card-title">This server wants an access token</h2>
      <label className="field">
        <span>Token</span>
        <input ref={input} type="password" autoComplete="off" spellCheck={false} required />
      </label>
      <div className="actions">
        <button type="submit" className="primary">
          Continue
        </button>
      </div>
    </form>
  );
}
