/* Every event as it came, with a filter, and raw where one looks closer. */
import { memo, useState } from 'react';
import { family, filtered, gist, type Logged } from '../lib/wire';
import { label } from '../lib/visible';
import { Code } from '../ui/Code';
import { Copy } from '../ui/Copy';
import { useStickToEnd } from '../ui/useStickToEnd';

const FAMILIES = ['run', 'text', 'tool', 'state', 'reasoning', 'other'] as const;
const SHOWN = 300;

export function EventsPane({ log, onClear }: { log: readonly Logged[]; onClear: () => void }) {
  const [families, setFamilies] = useState<ReadonlySet<string>>(new Set());
  const [words, setWords] = useState('');
  const { log: box } = useStickToEnd(log.length > 0);
  const found = filtered([...log], families, words);
  const toggle = (name: string) => {
    const after = new Set(families);
    if (!after.delete(name)) after.add(name);
    setFamilies(after);
  };
  const start = log[0]?.at ?? 0;
  return (
    <>
      <div className="bar">
        <label className="search">
          <span className="hidden">Filter events</span>
          <input type="search" placeholder="Filter: type, id, text" value={words} onChange={(event) => setWords(event.target.value)} />
        </label>
        <Copy what="the events as JSON lines" text={() => found.map(({ event }) => JSON.stringify(event)).join('\n')} />
        <button type="button" className="quiet small" onClick={onClear} disabled={log.length === 0}>
          Clear
        </button>
      </div>
      <div className="chips" role="group" aria-label="Kinds of events">
        {FAMILIES.map((name) => (
          <button key={name} type="button" className="chip" data-family={name} aria-pressed={families.has(name)} onClick={() => toggle(name)}>
            {name} <span>{log.filter(({ event }) => family(event.type) === name).length}</span>
          </button>
        ))}
      </div>
      {found.length === 0 ? (
        <p className="nothing">{log.length === 0 ? 'No events yet. They appear here as they arrive.' : 'No event fits the filter.'}</p>
      ) : (
        <div className="events" ref={box} tabIndex={0} role="group" aria-label="Events">
          <ol>
            {found.length > SHOWN && <li className="note">The newest {SHOWN} of {found.length.toLocaleString('en')}.</li>}
            {found.slice(-SHOWN).map((entry) => (
              <EventRow key={entry.seq} entry={entry} start={start} />
            ))}
          </ol>
        </div>
      )}
    </>
  );
}

const EventRow = memo(function EventRow({ entry, start }: { entry: Logged; start: number }) {
  const [isOpen, setOpen] = useState(false);
  const { event, at } = entry;
  return (
    <li data-family={family(event.type)}>
      <button type="button" className="event" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span className="event-time">{((at - start) / 1000).toFixed(3)}</span>
        <span className="event-type">{label(event.type, 60)}</span>
        <span className="event-gist">{label(gist(event), 120)}</span>
      </button>
      {isOpen && <Code value={event} label={event.type} />}
    </li>
  );
});
