/* The threads of this user: find, open, rename, delete, begin. */
import { randomUUID } from '@ag-ui/client';
import { useEffect, useState } from 'react';
import { agentOf } from '../lib/memory';
import { Icon } from '../ui/Icon';
import { useNow } from '../ui/useNow';
import { ThreadRow } from './ThreadRow';
import { useThreads } from './useThreads';

interface Props {
  isOpen: boolean;
  current: string;
  agentName: string;
  /** Changes when the list may have changed. */
  revision: number;
  onOpen: (agent: string, thread: string) => void;
}

const MOST_SEARCHED = 5000;

export function Threads({ isOpen, current, agentName, revision, onOpen }: Props) {
  const { threads, hasMore, problem, more, rename, remove } = useThreads(revision);
  const [words, setWords] = useState('');
  const now = useNow(60_000);
  const wanted = words.trim().toLowerCase();
  const found = (threads ?? []).filter(({ title, id }) => wanted === '' || `${title} ${id}`.toLowerCase().includes(wanted));
  const count = threads?.length ?? 0;
  useEffect(() => {
    // What is searched for may be further down the list.
    if (wanted !== '' && hasMore && count < MOST_SEARCHED) void more();
  }, [wanted, hasMore, count]);
  const begin = () => onOpen(agentName, randomUUID());
  return (
    <nav className="threads" id="threads" aria-label="Threads" hidden={!isOpen}>
      <button type="button" className="begin" onClick={begin}>
        <Icon name="plus" />
        <span>New conversation</span>
      </button>
      <label className="search">
        <span className="hidden">Search threads</span>
        <Icon name="search" />
        <input type="search" placeholder="Search" value={words} onChange={(event) => setWords(event.target.value)} />
      </label>
      {problem !== undefined && (
        <p className="wrong" role="alert">
          {problem}
        </p>
      )}
      <ul className="thread-list">
        {found.map((thread) => (
          <ThreadRow
            key={thread.id}
            thread={thread}
            agent={thread.agent ?? agentOf(thread.id)}
            isCurrent={thread.id === current}
            now={now}
            onOpen={() => onOpen(thread.agent ?? agentOf(thread.id) ?? agentName, thread.id)}
            onRename={(title) => void rename(thread.id, title)}
            onDelete={() => void remove(thread.id).then((isGone) => isGone && thread.id === current && begin())}
          />
        ))}
      </ul>
      {threads !== undefined && found.length === 0 && (
        <p className="nothing">{wanted === '' ? 'No conversations yet. What you say is kept here.' : 'Nothing found.'}</p>
      )}
      {hasMore && (
        <button type="button" className="quiet small" onClick={() => void more()}>
          Older conversations
        </button>
      )}
    </nav>
  );
}
