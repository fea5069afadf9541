/* One thread in the list. Renaming happens in place; deleting asks once more in the same place. */
import { useState, type KeyboardEvent } from 'react';
import type { ThreadSummary } from '../lib/api';
import { ago } from '../lib/format';
import { label } from '../lib/visible';
import { Icon } from '../ui/Icon';

interface Props {
  thread: ThreadSummary;
  agent: string | undefined;
  isCurrent: boolean;
  now: number;
  onOpen: () => void;
  onRename: (title: string) => void;
  onDelete: () => void;
}

export function ThreadRow({ thread, agent, isCurrent, now, onOpen, onRename, onDelete }: Props) {
  const [mode, setMode] = useState<'show' | 'rename' | 'delete'>('show');
  const title = label(thread.title, 80) || 'Untitled';
  const leave = (event: KeyboardEvent) => {
    if (event.key === 'Escape') setMode('show');
  };
  if (mode === 'rename') {
    return (
      <li className="thread" data-current={isCurrent}>
        <form
          className="thread-edit"
          onSubmit={(event) => {
            event.preventDefault();
            const input = event.currentTarget.elements.namedItem('title');
            const renamed = input instanceof HTMLInputElement ? input.value.trim() : '';
            if (renamed !== '') onRename(renamed);
            setMode('show');
          }}
        >
          <input name="title" aria-label="Title" defaultValue={thread.title} maxLength={200} autoFocus onKeyDown={leave} onBlur={() => setMode('show')} />
        </form>
      </li>
    );
  }
  if (mode === 'delete') {
    return (
      <li className="thread" data-current={isCurrent} onKeyDown={leave}>
        <p className="thread-sure">Delete “{label(thread.title, 30) || 'Untitled'}”?</p>
        <div className="thread-edit">
          <button type="button" className="danger small" onClick={onDelete}>
            Delete
          </button>
          <button type="button" className="small" autoFocus onClick={() => setMode('show')}>
            Keep
          </button>
        </div>
      </li>
    );
  }
  return (
    <li className="thread" data-current={isCurrent}>
      <button type="button" className="thread-open" aria-current={isCurrent ? 'page' : undefined} onClick={onOpen}>
        <span className="thread-title">{title}</span>
        <span className="thread-meta">
          {agent !== undefined && <span>{label(agent, 30)}</span>}
          <span>{ago(thread.updatedAt, now)}</span>
        </span>
      </button>
      <span className="thread-tools">
        <button type="button" className="quiet icon small" aria-label={`Rename ${title}`} onClick={() => setMode('rename')}>
          <Icon name="pencil" />
        </button>
        <button type="button" className="quiet icon small" aria-label={`Delete ${title}`} onClick={() => setMode('delete')}>
          <Icon name="trash" />
        </button>
      </span>
    </li>
  );
}
