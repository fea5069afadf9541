import './lib/jitless';
import { createRoot } from 'react-dom/client';
import { App } from './App';
import { Boundary } from './ui/Boundary';
import { takeToken } from './lib/token';
import { startTheme } from './useTheme';
import './styles/base.css';
import './styles/layout.css';
import './styles/chat.css';
import './styles/cards.css';
import './styles/inspector.css';

takeToken();
startTheme();

// The protocol client lets a cut body reject once more beside the run that already says so.
addEventListener('unhandledrejection', (event) => {
  const reason: unknown = event.reason;
  if (reason instanceof Error && (reason.name === 'AbortError' || reason.message === 'network error')) event.preventDefault();
});

const root = document.getElementById('root');
if (root !== null) createRoot(root).render(
    <Boundary what="The page">
      <App />
    </Boundary>,
  );
