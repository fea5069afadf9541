//! Events folded into what the application sees: messages and state.

mod activity;
mod calls;
mod open;
mod snapshot;
mod text;
mod thread;

use serde_json::{Map, Value};

use crate::{
    EncryptedValueSubtype, Event, EventType, Interrupt, Message, Metadata, Outcome,
    ReasoningEncryptedValue, RunFinished, RunStarted, StateDelta, ToolCallStart, Warning,
};
use open::OpenItems;
use thread::Thread;

/// The messages and the state that a stream of events leads to, exactly as the official client
/// folds them.
///
/// Each event costs what it carries, not what the thread holds; only a `MESSAGES_SNAPSHOT`
/// looks at all messages. Feed it what a [`Verifier`](crate::Verifier) let through and
/// [`Chunks`](crate::Chunks) expanded.
///
/// ```
/// use antiphon_protocol::{Replica, TextMessageContent, TextMessageStart};
/// use serde_json::json;
///
/// let mut replica = Replica::new(Vec::new(), None);
/// replica.apply(&TextMessageStart::new("m1").into());
/// replica.apply(&TextMessageContent::new("m1", "Hello").into());
/// let messages = serde_json::to_value(replica.messages())?;
/// assert_eq!(messages, json!([{"role": "assistant", "id": "m1", "content": "Hello"}]));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Replica {
    thread: Thread,
    state: Value,
    interrupts: Vec<Interrupt>,
    /// The calls that this run made, and those it answered.
    made: Vec<String>,
    answered: Vec<String>,
    pending: Vec<String>,
    open: OpenItems,
}

impl Replica {
    /// Starts from what the application holds; no state is the empty object.
    #[must_use]
    pub fn new(messages: Vec<Message>, state: impl Into<Option<Value>>) -> Self {
        Self {
            thread: Thread::new(messages),
            state: state.into().unwrap_or_else(|| Value::Object(Map::new())),
            interrupts: Vec::new(),
            made: Vec::new(),
            answered: Vec::new(),
            pending: Vec::new(),
            open: OpenItems::default(),
        }
    }

