/* The time, told again every so often while somebody asks for it. */
import { useEffect, useState } from 'react';

export function useNow(every: number, isNeeded = true): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isNeeded) return;
    const timer = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [every, isNeeded]);
  return now;
}
