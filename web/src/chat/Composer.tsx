/* Where the person writes. Enter sends, Shift+Enter begins a line; while a question is open it sends
 * nothing, so that no key meant for a message can answer the question. */
import { useEffect, useRef, type KeyboardEvent } from 'react';
import type { View } from '../lib/view';
import { Icon } from '../ui/Icon';

interface Props {
  draft: string;
  onDraft: (draft: string) => void;
  view: View;
  onSend: (text: string) => void;
  onStop: () => void;
  /** Lets go of every question and says this instead. */
  onSteer: (text: string) => void;
}

export function Composer({ draft, onDraft, view, onSend, onStop, onSteer }: Props) {
  const { phase, questions, calls, external, isAway, isStopping } = view;
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // Where there is a real keyboard one can begin to type at once.
    if (matchMedia('(hover: hover)').matches) area.current?.focus();
  }, []);
  const isAsked = questions.length + calls.length > 0;
  const hasText = draft.trim() !== '';
  const maySend = phase === 'idle' && !isAsked && !isAway && external.length === 0 && hasText;
  const maySteer = phase === 'idle' && questions.length > 0 && calls.length === 0 && !isAway && hasText;
  const hint = isAway
    ? 'The server does not answer. The page keeps trying.'
    : isAsked
      ? 'Answer what is asked above first.'
      : external.length > 0
        ? 'The agent waits for another system.'
        : 'Enter sends, Shift + Enter begins a new line';
  const send = () => {
    if (maySend) onSend(draft.trim());
    area.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div className="composer-box">
        <textarea
          ref={area}
          rows={1}
          value={draft}
          aria-label="Message"
          aria-describedby="composer-hint"
          placeholder="Message the agent"
          onChange={(event) => onDraft(event.target.value)}
          onKeyDown={onKeyDown}
        />
        {phase === 'running' ? (
          <button type="button" className="round stop" aria-label={isStopping ? 'Stopping' : 'Stop'} disabled={isStopping} onClick={onStop}>
            <Icon name="stop" />
          </button>
        ) : (
          <button type="submit" className="round primary" aria-label="Send" disabled={!maySend}>
            <Icon name="up" />
          </button>
        )}
      </div>
      <p className="hint" id="composer-hint" data-tone={isAsked || isAway ? 'wait' : 'calm'}>
        {hint}
        {maySteer && (
          <button type="button" className="quiet small" onClick={() => onSteer(draft.trim())}>
            Cancel {questions.length === 1 ? 'the question' : 'the questions'} and send this
          </button>
        )}
      </p>
    </form>
  );
}
