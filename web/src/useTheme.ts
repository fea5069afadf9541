/* Light or dark: the system's choice until the reader makes one. */
import { useEffect, useState } from 'react';
import { recall, remember } from './lib/memory';

export type Theme = 'light' | 'dark';

/** The theme to begin with, set before anything is drawn. */
export function startTheme(): void {
  document.documentElement.dataset['theme'] = chosen();
}

function chosen(): Theme {
  const kept = recall('theme');
  if (kept === 'light' || kept === 'dark') return kept;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

export function useTheme(): { theme: Theme; toggle: () => void } {
  const [theme, setTheme] = useState(chosen);
  useEffect(() => {
    document.documentElement.dataset['theme'] = theme;
  }, [theme]);
  const toggle = () => {
    const other = theme === 'dark' ? 'light' : 'dark';
    remember('theme', other);
    setTheme(other);
  };
  return { theme, toggle };
}
