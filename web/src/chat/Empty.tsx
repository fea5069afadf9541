/* A conversation that has not begun: what the agent is for, and ways to begin. */
import { suggestions } from '../lib/suggestions';
import { label, prose } from '../lib/visible';

export function Empty({ agentName, description, onPick }: { agentName: string; description: string; onPick: (text: string) => void }) {
  const ideas = suggestions(agentName);
  return (
    <section className="empty">
      <h3>{label(agentName.replaceAll('_', ' '), 60)}</h3>
      <p>{prose(description) || 'Say something to begin.'}</p>
      {ideas.length > 0 && (
        <ul>
          {ideas.map((idea) => (
            <li key={idea}>
              <button type="button" onClick={() => onPick(idea)}>
                {idea}
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
