/* The page: threads on the left, the conversation in the middle, the inspector on the right. */
import { randomUUID } from '@ag-ui/client';
import { useCallback, useEffect } from 'react';
import { Chat } from './chat/Chat';
import { Header } from './Header';
import { Inspector } from './inspector/Inspector';
import { placeHash } from './lib/route';
import { label } from './lib/visible';
import { Threads } from './sidebar/Threads';
import { Splash } from './ui/Splash';
import { useAgents } from './useAgents';
import { usePanels } from './usePanels';
import { usePlace } from './usePlace';
import { useThread } from './useThread';

export function App() {
  const { agents, error } = useAgents();
  const place = usePlace(agents);
  if (place === undefined) return <Splash error={error} isEmpty={agents?.length === 0} />;
  return <Page key={`${place.agent}/${place.thread}`} agentName={place.agent} threadId={place.thread} agents={agents ?? []} />;
}

interface PageProps {
  agentName: string;
  threadId: string;
  agents: readonly { name: string; description: string }[];
}

function Page({ agentName, threadId, agents }: PageProps) {
  const { thread, view } = useThread(agentName, threadId);
  const panels = usePanels();
  const go = useCallback((agent: string, id: string) => {
    location.hash = placeHash(agent, id);
  }, []);

  const isAsked = view.questions.length + view.calls.length > 0;
  useEffect(() => {
    document.title = `${isAsked ? '(!) ' : ''}${label(agentName, 40)} – Antiphon`;
  }, [agentName, isAsked]);

  return (
    <div className="app" data-threads={panels.threads} data-inspector={panels.inspector}>
      <Header agentName={agentName} agents={agents} view={view} panels={panels} onAgent={(name) => go(name, randomUUID())} />
      <Threads
        isOpen={panels.threads}
        current={threadId}
        revision={view.ended}
        agentName={agentName}
        onOpen={(agent, id) => {
          panels.narrow('threads');
          go(agent, id);
        }}
      />
      <Chat thread={thread} view={view} description={agents.find(({ name }) => name === agentName)?.description ?? ''} />
      <Inspector thread={thread} view={view} isOpen={panels.inspector} />
    </div>
  );
}
