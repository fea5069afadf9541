/* Keeps a card from being answered by a click or key that was meant for something else: for half a
 * second after it appears, or moves, it takes none, and says so with `data-settling`. */
import { useEffect, useRef, type RefObject } from 'react';

const QUIET = 500;

export function useGuard<E extends HTMLElement>(): { card: RefObject<E | null>; guarded: (act: () => void) => () => void } {
  const card = useRef<E>(null);
  const settledAt = useRef(Number.POSITIVE_INFINITY);
  const isSettling = () => performance.now() - settledAt.current < QUIET;
  useEffect(() => {
    let place = '';
    let frame = 0;
    const watch = () => {
      // The place in the conversation: scrolling is the reader's own doing, a shift of the layout is not.
      const now = `${card.current?.offsetTop}/${card.current?.offsetLeft}`;
      if (now !== place) settledAt.current = performance.now();
      place = now;
      card.current?.toggleAttribute('data-settling', isSettling());
      frame = requestAnimationFrame(watch);
    };
    watch();
    return () => cancelAnimationFrame(frame);
  }, []);
  const guarded = (act: () => void) => () => {
    if (!isSettling()) act();
  };
  return { card, guarded };
}
