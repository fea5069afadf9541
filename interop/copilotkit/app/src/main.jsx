// A chat page as an application with CopilotKit v2 would have it. The address says how it reaches the agent:
//   ?runtime=URL   through a server that speaks the runtime's wire
//   ?direct=URL    straight to an AG-UI endpoint
//   (neither)      through CopilotKit's own Node runtime beside the page
// and ?thread=ID which conversation it opens.
import { createRoot } from "react-dom/client";
import { useState } from "react";
import { z } from "zod";
import {
  CopilotChat,
  CopilotKitProvider,
  HttpAgent,
  useAgent,
  useAgentContext,
  useDefaultRenderTool,
  useFrontendTool,
  useInterrupt,
} from "@copilotkit/react-core/v2";
import "@copilotkit/react-core/v2/styles.css";

const asked = new URLSearchParams(location.search);
const direct = asked.get("direct");

function Question({ interrupt, event, resolve, cancel }) {
  return (
    <div data-testid="approval">
      <p>{interrupt?.message ?? JSON.stringify(event.value)}</p>
      <button data-testid="approve" onClick={() => resolve({ approved: true })}>Approve</button>
      <button data-testid="decline" onClick={() => resolve({ approved: false })}>Decline</button>
      <button data-testid="cancel" onClick={() => cancel()}>Cancel</button>
    </div>
  );
}

function SharedState() {
  const { agent } = useAgent();
  return (
    <aside>
      <button data-testid="setstate" onClick={() => agent.setState({ ...agent.state, fromUi: "hello" })}>Set fromUi</button>
      <p>{agent.isRunning ? "busy" : <span data-testid="idle">idle</span>}</p>
      <pre data-testid="state">{JSON.stringify(agent.state)}</pre>
    </aside>
  );
}

function Call({ name, status, args, parameters, result }) {
  return <div data-testid={`tool-${name}`}>{name} [{status}] {JSON.stringify(parameters ?? args)} {result && `→ ${result}`}</div>;
}

function App() {
  const [background, setBackground] = useState("#fff");
  useInterrupt({ render: (props) => <Question {...props} /> });
  useAgentContext({ description: "Current page", value: "The page of the tests" });
  useFrontendTool({
    name: "change_background",
    description: "Change the page's background",
    parameters: z.object({ background: z.string() }),
    handler: async (args) => {
      setBackground(args.background);
      return { ok: true, ...args };
    },
  });
  useDefaultRenderTool({ render: (props) => <Call {...props} /> });
  return (
    <div data-testid="page" style={{ display: "grid", gridTemplateColumns: "1fr 320px", height: "100vh", overflow: "hidden", background }}>
      <div style={{ height: "100vh", overflow: "hidden", minWidth: 0 }}>
        <CopilotChat threadId={asked.get("thread") ?? undefined} />
      </div>
      <SharedState />
    </div>
  );
}

const way = direct
  ? { selfManagedAgents: { default: new HttpAgent({ url: direct }) } }
  : { runtimeUrl: asked.get("runtime") ?? "/api/copilotkit" };
if (asked.has("single")) way.useSingleEndpoint = true;

createRoot(document.getElementById("root")).render(
  <CopilotKitProvider {...way} enableInspector={false}>
    <App />
  </CopilotKitProvider>,
);
