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
    const whole = typeof text === 'string' ? text : text();
    const copied = navigator.clipboard === undefined ? copyBySelection(whole) : navigator.clipboard.writeText(whole);
    copied.then(() => setDone(true), () => undefined);
  };
  return (
    <button type="button" className={words === undefined ? 'quiet icon small' : 'small'} {...(words === undefined && { 'aria-label': isDone ? 'Copied' : `Copy ${what}` })} title={isDone ? 'Copied' : `Copy ${what}`} onClick={copy}>
      <Icon name={isDone ? 'check' : 'copy'} />
      {words !== undefined && <span>{isDone ? 'Copied' : words}</span>}
    </button>
  );
}

/** Browsers have no clipboard for pages that came over plain HTTP from another machine. */
async function copyBySelection(text: string): Promise<void> {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'hidden';
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  if (!isCopied) throw new Error('the browser does not copy');
}
