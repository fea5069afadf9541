//! One model call as it streams: the only place where model events become protocol events.

use std::collections::HashSet;
use std::sync::Arc;

use antiphon_model::{Finish, ModelEvent, Usage};
use antiphon_protocol::{
    AssistantMessage, FunctionCall, Message, ReasoningEnd, ReasoningMessage,
    ReasoningMessageContent, ReasoningMessageEnd, ReasoningMessageStart, ReasoningStart,
    StateDelta, TextMessageContent, TextMessageEnd, TextMessageStart, TextRole, TokenUsage,
    ToolCall, ToolCallArgs, ToolCallEnd, ToolCallStart,
};
use antiphon_state::Projection;
use serde_json::Value;

use crate::agent::BuiltAgent;
use crate::clock::Ids;
use crate::emitter::Emitter;

/// What a model call has said so far, with everything that is still open on the wire.
#[derive(Debug)]
pub(crate) struct TurnWriter {
    agent: Arc<BuiltAgent>,
    emitter: Arc<Emitter>,
    ids: Arc<dyn Ids>,
    /// Tool call ids of the thread: a provider may repeat one, the wire may not.
    taken: HashSet<String>,
    written: Written,
    open_text: bool,
    open_reasoning: Option<String>,
}

/// The messages of a turn, in the order in which clients hold them.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(crate) messages: Vec<Message>,
    pub(crate) calls: Vec<WrittenCall>,
    pub(crate) usage: Option<TokenUsage>,
    pub(crate) finish: Option<Finish>,
}

/// A tool call as the model wrote it.
#[derive(Debug)]
pub(crate) struct WrittenCall {
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) message_id: String,
    pub(crate) arguments: String,
    open: bool,
    projection: Option<Projection>,
}

impl TurnWriter {
    pub(crate) fn new(
        agent: Arc<BuiltAgent>,
        emitter: Arc<Emitter>,
        ids: Arc<dyn Ids>,
        taken: HashSet<String>,
    ) -> Self {
        Self {
            agent,
            emitter,
            ids,
            taken,
            written: Written::default(),
            open_text: false,
            open_reasoning: None,
        }
    }

    /// Takes the next event of the model.
    pub(crate) fn take(&mut self, event: ModelEvent) {
        match event {
            ModelEvent::Text(delta) => self.text(delta),
            ModelEvent::Reasoning(delta) => self.reasoning(delta),
            ModelEvent::CallStarted { id, name, .. } => self.call_started(id, name),
            ModelEvent::CallArguments { index, delta } => self.call_arguments(index, delta),
            ModelEvent::CallEnded { index } => self.call_ended(index),
            ModelEvent::Usage(usage) => self.written.usage = Some(token_usage(usage)),
            ModelEvent::Finished(finish) => self.written.finish = Some(finish),
            _ => {}
        }
    }

    /// Closes whatever is open on the wire. What was cut short stays cut.
    pub(crate) fn close(&mut self) {
        self.close_text();
        self.close_reasoning();
        for call in self.written.calls.iter_mut().filter(|call| call.open) {
            call.open = false;
            self.emitter.emit(ToolCallEnd::new(&call.id));
        }
    }

    /// Ends the turn; everything is closed by then.
    pub(crate) fn into_written(mut self) -> Written {
        self.close();
        self.written
    }

    fn text(&mut self, delta: String) {
        self.close_reasoning();
        let message_id = if self.open_text {
            self.current_id()
        } else {
            self.start_text()
        };
        if let Some(Message::Assistant(message)) = self.written.messages.last_mut() {
            message.content.get_or_insert_default().push_str(&delta);
        }
        self.emitter
            .emit(TextMessageContent::new(message_id, delta));
    }

    /// Text that follows a call of the same turn is a message of its own: a closed message's id is
    /// never used twice.
    fn start_text(&mut self) -> String {
        let is_bare = |m: &Message| matches!(m, Message::Assistant(a) if a.content.is_none());
        if !self.written.messages.last().is_some_and(is_bare) {
            self.push_assistant();
        }
        let message_id = self.current_id();
        let mut start = TextMessageStart::new(&message_id);
        start.role = Some(TextRole::Assistant);
        self.emitter.emit(start);
        self.open_text = true;
        message_id
    }

    fn push_assistant(&mut self) {
        self.written
            .messages
            .push(Message::Assistant(AssistantMessage::new(
                self.ids.next("msg"),
            )));
    }

    fn current_id(&self) -> String {
        self.written
            .messages
            .last()
            .map(|message| message.id().to_owned())
            .unwrap_or_default()
    }

    fn close_text(&mut self) {
        if std::mem::take(&mut self.open_text) {
            self.emitter.emit(TextMessageEnd::new(self.current_id()));
        }
    }

    fn reasoning(&mut self, delta: String) {
        self.close_text();
        let id = match &self.open_reasoning {
            Some(id) => id.clone(),
            None => self.start_reasoning(),
        };
        if let Some(Message::Reasoning(message)) = self.written.messages.last_mut() {
            message.content.push_str(&delta);
        }
        self.emitter.emit(ReasoningMessageContent::new(id, delta));
    }

