/* A value as text: JSON printed over several lines, clipped where it is huge, with a way to copy it. */
import { useState } from 'react';
import { jsonOrText, pretty, type Json } from '../lib/json';
import { exact } from '../lib/visible';
import { Copy } from './Copy';

const CLIPPED = 8000;

export function Code({ value, label }: { value: Json | undefined; label: string }) {
  const [isWhole, setWhole] = useState(false);
  const text = typeof value === 'string' ? asText(jsonOrText(value)) : pretty(value);
  const isClipped = !isWhole && text.length > CLIPPED;
  return (
    <div className="code">
      <pre tabIndex={0} aria-label={label}>
        {exact(isClipped ? `${text.slice(0, CLIPPED)}…` : text)}
      </pre>
      <div className="code-actions">
        {isClipped && (
          <button type="button" className="quiet small" onClick={() => setWhole(true)}>
            Show all {text.length.toLocaleString('en')} characters
          </button>
        )}
        <Copy text={text} what={label} />
      </div>
    </div>
  );
}

function asText(value: Json): string {
  return typeof value === 'string' ? value : pretty(value);
}
