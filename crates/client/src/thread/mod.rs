//! A conversation with an agent: messages, shared state, and what is open.

mod calls;
mod order;
mod turn;

use std::collections::HashSet;

use antiphon_protocol::{
    AssistantMessage, Context, Event, Interrupt, Message, Replica, StateSnapshot, TokenUsage, Tool,
    ToolCall, Warning,
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::intake::Terminal;
use crate::question::value;
use crate::{Client, ClientTool, Question};

/// A conversation with an agent. It keeps the messages and the shared state as the agent's
/// events make them, and what the agent waits for.
///
/// One run at a time: a [`Run`](crate::Run) borrows its thread.
#[derive(Debug)]
pub struct Thread {
    client: Client,
    id: String,
    replica: Replica,
    /// What the last run stopped to ask.
    interrupts: Vec<Interrupt>,
    /// The calls that the last run left to be answered here.
    pending: Vec<String>,
    tools: Vec<ClientTool>,
    declared: Vec<Tool>,
    context: Vec<Context>,
    forwarded_props: Value,
    /// Messages that were added here since the last request.
    unsent: HashSet<String>,
    /// State that was set here since the last request.
    patch: Map<String, Value>,
    usage: Vec<TokenUsage>,
}

impl Thread {
    pub(crate) fn new(client: Client, id: String) -> Self {
        Self {
            client,
            id,
            replica: Replica::new(Vec::new(), None),
            interrupts: Vec::new(),
            pending: Vec::new(),
            tools: Vec::new(),
            declared: Vec::new(),
            context: Vec::new(),
            forwarded_props: Value::Object(Map::new()),
            unsent: HashSet::new(),
            patch: Map::new(),
            usage: Vec::new(),
        }
    }

    /// Goes on from messages and a state that were kept elsewhere.
    #[must_use]
    pub fn restore(mut self, messages: Vec<Message>, state: Value) -> Self {
        self.replica = Replica::new(messages, state);
        self
    }

    /// Lets the agent call this function. One of the same name is replaced.
    #[must_use]
    pub fn client_tool(mut self, tool: ClientTool) -> Self {
        self.tools.retain(|known| known.name() != tool.name());
        self.tools.push(tool);
        self
    }

    /// Tells the agent of a tool whose calls are answered by hand, with
    /// [`tool_result`](Self::tool_result).
    #[must_use]
    pub fn tool(mut self, tool: Tool) -> Self {
        self.declared.push(tool);
        self
    }

    /// Lets the agent know something. An entry of the same description is replaced.
    pub fn set_context(&mut self, description: impl Into<String>, value: impl Into<String>) {
        let context = Context::new(description, value);
        self.context
            .retain(|known| known.description != context.description);
        self.context.push(context);
    }

    /// Sets what is passed through to the agent with every run.
    pub fn set_forwarded_props(&mut self, props: impl Serialize) {
        self.forwarded_props = value(props);
    }

    /// Returns the thread's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the client that it is a thread of.
    #[must_use]
    pub const fn client(&self) -> &Client {
        &self.client
    }

    /// Returns the messages, in order.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        self.replica.messages()
    }

    /// Returns the shared state.
    #[must_use]
    pub const fn state(&self) -> &Value {
        self.replica.state()
    }

    /// Returns the text that the agent said last, empty if it has said nothing.
    #[must_use]
    pub fn text(&self) -> &str {
        let said = self
            .messages()
            .iter()
            .rev()
            .find_map(|message| match message {
                Message::Assistant(AssistantMessage { content, .. }) => content.as_deref(),
                _ => None,
            });
        said.unwrap_or_default()
    }

    /// Returns what the last run used, one entry per model, where the agent says so.
    #[must_use]
    pub fn usage(&self) -> &[TokenUsage] {
        &self.usage
    }

    /// Returns the questions that are open.
    #[must_use]
    pub fn questions(&self) -> Vec<Question> {
        let question = |interrupt: &Interrupt| {
            let call = interrupt.tool_call_id.as_deref();
            let call = call.and_then(|id| self.call(id)).cloned();
            Question::new(interrupt.clone(), call)
        };
        self.interrupts.iter().map(question).collect()
    }

    /// Returns the calls that wait for a result from here, in call order.
    #[must_use]
    pub fn waiting(&self) -> Vec<ToolCall> {
        let open = self.pending.iter().filter(|id| !self.is_answered(id));
        open.filter_map(|id| self.call(id).cloned()).collect()
    }

    /// Changes the shared state: members that are left out stay, a value replaces its member
    /// whole. The agent learns of it with the next run.
    pub fn set_state(&mut self, patch: impl Serialize) {
        let state = match (value(patch), self.state()) {
            (Value::Object(patch), Value::Object(state)) => {
                let mut state = state.clone();
                for (key, value) in patch {
                    self.patch.insert(key.clone(), value.clone());
                    state.insert(key, value);
                }
                Value::Object(state)
            }
            (state, _) => {
                self.patch = state.as_object().cloned().unwrap_or_default();
                state
            }
        };
        self.replica.apply(&StateSnapshot::new(state).into());
    }

    pub(crate) fn fold(&mut self, event: &Event) -> Vec<Warning> {
        self.replica.apply(event)
    }

    /// Notes what is open after a run has ended. One that failed leaves open what was.
    pub(crate) fn note_end(&mut self, terminal: Option<&Terminal>) {
        match terminal {
            Some(Terminal::Finished { usage, .. }) => {
                self.interrupts = self.replica.interrupts().to_vec();
                self.pending = self.replica.pending_tool_call_ids().to_vec();
                self.usage.clone_from(usage);
            }
            Some(Terminal::Failed { usage, .. }) => self.usage.clone_from(usage),
            None => {}
        }
    }

    /// Returns the call with this id.
    pub(crate) fn call(&self, id: &str) -> Option<&ToolCall> {
        let calls = self.messages().iter().rev().flat_map(Message::tool_calls);
        calls.into_iter().find(|call| call.id == id)
    }

    fn is_answered(&self, call: &str) -> bool {
        let mut messages = self.messages().iter().rev();
        messages.any(|message| matches!(message, Message::Tool(m) if m.tool_call_id == call))
    }
}
