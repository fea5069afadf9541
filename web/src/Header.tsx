/* The bar above: where one is, how it goes, and what is shown beside it. */
import type { View } from './lib/view';
import { label } from './lib/visible';
import { Icon } from './ui/Icon';
import type { Panels } from './usePanels';
import { useTheme } from './useTheme';

interface Props {
  agentName: string;
  agents: readonly { name: string }[];
  view: View;
  panels: Panels;
  onAgent: (name: string) => void;
}

export function Header({ agentName, agents, view, panels, onAgent }: Props) {
  const { theme, toggle } = useTheme();
  const names = agents.map(({ name }) => name);
  const shown = names.includes(agentName) ? names : [agentName, ...names];
  return (
    <header className="header">
      <button type="button" className="quiet icon" aria-expanded={panels.threads} aria-controls="threads" aria-label="Threads" onClick={() => panels.toggle('threads')}>
        <Icon name="sidebar" />
      </button>
      <h1 className="brand">
        <Icon name="mark" />
        <span>Antiphon</span>
      </h1>
      <label className="agent-choice">
        <span className="hidden">Agent</span>
        <select value={agentName} onChange={(event) => onAgent(event.target.value)}>
          {shown.map((name) => (
            <option key={name} value={name}>
              {label(name, 40)}
            </option>
          ))}
        </select>
        <Icon name="chevron" />
      </label>
      <span className="grow" />
      <Status view={view} />
      <button type="button" className="quiet icon" aria-label={theme === 'dark' ? 'Use the light theme' : 'Use the dark theme'} onClick={toggle}>
        <Icon name={theme === 'dark' ? 'sun' : 'moon'} />
      </button>
      <button type="button" className="quiet icon" aria-expanded={panels.inspector} aria-controls="inspector" aria-label="Inspector" onClick={() => panels.toggle('inspector')}>
        <Icon name="inspector" />
      </button>
    </header>
  );
}

function Status({ view }: { view: View }) {
  const [tone, words] = status(view);
  return (
    <p className="status" role="status" data-tone={tone}>
      <span className="dot" aria-hidden="true" />
      <span>{words}</span>
    </p>
  );
}

function status({ phase, isAway, isStopping, questions, calls, external, notice }: View): [string, string] {
  if (isAway) return ['bad', 'Reconnecting…'];
  if (phase === 'opening') return ['busy', 'Opening…'];
  if (phase === 'running') return ['busy', isStopping ? 'Stopping…' : 'Running…'];
  if (questions.length + calls.length > 0) return ['wait', 'Waiting for you'];
  if (external.length > 0) return ['wait', 'Waiting for another system'];
  if (notice?.kind === 'error' || notice?.kind === 'cut') return ['bad', 'Failed'];
  return ['good', 'Ready'];
}
