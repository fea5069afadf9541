/* Spans as bars over a common time axis. */
import { useLayoutEffect, useRef } from 'react';
import { duration } from '../lib/format';
import type { Span } from '../lib/spans';
import { label } from '../lib/visible';

const WORDS: Record<Span['kind'], string> = {
  run: 'run',
  step: 'step',
  text: 'text',
  reasoning: 'reasoning',
  arguments: 'arguments',
  execution: 'execution',
  subagent: 'subagent',
};

export function Waterfall({ spans, start, end }: { spans: readonly Span[]; start: number; end: number }) {
  const width = end - start;
  return (
    <ol className="waterfall">
      {spans.map((span, index) => (
        <li key={`${span.key}:${index}`} data-kind={span.kind} data-failed={span.failed}>
          <span className="waterfall-name" title={WORDS[span.kind]}>
            {label(span.label, 40)}
            {span.kind === 'arguments' || span.kind === 'execution' ? <small> {WORDS[span.kind]}</small> : null}
          </span>
          <Bar from={(span.start - start) / width} to={((span.end ?? end) - start) / width} />
          <span className="waterfall-time">{duration((span.end ?? end) - span.start)}</span>
        </li>
      ))}
    </ol>
  );
}

function Bar({ from, to }: { from: number; to: number }) {
  const bar = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    bar.current?.style.setProperty('left', `${(from * 100).toFixed(2)}%`);
    bar.current?.style.setProperty('width', `${Math.max(0.6, (to - from) * 100).toFixed(2)}%`);
  }, [from, to]);
  return (
    <span className="waterfall-track" aria-hidden="true">
      <span className="waterfall-bar" ref={bar} />
    </span>
  );
}
