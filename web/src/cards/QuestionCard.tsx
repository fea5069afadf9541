/* A question that the agent's run ended with. The kind decides how it is answered; the frame around it,
 * with what is asked, about which call, and until when, is the same for all. */
import { useEffect, useId, useRef } from 'react';
import type { Question } from '../lib/questions';
import type { Thread } from '../lib/thread';
import type { Given } from '../lib/view';
import { clip, exact, label } from '../lib/visible';
import { Code } from '../ui/Code';
import { Icon } from '../ui/Icon';
import { useGuard } from '../ui/useGuard';
import { Approval } from './Approval';
import { Deadline, useIsOver } from './Deadline';
import { Hand } from './PageCallCard';
import { QuestionForm } from './QuestionForm';

interface Props {
  question: Question;
  given: Given | undefined;
  /** The first of several takes the focus. */
  isFirst: boolean;
  isSending: boolean;
  others: number;
  thread: Thread;
}

const TITLES: Record<Question['kind'], string> = {
  approval: 'Approval needed',
  confirmation: 'Please confirm',
  form: 'The agent has a question',
  private: 'Private input',
  client_tool: 'A tool that runs on your side',
  outcome_unknown: 'What became of this call?',
};

export function QuestionCard({ question, given, isFirst, isSending, others, thread }: Props) {
  const id = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  const { card, guarded } = useGuard<HTMLDivElement>();
  const isOver = useIsOver(question.expiresAt);
  useEffect(() => {
    if (!isFirst) return;
    heading.current?.focus({ preventScroll: true });
    // After the conversation has followed to its end, the first of several questions may be above it.
    const timer = setTimeout(() => card.current?.scrollIntoView({ block: 'nearest' }), 50);
    return () => clearTimeout(timer);
  }, [isFirst, card]);

  const answer = (verdict: Given['verdict'], rest: { payload?: Parameters<typeof thread.answerCall>[1]; collect?: () => Parameters<typeof thread.answerCall>[1] } = {}) =>
    void thread.answer(question.id, { verdict, ...rest });
  const controls = { question, isOver, guarded, answer, isDone: given !== undefined || isSending };
  const isForm = question.kind === 'form' || question.kind === 'private' || question.kind === 'outcome_unknown';
  return (
    <div className="card question" role="group" ref={card} aria-labelledby={id} data-kind={question.kind} data-given={given?.verdict}>
      <h3 className="card-title" id={id} ref={heading} tabIndex={-1}>
        <Icon name={question.kind === 'private' ? 'lock' : 'hand'} />
        <span>{TITLES[question.kind]}</span>
        <Deadline at={question.expiresAt} />
      </h3>
      {question.message !== '' && <p className="asked plain">{exact(clip(question.message, 4000))}</p>}
      {question.tool !== undefined && (
        <dl className="facts">
          <dt>Tool</dt>
          <dd>
            <code>{label(question.tool, 200)}</code>
          </dd>
        </dl>
      )}
      {question.arguments !== undefined && question.kind !== 'private' && <Code value={question.arguments} label="Arguments" />}
      {isForm ? (
        <QuestionForm {...controls} />
      ) : question.kind === 'client_tool' ? (
        <Hand {...controls} onResult={(payload) => answer('answered', { payload })} />
      ) : (
        <Approval {...controls} />
      )}
      {given !== undefined && (
        <p className="given" role="status">
          <strong>{WORDS[given.verdict]}.</strong> {isSending ? 'Sending…' : others > 0 ? 'Goes out when the other questions are answered, too.' : ''}
          {!isSending && (
            <button type="button" className="quiet small" onClick={() => thread.takeBack(question.id)}>
              Change
            </button>
          )}
        </p>
      )}
    </div>
  );
}

const WORDS: Record<Given['verdict'], string> = { approved: 'Approved', declined: 'Declined', cancelled: 'Cancelled', answered: 'Answered' };