    fn start_reasoning(&mut self) -> String {
        let id = self.ids.next("rsn");
        self.written
            .messages
            .push(Message::Reasoning(ReasoningMessage::new(&id, "")));
        self.emitter.emit(ReasoningStart::new(&id));
        self.emitter.emit(ReasoningMessageStart::new(&id));
        self.open_reasoning = Some(id.clone());
        id
    }

    fn close_reasoning(&mut self) {
        if let Some(id) = self.open_reasoning.take() {
            self.emitter.emit(ReasoningMessageEnd::new(&id));
            self.emitter.emit(ReasoningEnd::new(id));
        }
    }

    fn call_started(&mut self, id: String, tool: String) {
        self.close_text();
        self.close_reasoning();
        if !matches!(self.written.messages.last(), Some(Message::Assistant(_))) {
            self.push_assistant();
        }
        let id = self.wire_id(id);
        let message_id = self.current_id();
        let mut start = ToolCallStart::new(&id, &tool);
        start.parent_message_id = Some(message_id.clone());
        self.emitter.emit(start);
        if let Some(Message::Assistant(message)) = self.written.messages.last_mut() {
            let function = FunctionCall {
                name: tool.clone(),
                arguments: String::new(),
            };
            message.tool_calls.push(ToolCall::new(&id, function));
        }
        let projection = self.project(&tool);
        self.written.calls.push(WrittenCall {
            id,
            tool,
            message_id,
            arguments: String::new(),
            open: true,
            projection,
        });
    }

    /// The provider's own id where the wire can take it, else a new one.
    fn wire_id(&mut self, id: String) -> String {
        let usable = !id.is_empty()
            && id.len() <= antiphon_protocol::MAX_ID_BYTES
            && !id.chars().any(char::is_control);
        let id = if usable && !self.taken.contains(&id) {
            id
        } else {
            self.ids.next("call")
        };
        self.taken.insert(id.clone());
        id
    }

    /// A projection of the call's arguments, on the keys that no other open call projects.
    fn project(&self, tool: &str) -> Option<Projection> {
        let mut mappings = self.agent.settings.mappings.projected(tool);
        let busy = |key: &str| {
            let mut open = self
                .written
                .calls
                .iter()
                .filter(|call| call.open && call.projection.is_some());
            open.any(|call| {
                self.agent
                    .settings
                    .mappings
                    .projected(&call.tool)
                    .iter()
                    .any(|m| m.state_key == key)
            })
        };
        mappings.retain(|mapping| !busy(&mapping.state_key));
        (!mappings.is_empty()).then(|| {
            self.emitter
                .log()
                .with_state(|held| Projection::new(mappings, held))
        })
    }

    fn call_arguments(&mut self, index: usize, delta: String) {
        let Some(call) = self.written.calls.get_mut(index) else {
            return;
        };
        call.arguments.push_str(&delta);
        let patch = call
            .projection
            .as_mut()
            .and_then(|projection| projection.push(&delta));
        self.emitter.emit(ToolCallArgs::new(&call.id, delta));
        if let Some(patch) = patch {
            self.emitter.emit(StateDelta::new(patch));
        }
    }

    fn call_ended(&mut self, index: usize) {
        let Some(call) = self.written.calls.get_mut(index) else {
            return;
        };
        if !std::mem::take(&mut call.open) {
            return;
        }
        let patch = call
            .projection
            .take()
            .and_then(|mut projection| projection.finish());
        if let Some(patch) = patch {
            self.emitter.emit(StateDelta::new(patch));
        }
        self.emitter.emit(ToolCallEnd::new(&call.id));
    }
}

impl Written {
    /// Puts the arguments into the messages, once they are complete.
    pub(crate) fn settle(&mut self) {
        for call in &self.calls {
            let holders = self
                .messages
                .iter_mut()
                .filter(|message| message.id() == call.message_id);
            for message in holders {
                let Message::Assistant(message) = message else {
                    continue;
                };
                for tool_call in message
                    .tool_calls
                    .iter_mut()
                    .filter(|tool_call| tool_call.id == call.id)
                {
                    tool_call.function.arguments.clone_from(&call.arguments);
                }
            }
        }
    }

    /// What of a cut turn can stay in the thread: its text, without the calls that never ran.
    pub(crate) fn spoken(self) -> Vec<Message> {
        let keep = |message: Message| match message {
            Message::Assistant(mut message) => {
                message.tool_calls.clear();
                message
                    .content
                    .is_some()
                    .then_some(Message::Assistant(message))
            }
            other => Some(other),
        };
        self.messages.into_iter().filter_map(keep).collect()
    }

    /// Whether the model came to its end by itself, so that its calls can be trusted.
    pub(crate) fn is_complete(&self) -> bool {
        self.finish
            .as_ref()
            .is_some_and(|finish| finish.reason.is_complete())
    }

    /// What the provider wants back with the turn.
    pub(crate) fn origin(&self) -> Option<Value> {
        self.finish.as_ref()?.origin.clone()
    }
}

fn token_usage(usage: Usage) -> TokenUsage {
    TokenUsage {
        provider: Some(usage.provider),
        model: Some(usage.model),
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        total_tokens: usage.total_tokens,
        reasoning_tokens: usage.reasoning_tokens,
        cached_input_tokens: usage.cached_input_tokens,
        cache_write_input_tokens: usage.cache_write_input_tokens,
    }
}
