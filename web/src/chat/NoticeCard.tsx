/* How a run ended that did not end well, and what can be done. */
import type { Notice } from '../lib/notice';
import { clip, exact } from '../lib/visible';
import { Icon } from '../ui/Icon';

export function NoticeCard({ notice, onRetry }: { notice: Notice; onRetry: () => void }) {
  const { kind, title, message, code } = notice;
  return (
    <div className="card notice" data-kind={kind} role={kind === 'cancelled' ? 'status' : 'alert'}>
      <h3 className="card-title">
        <Icon name={kind === 'cancelled' ? 'stop' : 'alert'} />
        <span>{title}</span>
        {code !== '' && <code className="tag">{exact(clip(code, 60))}</code>}
      </h3>
      {message !== '' && <p className="plain">{exact(clip(message, 2000))}</p>}
      <div className="actions">
        <button type="button" onClick={onRetry}>
          <Icon name="retry" />
          <span>{kind === 'cancelled' ? 'Ask again' : 'Retry'}</span>
        </button>
      </div>
    </div>
  );
}
