/* Keeps the newest line in sight while the reader is at the end, and leaves the reader alone elsewhere.
 * `isThere` says whether the scrolling box is on the page already. */
import { useCallback, useEffect, useRef, useState, type RefObject } from 'react';

const NEAR = 48;

export function useStickToEnd(isThere = true): {
  log: RefObject<HTMLDivElement | null>;
  isAtEnd: boolean;
  toEnd: () => void;
} {
  const log = useRef<HTMLDivElement>(null);
  const sticks = useRef(true);
  const [isAtEnd, setAtEnd] = useState(true);

  const toEnd = useCallback(() => {
    sticks.current = true;
    setAtEnd(true);
    if (log.current !== null) log.current.scrollTop = log.current.scrollHeight;
  }, []);

  useEffect(() => {
    const box = log.current;
    const content = box?.firstElementChild;
    if (box === null || content === null || content === undefined) return;
    const follow = () => {
      if (sticks.current) box.scrollTop = box.scrollHeight;
    };
    const look = () => {
      sticks.current = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
      setAtEnd(sticks.current);
    };
    const grown = new ResizeObserver(follow);
    grown.observe(content);
    grown.observe(box);
    box.addEventListener('scroll', look, { passive: true });
    return () => {
      grown.disconnect();
      box.removeEventListener('scroll', look);
    };
  }, [isThere]);
  return { log, isAtEnd, toEnd };
}
