/* A haiku as a card, from the arguments of the page's tool `generate_haiku`. */
import { useEffect, useRef } from 'react';
import { backgroundOf } from '../lib/background';
import { isObject, type Json } from '../lib/json';
import { label } from '../lib/visible';

export function Haiku({ value }: { value: Json | undefined }) {
  const card = useRef<HTMLDivElement>(null);
  const haiku = isObject(value) ? value : {};
  const gradient = backgroundOf(haiku['gradient']);
  useEffect(() => {
    card.current?.style.setProperty('--paint', gradient ?? 'none');
  }, [gradient]);
  const japanese = lines(haiku['japanese']);
  const english = lines(haiku['english']);
  if (japanese.length === 0) return null;
  return (
    <div className="haiku" role="group" ref={card} aria-label="Haiku">
      {japanese.map((line, index) => (
        <p key={index}>
          <span lang="ja">{line}</span>
          <span>{english[index]}</span>
        </p>
      ))}
    </div>
  );
}

function lines(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((line) => typeof line === 'string').slice(0, 3).map((line) => label(line, 80)) : [];
}