    /// Returns the messages, in order.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.thread.messages
    }

    /// Returns the shared state.
    #[must_use]
    pub const fn state(&self) -> &Value {
        &self.state
    }

    /// Returns what the last run stopped to ask.
    #[must_use]
    pub fn interrupts(&self) -> &[Interrupt] {
        &self.interrupts
    }

    /// Returns the calls that wait for the application's answer since the last run succeeded, in
    /// call order: those that the agent named, else those that it made and did not answer.
    #[must_use]
    pub fn pending_tool_call_ids(&self) -> &[String] {
        &self.pending
    }

    /// Returns the messages and the state, giving up the rest.
    #[must_use]
    pub fn into_parts(self) -> (Vec<Message>, Value) {
        (self.thread.messages, self.state)
    }

    /// Folds in one event. What does not fit is left out with a warning; the run goes on.
    pub fn apply(&mut self, event: &Event) -> Vec<Warning> {
        let outcome = self.fold(event);
        self.open.record(event, &self.thread);
        outcome.map_or_else(
            |message| vec![warning(event.kind(), message)],
            |()| Vec::new(),
        )
    }

    fn fold(&mut self, event: &Event) -> Result<(), String> {
        match event {
            Event::TextMessageStart(e) => self.thread.start_text(e),
            Event::TextMessageContent(e) => self.append(&e.message_id, &e.delta, event),
            Event::TextMessageEnd(e) => self.thread.end(&e.message_id, e.base.metadata.as_ref()),
            Event::ReasoningMessageStart(e) => self.thread.start_reasoning(e),
            Event::ReasoningMessageContent(e) => self.append(&e.message_id, &e.delta, event),
            Event::ReasoningMessageEnd(e) => {
                self.thread.end(&e.message_id, e.base.metadata.as_ref())
            }
            Event::ToolCallStart(e) => self.start_call(e),
            Event::ToolCallArgs(e) => self.append_arguments(&e.tool_call_id, &e.delta, event),
            Event::ToolCallEnd(e) => self.append_arguments(&e.tool_call_id, "", event),
            Event::StateDelta(e) => self.change_state(e),
            Event::ActivityDelta(e) => self.thread.change_activity(e),
            Event::TextMessageChunk(_)
            | Event::ToolCallChunk(_)
            | Event::ReasoningMessageChunk(_) => Err("was not expanded and is left out".to_owned()),
            event => {
                self.set(event);
                Ok(())
            }
        }
    }

    /// Folds in an event that always fits.
    fn set(&mut self, event: &Event) {
        match event {
            Event::ToolCallResult(e) => {
                note(&mut self.answered, &e.tool_call_id);
                self.thread.add_result(e);
            }
            Event::StateSnapshot(e) => self.state.clone_from(&e.snapshot),
            Event::MessagesSnapshot(e) => self.thread.adopt(e),
            Event::ActivitySnapshot(e) => self.thread.set_activity(e),
            Event::ReasoningEncryptedValue(e) => self.set_encrypted_value(e),
            Event::RunStarted(e) => self.start(e),
            Event::RunFinished(e) => self.finish(e),
            // The rest says nothing about messages or state.
            _ => {}
        }
    }

    fn append(&mut self, id: &str, delta: &str, event: &Event) -> Result<(), String> {
        self.thread
            .append(id, delta, event.base().metadata.as_ref())
    }

    fn append_arguments(&mut self, id: &str, delta: &str, event: &Event) -> Result<(), String> {
        self.thread
            .append_arguments(id, delta, event.base().metadata.as_ref())
    }

    fn start_call(&mut self, event: &ToolCallStart) -> Result<(), String> {
        note(&mut self.made, &event.tool_call_id);
        self.thread.start_call(event)
    }

    fn start(&mut self, event: &RunStarted) {
        self.made.clear();
        self.answered.clear();
        for message in event.input.iter().flat_map(|input| &input.messages) {
            if self.thread.position(message.id()).is_none() {
                self.thread.push(message.clone());
            }
        }
    }

    fn finish(&mut self, event: &RunFinished) {
        self.interrupts.clear();
        self.pending.clear();
        match &event.outcome {
            Some(Outcome::Interrupt { interrupts }) => self.interrupts.clone_from(interrupts),
            Some(Outcome::Cancelled) => {}
            Some(Outcome::Success {
                pending_tool_call_ids: Some(ids),
            }) if !ids.is_empty() => {
                self.pending.clone_from(ids);
            }
            Some(Outcome::Success { .. }) | None => {
                let unanswered = self.made.iter().filter(|id| !self.answered.contains(id));
                self.pending.extend(unanswered.cloned());
            }
        }
    }

    fn change_state(&mut self, event: &StateDelta) -> Result<(), String> {
        event
            .delta
            .apply(&mut self.state)
            .map_err(|error| format!("does not apply: {error}"))
    }

    fn set_encrypted_value(&mut self, event: &ReasoningEncryptedValue) {
        let slot = match event.subtype {
            EncryptedValueSubtype::ToolCall => self
                .thread
                .call_mut(&event.entity_id)
                .map(|call| &mut call.encrypted_value),
            EncryptedValueSubtype::Message => self
                .thread
                .get_mut(&event.entity_id)
                .and_then(Message::encrypted_value_mut),
        };
        if let Some(slot) = slot {
            *slot = Some(event.encrypted_value.clone());
        }
    }
}

fn note(ids: &mut Vec<String>, id: &str) {
    if !ids.iter().any(|known| known == id) {
        ids.push(id.to_owned());
    }
}

fn warning(kind: EventType, message: String) -> Warning {
    Warning {
        path: kind.as_str().to_owned(),
        message,
    }
}

/// Merges metadata per key; the later value wins.
fn merge(metadata: &mut Option<Metadata>, later: Option<&Metadata>) {
    if let Some(later) = later {
        let entries = later
            .iter()
            .map(|(key, value)| (key.clone(), value.clone()));
        metadata.get_or_insert_default().extend(entries);
    }
}
