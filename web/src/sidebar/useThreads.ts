/* The list of threads, read again when a run has ended. */
import { useCallback, useEffect, useState } from 'react';
import { asApiError, deleteThread, listThreads, renameThread, type ThreadSummary } from '../lib/api';

export interface ThreadList {
  threads: ThreadSummary[] | undefined;
  hasMore: boolean;
  problem: string | undefined;
  more: () => Promise<void>;
  rename: (id: string, title: string) => Promise<void>;
  /** Says whether the thread is gone. */
  remove: (id: string) => Promise<boolean>;
}

export function useThreads(revision: number): ThreadList {
  const [threads, setThreads] = useState<ThreadSummary[]>();
  const [next, setNext] = useState<string>();
  const [problem, setProblem] = useState<string>();

  useEffect(() => {
    let isCurrent = true;
    listThreads().then(
      (page) => {
        if (!isCurrent) return;
        setThreads(page.threads);
        setNext(page.next);
        setProblem(undefined);
      },
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [revision]);

  const attempt = useCallback(async (act: () => Promise<void>): Promise<boolean> => {
    try {
      await act();
      setProblem(undefined);
      return true;
    } catch (error) {
      setProblem(asApiError(error).message);
      return false;
    }
  }, []);

  const more = async () => {
    await attempt(async () => {
      const page = await listThreads(next);
      setThreads((known = []) => [...known, ...page.threads.filter(({ id }) => !known.some((thread) => thread.id === id))]);
      setNext(page.next);
    });
  };
  const rename = async (id: string, title: string) => {
    await attempt(async () => {
      await renameThread(id, title);
      setThreads((known) => known?.map((thread) => (thread.id === id ? { ...thread, title } : thread)));
    });
  };
  const remove = (id: string) =>
    attempt(async () => {
      await deleteThread(id);
      setThreads((known) => known?.filter((thread) => thread.id !== id));
    });
  return { threads, hasMore: next !== undefined, problem, more, rename, remove };
}
