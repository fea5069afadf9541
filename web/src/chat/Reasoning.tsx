/* What the model thought: folded, with its last line in sight while it thinks. */
import { clip, prose } from '../lib/visible';
import { LongText } from './LongText';

export function Reasoning({ text, isLive }: { text: string; isLive: boolean }) {
  const lastLine = text.trimEnd().split('\n').at(-1) ?? '';
  return (
    <details className="reasoning">
      <summary>
        <span>{isLive ? 'Thinking' : 'Thought'}</span>
        {isLive && <span className="reasoning-line">{prose(clip(lastLine, 160))}</span>}
      </summary>
      <div className="reasoning-text" dir="auto">
        <LongText text={prose(text)} />
      </div>
    </details>
  );
}
