/* The agent and thread that the address names. An address without them gets the agent that was used
 * last, or the server's default, and a new thread. */
import { randomUUID } from '@ag-ui/client';
import { useEffect, useState } from 'react';
import type { AgentSummary } from './lib/api';
import { recall, remember } from './lib/memory';
import { placeHash, readPlace } from './lib/route';

export function usePlace(agents: readonly AgentSummary[] | undefined): { agent: string; thread: string } | undefined {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = () => setHash(location.hash);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);

  const { agent, thread } = readPlace(hash);
  useEffect(() => {
    if (agent !== undefined && thread !== undefined) {
      remember('agent', agent);
      return;
    }
    if (agents === undefined || agents.length === 0) return;
    const last = agent ?? recall('agent');
    const known = agents.find(({ name }) => name === last) ?? agents.find(({ isDefault }) => isDefault) ?? agents[0];
    if (known === undefined) return;
    history.replaceState(null, '', placeHash(known.name, randomUUID()));
    setHash(location.hash);
  }, [agents, agent, thread]);
  return agent === undefined || thread === undefined ? undefined : { agent, thread };
}
