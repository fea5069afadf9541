/* The right side: what the protocol carries, for those who want to see it. */
import { useState, type KeyboardEvent } from 'react';
import type { Thread } from '../lib/thread';
import type { View } from '../lib/view';
import { recall, remember } from '../lib/memory';
import { Boundary } from '../ui/Boundary';
import { AgentPane } from './AgentPane';
import { EventsPane } from './EventsPane';
import { RequestPane } from './RequestPane';
import { StatePane } from './StatePane';
import { TimelinePane } from './TimelinePane';

const TABS = ['State', 'Events', 'Timeline', 'Request', 'Agent'] as const;
type Tab = (typeof TABS)[number];

export function Inspector({ thread, view, isOpen }: { thread: Thread; view: View; isOpen: boolean }) {
  const [tab, setTab] = useState<Tab>(() => TABS.find((name) => name === recall('tab')) ?? 'State');
  const choose = (name: Tab) => {
    remember('tab', name);
    setTab(name);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = TABS[(TABS.indexOf(tab) + step + TABS.length) % TABS.length] ?? tab;
    choose(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <aside className="inspector" id="inspector" aria-label="Inspector" hidden={!isOpen}>
      <div className="tabs" role="tablist" aria-label="Inspector" onKeyDown={onKeyDown}>
        {TABS.map((name) => (
          <button key={name} type="button" role="tab" id={`tab-${name}`} aria-selected={name === tab} aria-controls="pane" tabIndex={name === tab ? 0 : -1} onClick={() => choose(name)}>
            {name}
            {name === 'State' && view.predicted.size > 0 && <span className="mark" title="Predicted" />}
          </button>
        ))}
      </div>
      <div className="pane" role="tabpanel" id="pane" aria-labelledby={`tab-${tab}`} tabIndex={0}>
        {isOpen && (
          <Boundary key={tab} what={tab}>
            <Pane tab={tab} thread={thread} view={view} />
          </Boundary>
        )}
      </div>
    </aside>
  );
}

function Pane({ tab, thread, view }: { tab: Tab; thread: Thread; view: View }) {
  switch (tab) {
    case 'State':
      return <StatePane thread={thread} view={view} />;
    case 'Events':
      return <EventsPane log={view.log} onClear={() => thread.clearLog()} />;
    case 'Timeline':
      return <TimelinePane view={view} />;
    case 'Request':
      return <RequestPane sent={view.sent} />;
    case 'Agent':
      return <AgentPane name={thread.agentName} />;
  }
}
