/* A thread for as long as it is on the screen. */
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { Thread } from './lib/thread';
import type { View } from './lib/view';

export function useThread(agentName: string, threadId: string): { thread: Thread; view: View } {
  const thread = useMemo(() => new Thread(agentName, threadId), [agentName, threadId]);
  useEffect(() => {
    void thread.open();
    return () => thread.dispose();
  }, [thread]);
  const view = useSyncExternalStore(thread.subscribe, thread.snapshot);
  return { thread, view };
}
