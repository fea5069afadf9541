/* The agents of the server; asks again until it answers. */
import { useEffect, useState } from 'react';
import { asApiError, listAgents, type AgentSummary, type ApiError } from './lib/api';

export function useAgents(): { agents: AgentSummary[] | undefined; error: ApiError | undefined } {
  const [agents, setAgents] = useState<AgentSummary[]>();
  const [error, setError] = useState<ApiError>();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = () => {
      listAgents().then(
        (found) => {
          setAgents(found);
          setError(undefined);
        },
        (reason: unknown) => {
          setError(asApiError(reason));
          timer = setTimeout(ask, 1500);
        },
      );
    };
    ask();
    return () => clearTimeout(timer);
  }, []);
  return { agents, error };
}
