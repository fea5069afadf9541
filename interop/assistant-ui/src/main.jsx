// A chat page as an application with assistant-ui would have it. The address names the AG-UI endpoint: ?url=URL.
import { createRoot } from "react-dom/client";
import { useMemo, useState } from "react";
import { HttpAgent } from "@ag-ui/client";
import {
  AssistantRuntimeProvider,
  ComposerPrimitive,
  MessagePrimitive,
  ThreadPrimitive,
  useAssistantTool,
  useAuiState,
} from "@assistant-ui/react";
import {
  useAgUiInterrupts,
  useAgUiRuntime,
  useAgUiSetState,
  useAgUiState,
  useAgUiSubmitInterruptResponses,
} from "@assistant-ui/react-ag-ui";
import { MarkdownTextPrimitive } from "@assistant-ui/react-markdown";
import remarkGfm from "remark-gfm";

const Text = () => <MarkdownTextPrimitive remarkPlugins={[remarkGfm]} />;
const Reasoning = ({ text }) => <i data-testid="reasoning">{text}</i>;

function Call({ toolName, argsText, result, status }) {
  return <div data-testid={`tool-${toolName}`}>{toolName} [{status?.type}] {argsText} {result !== undefined && `→ ${JSON.stringify(result)}`}</div>;
}

function UserMessage() {
  return <MessagePrimitive.Root><b>User:</b> <MessagePrimitive.Parts /></MessagePrimitive.Root>;
}

function AssistantMessage() {
  return (
    <MessagePrimitive.Root>
      <b>Assistant:</b> <MessagePrimitive.Parts components={{ Text, Reasoning, tools: { Fallback: Call } }} />
      <MessagePrimitive.Error><span data-testid="error">The run failed.</span></MessagePrimitive.Error>
    </MessagePrimitive.Root>
  );
}

function PageTool({ paint }) {
  useAssistantTool({
    toolName: "change_background",
    description: "Change the page's background",
    parameters: { type: "object", properties: { background: { type: "string" } }, required: ["background"] },
    execute: async ({ background }) => {
      paint(background);
      return { ok: true, background };
    },
    render: Call,
  });
  return null;
}

function Question({ interrupt, submit }) {
  const answer = (approved) => submit([{ interruptId: interrupt.id, status: "resolved", payload: { approved } }]);
  return (
    <div data-testid="approval">
      <p>{interrupt.message}</p>
      <button data-testid="approve" onClick={() => answer(true)}>Approve</button>
      <button data-testid="decline" onClick={() => answer(false)}>Decline</button>
    </div>
  );
}

function Side() {
  const interrupts = useAgUiInterrupts();
  const submit = useAgUiSubmitInterruptResponses();
  const state = useAgUiState();
  const setState = useAgUiSetState();
  const isRunning = useAuiState((aui) => aui.thread.isRunning);
  return (
    <aside>
      <button data-testid="setstate" onClick={() => setState((held) => ({ ...held, fromUi: "hello" }))}>Set fromUi</button>
      <p>{isRunning ? "busy" : <span data-testid="idle">idle</span>}</p>
      <pre data-testid="state">{JSON.stringify(state)}</pre>
      {interrupts.map((interrupt) => <Question key={interrupt.id} interrupt={interrupt} submit={submit} />)}
    </aside>
  );
}

function App() {
  const [background, paint] = useState("#fff");
  const agent = useMemo(() => new HttpAgent({ url: new URLSearchParams(location.search).get("url") }), []);
  const runtime = useAgUiRuntime({ agent, showThinking: true, onError: (error) => console.error(error.message) });
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <PageTool paint={paint} />
      <div data-testid="page" style={{ background, display: "grid", gridTemplateColumns: "1fr 320px" }}>
        <ThreadPrimitive.Root>
          <ThreadPrimitive.Viewport style={{ height: "80vh", overflow: "auto" }}>
            <ThreadPrimitive.Messages components={{ UserMessage, AssistantMessage }} />
          </ThreadPrimitive.Viewport>
          <ComposerPrimitive.Root>
            <ComposerPrimitive.Input placeholder="Message" aria-label="Message" />
            <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
          </ComposerPrimitive.Root>
        </ThreadPrimitive.Root>
        <Side />
      </div>
    </AssistantRuntimeProvider>
  );
}

createRoot(document.getElementById("root")).render(<App />);
