/* Copies a text, and says that it did. */
import { useEffect, useState } from 'react';
import { Icon } from './Icon';

export function Copy({ text, what, words }: { text: string | (() => string); what: string; words?: string }) {
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (!isDone) return;
    const timer = setTimeout(() => setDone(false), 1500);
    return () => clearTimeout(timer);
  }, [isDone]);
  const copy = () => {
    const copied = navigator.clipboard?.writeText(typeof text === 'string' ? text : text());
    copied?.then(() => setDone(true), () => undefined);
  };
  return (
    <button type="button" className={words === undefined ? 'quiet icon small' : 'small'} {...(words === undefined && { 'aria-label': isDone ? 'Copied' : `Copy ${what}` })} title={isDone ? 'Copied' : `Copy ${what}`} onClick={copy}>
      <Icon name={isDone ? 'check' : 'copy'} />
      {words !== undefined && <span>{isDone ? 'Copied' : words}</span>}
    </button>
  );
}
