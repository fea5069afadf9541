/* Keeps a card from being answered by a click or key that was meant for something else: for half a
 * second after it appears, or moves, it takes none. */
import { useEffect, useRef, type RefObject } from 'react';

const QUIET = 500;

export function useGuard<E extends HTMLElement>(): { card: RefObject<E | null>; guarded: (act: () => void) => () => void } {
  const card = useRef<E>(null);
  const settledAt = useRef(Number.POSITIVE_INFINITY);
  useEffect(() => {
    let place = '';
    let frame = 0;
    const watch = () => {
      // The place in the conversation: scrolling is the reader's own doing, a shift of the layout is not.
      const now = `${card.current?.offsetTop}/${card.current?.offsetLeft}`;
      if (now !== place) settledAt.current = performance.now();
      place = now;
      frame = requestAnimationFrame(watch);
    };
    watch();
    return () => cancelAnimationFrame(frame);
  }, []);
  const guarded = (act: () => void) => () => {
    if (performance.now() - settledAt.current >= QUIET) act();
  };
  return { card, guarded };
}
