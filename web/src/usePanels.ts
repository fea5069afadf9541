/* Which side panels are open, remembered. On a narrow screen a panel lies over the conversation and
 * begins closed. */
import { useCallback, useEffect, useState } from 'react';
import { isObject } from './lib/json';
import { recall, remember } from './lib/memory';

export type PanelName = 'threads' | 'inspector';

export interface Panels {
  threads: boolean;
  inspector: boolean;
  toggle: (name: PanelName) => void;
  /** Closes a panel where it covers the conversation. */
  narrow: (name: PanelName) => void;
}

const NARROW = '(max-width: 60rem)';
const isNarrow = () => matchMedia(NARROW).matches;

function initial(): Record<PanelName, boolean> {
  if (isNarrow()) return { threads: false, inspector: false };
  const kept = recall('panels');
  const panel = (name: PanelName) => !(isObject(kept) && kept[name] === false);
  return { threads: panel('threads'), inspector: panel('inspector') };
}

export function usePanels(): Panels {
  const [open, setOpen] = useState(initial);
  useEffect(() => {
    const query = matchMedia(NARROW);
    const change = () => setOpen(initial());
    query.addEventListener('change', change);
    const close = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && isNarrow()) setOpen({ threads: false, inspector: false });
    };
    addEventListener('keydown', close);
    return () => {
      query.removeEventListener('change', change);
      removeEventListener('keydown', close);
    };
  }, []);
  const toggle = useCallback((name: PanelName) => {
    setOpen((before) => {
      const other: PanelName = name === 'threads' ? 'inspector' : 'threads';
      const after = { ...before, [name]: !before[name] };
      if (isNarrow() && after[name]) after[other] = false;
      if (!isNarrow()) remember('panels', after);
      return after;
    });
  }, []);
  const narrow = useCallback((name: PanelName) => {
    if (isNarrow()) setOpen((before) => ({ ...before, [name]: false }));
  }, []);
  return { ...open, toggle, narrow };
}
