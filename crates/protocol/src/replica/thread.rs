//! The messages, with an index of where each message and call is.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::{Message, ToolCall};

#[derive(Debug, Clone, Default)]
pub(super) struct Thread {
    pub(super) messages: Vec<Message>,
    /// Where the first message of an id is.
    places: HashMap<String, usize>,
    /// Where a call is: its message, and its place among that message's calls.
    calls: HashMap<String, (usize, usize)>,
}

impl Thread {
    pub(super) fn new(messages: Vec<Message>) -> Self {
        let mut thread = Self {
            messages,
            ..Self::default()
        };
        thread.index();
        thread
    }

    /// Replaces all messages.
    pub(super) fn set(&mut self, messages: Vec<Message>) {
        self.messages = messages;
        self.index();
    }

    pub(super) fn position(&self, id: &str) -> Option<usize> {
        self.places.get(id).copied()
    }

    pub(super) fn get(&self, id: &str) -> Option<&Message> {
        self.messages.get(self.position(id)?)
    }

    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut Message> {
        let at = self.position(id)?;
        self.messages.get_mut(at)
    }

    pub(super) fn call(&self, id: &str) -> Option<&ToolCall> {
        let (message, call) = *self.calls.get(id)?;
        self.messages.get(message)?.tool_calls().get(call)
    }

    pub(super) fn call_mut(&mut self, id: &str) -> Option<&mut ToolCall> {
        let (message, call) = *self.calls.get(id)?;
        match self.messages.get_mut(message)? {
            Message::Assistant(message) => message.tool_calls.get_mut(call),
            _ => None,
        }
    }

    /// Returns where the message is that carries the call.
    pub(super) fn call_message(&self, id: &str) -> Option<usize> {
        self.calls.get(id).map(|(message, _)| *message)
    }

    pub(super) fn push(&mut self, message: Message) -> usize {
        let at = self.messages.len();
        self.messages.push(message);
        self.index_from(at);
        at
    }

    /// Adds a call to the assistant message at this place.
    pub(super) fn push_call(&mut self, at: usize, call: ToolCall) {
        if let Some(Message::Assistant(message)) = self.messages.get_mut(at) {
            self.calls
                .entry(call.id.clone())
                .or_insert((at, message.tool_calls.len()));
            message.tool_calls.push(call);
        }
    }

    /// Inserts a message. What comes after it is moved, which is a result or two.
    pub(super) fn insert(&mut self, at: usize, message: Message) {
        if at >= self.messages.len() {
            self.push(message);
            return;
        }
        for message in self.messages.iter().skip(at) {
            if let Some(place) = self
                .places
                .get_mut(message.id())
                .filter(|place| **place >= at)
            {
                *place += 1;
            }
            for call in message.tool_calls() {
                if let Some((place, _)) = self.calls.get_mut(&call.id)
                    && *place >= at
                {
                    *place += 1;
                }
            }
        }
        self.messages.insert(at, message);
        self.index_one(at);
    }

    /// Replaces the message at this place by one of the same id.
    pub(super) fn replace(&mut self, at: usize, message: Message) {
        if let Some(slot) = self.messages.get_mut(at) {
            let carried_calls = !slot.tool_calls().is_empty();
            *slot = message;
            if carried_calls {
                self.index();
            }
        }
    }

    fn index(&mut self) {
        self.places.clear();
        self.calls.clear();
        self.index_from(0);
    }

    fn index_from(&mut self, from: usize) {
        for at in from..self.messages.len() {
            self.index_one(at);
        }
    }

    /// Indexes the message at this place; the first of an id counts.
    fn index_one(&mut self, at: usize) {
        let Some(message) = self.messages.get(at) else {
            return;
        };
        match self.places.entry(message.id().to_owned()) {
            Entry::Vacant(place) => drop(place.insert(at)),
            Entry::Occupied(mut place) => {
                let first = at.min(*place.get());
                place.insert(first);
            }
        }
        for (index, call) in message.tool_calls().iter().enumerate() {
            self.calls.entry(call.id.clone()).or_insert((at, index));
        }
    }
}
