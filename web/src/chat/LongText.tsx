/* Plain text; of a huge one only the beginning, until more is asked for. */
import { useState } from 'react';
import { clip } from '../lib/visible';

const CLIPPED = 20_000;

export function LongText({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false);
  const isClipped = !isWhole && text.length > CLIPPED;
  return (
    <>
      <span className="plain">{isClipped ? clip(text, CLIPPED) : text}</span>
      {isClipped && (
        <button type="button" className="quiet small" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString('en')} characters
        </button>
      )}
    </>
  );
}
