/* A form made of the answer's schema. Its inputs are not React's: what is typed stays in the inputs.
 *
 * In a private form it is read once, when the answer goes out, and wiped in the same moment; it is in no
 * state, no storage and no log of this page. */
import { useEffect, useId, useRef, useState, type FormEvent } from 'react';
import type { Json } from '../lib/json';
import { fields, payload, valueOf, type Field } from '../lib/schema';
import type { Controls } from './controls';
import { FieldView } from './FieldView';

export function QuestionForm({ question, isOver, isDone, guarded, answer }: Controls) {
  const form = useRef<HTMLFormElement>(null);
  const prefix = useId();
  const [problem, setProblem] = useState('');
  const isPrivate = question.kind === 'private';
  const shown = fields(question.schema);

  useEffect(() => {
    const element = form.current;
    // A form that leaves the page takes nothing with it.
    return () => element?.reset();
  }, []);

  const read = (): Json => payload(shown.map((field, index) => [field, typed(form.current, field, `${prefix}${index}`)]));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    try {
      if (isPrivate) {
        read();
        answer('answered', {
          collect: () => {
            const value = read();
            form.current?.reset();
            return value;
          },
        });
      } else answer('answered', { payload: read() });
      setProblem('');
    } catch (error) {
      setProblem(error instanceof Error ? error.message : 'This answer can’t be read.');
    }
  };
  return (
    <form ref={form} autoComplete="off" hidden={isDone} onSubmit={submit}>
      {shown.map((field, index) => (
        <FieldView key={field.name ?? ''} id={`${prefix}${index}`} field={field} isPrivate={isPrivate} />
      ))}
      {isPrivate && <p className="note">Goes to the server’s handler only. It is not shown to the model, and is kept neither in the conversation nor in this page.</p>}
      {problem !== '' && (
        <p className="wrong" role="alert">
          {problem}
        </p>
      )}
      <div className="actions">
        <button type="submit" className="primary" disabled={isOver}>
          {isPrivate ? 'Send privately' : 'Send answer'}
        </button>
        <button
          type="button"
          onClick={guarded(() => {
            form.current?.reset();
            answer('cancelled');
          })}
        >
          Cancel
        </button>
      </div>
    </form>
  );
}

function typed(form: HTMLFormElement | null, field: Field, id: string): Json | undefined {
  const input = form?.elements.namedItem(id);
  if (input instanceof HTMLInputElement) return valueOf(field, input.value, input.checked);
  if (input instanceof HTMLTextAreaElement || input instanceof HTMLSelectElement) return valueOf(field, input.value, false);
  return undefined;
}
