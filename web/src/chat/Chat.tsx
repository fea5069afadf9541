/* The middle of the page: what was said, what is asked, and where to write. */
import { useEffect, useRef, useState } from 'react';
import type { Thread } from '../lib/thread';
import type { View } from '../lib/view';
import { PageCallCard } from '../cards/PageCallCard';
import { QuestionCard } from '../cards/QuestionCard';
import { Boundary } from '../ui/Boundary';
import { Icon } from '../ui/Icon';
import { TokenForm } from '../ui/TokenForm';
import { Composer } from './Composer';
import { Empty } from './Empty';
import { ItemView } from './ItemView';
import { NoticeCard } from './NoticeCard';
import { WaitCard } from './WaitCard';
import { useStickToEnd } from '../ui/useStickToEnd';

export function Chat({ thread, view, description }: { thread: Thread; view: View; description: string }) {
  const { log, isAtEnd, toEnd } = useStickToEnd();
  const [draft, setDraft] = useState('');
  const main = useRef<HTMLElement>(null);
  const { items, questions, calls, external, notice, phase, background, returned } = view;
  const last = items.length - 1;

  useEffect(() => {
    if (returned === undefined) return;
    setDraft((now) => (now === '' ? returned : now));
    thread.takeReturned();
  }, [returned, thread]);

  useEffect(() => {
    if (main.current !== null) main.current.style.background = background ?? '';
  }, [background]);

  const send = (text: string) => {
    setDraft('');
    toEnd();
    void thread.send(text);
  };
  const steer = (text: string) => {
    setDraft('');
    toEnd();
    void thread.steer(text);
  };
  const isEmpty = items.length === 0 && phase !== 'opening' && questions.length === 0 && notice === undefined;

  return (
    <main className="chat" ref={main} data-painted={background !== undefined}>
      <h2 className="hidden">Conversation</h2>
      <div className="log" ref={log} role="log" aria-label="Conversation" aria-busy={phase === 'running'} tabIndex={0}>
        <div className="column">
          {isEmpty && <Empty agentName={thread.agentName} description={description} onPick={send} />}
          {items.map((item, index) => (
            <Boundary key={`${item.kind}:${item.id}`} what="This message">
              <ItemView item={item} duration={item.kind === 'tool' ? view.durations.get(item.id) : undefined} isLive={phase === 'running' && index === last} />
            </Boundary>
          ))}
          {phase === 'running' && items[last]?.kind === 'user' && <p className="thinking" aria-hidden="true"><i /><i /><i /></p>}
          {calls.map((call) => (
            <PageCallCard key={call.toolCallId} call={call} onResult={(result) => void thread.answerCall(call.toolCallId, result)} />
          ))}
          {questions.map((question, index) => (
            <QuestionCard key={question.id} question={question} given={view.given.get(question.id)} isFirst={index === 0} isSending={phase === 'running'} others={questions.length - 1} thread={thread} />
          ))}
          {external.map((wait) => (
            <WaitCard key={wait.id} wait={wait} />
          ))}
          {view.needsToken && <TokenForm />}
          {notice !== undefined && phase === 'idle' && <NoticeCard notice={notice} onRetry={() => void thread.retry()} />}
        </div>
      </div>
      {!isAtEnd && (
        <button type="button" className="to-end" onClick={toEnd}>
          <Icon name="down" /> <span>Latest</span>
        </button>
      )}
      <Composer draft={draft} onDraft={setDraft} view={view} onSend={send} onStop={() => void thread.stop()} onSteer={steer} />
    </main>
  );
}
