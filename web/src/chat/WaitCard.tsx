/* A thread that waits for another system. Nothing here can answer it. */
import type { ExternalWait } from '../lib/questions';
import { label } from '../lib/visible';
import { Icon } from '../ui/Icon';

export function WaitCard({ wait }: { wait: ExternalWait }) {
  return (
    <div className="card waiting" role="status">
      <h3 className="card-title">
        <Icon name="clock" />
        <span>Waiting for another system</span>
        <code className="tag">{label(wait.capability, 60)}</code>
      </h3>
      <p>The conversation goes on by itself as soon as the answer is there. You may close this page meanwhile.</p>
    </div>
  );
}
