//! What is open at this moment, for readers that join in the middle of a run.
//!
//! A late reader gets [`Replica::closed_messages`] as a snapshot, then
//! [`Replica::open_items`], then the live events, and holds what everybody else holds. What an
//! open item said so far comes with the item, so the snapshot leaves it out.

use super::Replica;
use super::thread::Thread;
use crate::{
    AssistantMessage, Event, Message, ReasoningMessageContent, ReasoningMessageStart,
    TextMessageContent, TextMessageStart, ToolCallArgs,
};

/// The open items, in the order in which they were opened.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenItems(Vec<OpenItem>);

#[derive(Debug, Clone)]
struct OpenItem {
    /// The event that opened it.
    opener: Event,
    /// How long the text or the arguments were at that moment, in bytes.
    before: usize,
    /// The event that ended a subagent. Those that ended are kept: later ones may name them as
    /// parents.
    ended: Option<Event>,
}

/// What an item is known by. A message and a span of reasoning may have the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key<'a> {
    Text(&'a str),
    Call(&'a str),
    Reasoning(&'a str),
    Span(&'a str),
    Step(&'a str, Option<&'a str>),
    Subagent(&'a str),
}

impl OpenItem {
    fn key(&self) -> Option<Key<'_>> {
        match &self.opener {
            Event::TextMessageStart(e) => Some(Key::Text(&e.message_id)),
            Event::ToolCallStart(e) => Some(Key::Call(&e.tool_call_id)),
            Event::ReasoningMessageStart(e) => Some(Key::Reasoning(&e.message_id)),
            Event::ReasoningStart(e) => Some(Key::Span(&e.message_id)),
            Event::StepStarted(e) => Some(Key::Step(&e.step_name, e.subagent_run_id.as_deref())),
            Event::SubagentStarted(e) => Some(Key::Subagent(&e.subagent_run_id)),
            _ => None,
        }
    }

    /// Returns how long its text or arguments are now.
    fn length(&self, thread: &Thread) -> usize {
        match self.key() {
            Some(Key::Text(id) | Key::Reasoning(id)) => thread
                .get(id)
                .map_or(0, |message| message.plain_text().len()),
            Some(Key::Call(id)) => thread
                .call(id)
                .map_or(0, |call| call.function.arguments.len()),
            Some(Key::Span(_) | Key::Step(..) | Key::Subagent(_)) | None => 0,
        }
    }
}

impl OpenItems {
    /// Records an event that the thread has folded in.
    pub(super) fn record(&mut self, event: &Event, thread: &Thread) {
        match event {
            Event::TextMessageStart(_)
            | Event::ToolCallStart(_)
            | Event::ReasoningMessageStart(_)
            | Event::ReasoningStart(_)
            | Event::StepStarted(_)
            | Event::SubagentStarted(_) => {
                let mut item = OpenItem {
                    opener: event.clone(),
                    before: 0,
                    ended: None,
                };
                item.before = item.length(thread);
                self.0.push(item);
            }
            Event::TextMessageEnd(e) => self.close(Key::Text(&e.message_id)),
            Event::ToolCallEnd(e) => self.close(Key::Call(&e.tool_call_id)),
            Event::ReasoningMessageEnd(e) => self.close(Key::Reasoning(&e.message_id)),
            Event::ReasoningEnd(e) => self.close(Key::Span(&e.message_id)),
            Event::StepFinished(e) => {
                self.close(Key::Step(&e.step_name, e.subagent_run_id.as_deref()));
            }
            Event::SubagentFinished(e) => self.end(Key::Subagent(&e.subagent_run_id), event),
            Event::SubagentError(e) => self.end(Key::Subagent(&e.subagent_run_id), event),
            Event::RunStarted(_) | Event::RunFinished(_) | Event::RunError(_) => self.0.clear(),
            // What the snapshot restates is part of the message, not of what is still streaming.
            Event::MessagesSnapshot(_) => {
                for item in &mut self.0 {
                    item.before = item.length(thread);
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, key: Key<'_>, event: &Event) {
        for item in self.0.iter_mut().filter(|item| item.key() == Some(key)) {
            item.ended = Some(event.clone());
        }
    }

    fn close(&mut self, key: Key<'_>) {
        self.0.retain(|item| item.key() != Some(key));
    }
}

impl Replica {
    /// Returns the events that open again what is open, each followed by what it said so far.
    /// Subagents that have ended begin and end again, so that others can name them.
    #[must_use]
    pub fn open_items(&self) -> Vec<Event> {
        let mut events = Vec::new();
        for item in &self.open.0 {
            events.push(self.reopen(item));
            events.extend(self.said(item));
            events.extend(item.ended.clone());
        }
        events
    }

    /// Returns the messages without what [`open_items`](Self::open_items) says again.
    #[must_use]
    pub fn closed_messages(&self) -> Vec<Message> {
        let mut messages = self.thread.messages.clone();
        // Backwards, so that an item at the very end takes its place with it: the opener makes
        // it again, which older clients need.
        for item in self.open.0.iter().rev() {
            match item.key() {
                Some(Key::Text(id) | Key::Reasoning(id)) => {
                    self.cut_text(&mut messages, id, item.before);
                }
                Some(Key::Call(id)) => self.cut_call(&mut messages, id, item.before),
                Some(Key::Span(_) | Key::Step(..) | Key::Subagent(_)) | None => {}
            }
        }
        messages
    }

    /// The opener, with what the item has become since.
    fn reopen(&self, item: &OpenItem) -> Event {
        let mut opener = item.opener.clone();
        match &mut opener {
            Event::TextMessageStart(TextMessageStart {
                message_id: id,
                base,
                ..
            })
            | Event::ReasoningMessageStart(ReasoningMessageStart {
                message_id: id,
                base,
                ..
            }) => {
                if let Some(message) = self.thread.get(id) {
                    base.metadata = message.metadata().cloned();
                }
            }
            Event::ToolCallStart(start) => {
                if let Some(call) = self.thread.call(&start.tool_call_id) {
                    start.base.metadata.clone_from(&call.metadata);
                    start.tool_call_name.clone_from(&call.function.name);
                }
                let at = self.thread.call_message(&start.tool_call_id);
                // Named even if it is the call's own, which the snapshot may hold already.
                let message = at.and_then(|at| self.thread.messages.get(at));
                start.parent_message_id = message.map(|message| message.id().to_owned());
            }
            _ => {}
        }
        opener
    }

    fn said(&self, item: &OpenItem) -> Option<Event> {
        let tag = item.opener.subagent_run_id().map(str::to_owned);
        match item.key()? {
            Key::Text(id) => {
                let mut said = TextMessageContent::new(id, self.text_since(id, item.before)?);
                said.subagent_run_id = tag;
                Some(said.into())
            }
            Key::Reasoning(id) => {
                let mut said = ReasoningMessageContent::new(id, self.text_since(id, item.before)?);
                said.subagent_run_id = tag;
                Some(said.into())
            }
            Key::Call(id) => {
                let arguments = &self.thread.call(id)?.function.arguments;
                let mut said = ToolCallArgs::new(id, since(arguments, item.before)?);
                said.subagent_run_id = tag;
                Some(said.into())
            }
            Key::Span(_) | Key::Step(..) | Key::Subagent(_) => None,
        }
    }

    fn text_since(&self, id: &str, before: usize) -> Option<&str> {
        since(self.thread.get(id)?.plain_text(), before)
    }

    fn cut_text(&self, messages: &mut Vec<Message>, id: &str, before: usize) {
        let Some(at) = self.thread.position(id) else {
            return;
        };
        let is_last = at + 1 == messages.len();
        let Some(message) = messages.get_mut(at) else {
            return;
        };
        let only_text = message.tool_calls().is_empty()
            && message
                .encrypted_value_mut()
                .is_some_and(|value| value.is_none());
        if before == 0 && is_last && only_text {
            messages.pop();
        } else if let Some(text) = message.text_mut() {
            text.truncate(before);
        }
    }

    fn cut_call(&self, messages: &mut Vec<Message>, id: &str, before: usize) {
        let Some(at) = self.thread.call_message(id) else {
            return;
        };
        let is_last = at + 1 == messages.len();
        let Some(Message::Assistant(message)) = messages.get_mut(at) else {
            return;
        };
        let ends_with_it = message
            .tool_calls
            .last()
            .is_some_and(|call| call.id == id && call.encrypted_value.is_none());
        if before == 0 && ends_with_it {
            message.tool_calls.pop();
            let mut made_for_it = AssistantMessage::new(message.id.clone());
            made_for_it
                .subagent_run_id
                .clone_from(&message.subagent_run_id);
            if is_last && *message == made_for_it {
                messages.pop();
            }
        } else if let Some(call) = message.tool_calls.iter_mut().find(|call| call.id == id) {
            call.function.arguments.truncate(before);
        }
    }
}

/// Returns what follows these bytes, unless it is nothing.
fn since(text: &str, before: usize) -> Option<&str> {
    text.get(before..).filter(|text| !text.is_empty())
}
