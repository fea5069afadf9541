//! The messages of a run's thread, in the order in which every side holds them.

use std::collections::HashSet;

use antiphon_protocol::{AssistantMessage, Content, FunctionCall, Message, ToolCall, ToolMessage};
use serde_json::{Value, json};

use crate::store::{Call, Cut, StoredMessage};

/// The distance between two messages that follow each other, so that results fit between.
const GAP: i64 = 1 << 20;

/// A thread's messages, and what of them is not stored yet.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    messages: Vec<StoredMessage>,
    /// Ids of messages to store with the next commit.
    fresh: Vec<String>,
}

impl Conversation {
    pub(crate) fn new(messages: Vec<StoredMessage>) -> Self {
        Self {
            messages,
            fresh: Vec::new(),
        }
    }

    /// A conversation that the client holds and we do not keep.
    pub(crate) fn of_client(messages: Vec<Message>) -> Self {
        let mut conversation = Self::default();
        messages
            .into_iter()
            .for_each(|message| conversation.push(message, None));
        conversation
    }

    pub(crate) fn into_stored(self) -> Vec<StoredMessage> {
        self.messages
    }

    pub(crate) fn stored(&self) -> &[StoredMessage] {
        &self.messages
    }

    pub(crate) fn messages(&self) -> Vec<Message> {
        self.messages
            .iter()
            .map(|stored| stored.message.clone())
            .collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    pub(crate) fn find(&self, id: &str) -> Option<&StoredMessage> {
        self.messages
            .iter()
            .rev()
            .find(|stored| stored.message.id() == id)
    }

    /// The id of the last user message: what is answered now.
    pub(crate) fn turn(&self) -> Option<&str> {
        let mut messages = self.messages.iter().rev().map(|stored| &stored.message);
        messages
            .find(|message| matches!(message, Message::User(_)))
            .map(Message::id)
    }

    /// The id of the last message.
    pub(crate) fn last(&self) -> Option<&str> {
        self.messages.last().map(|stored| stored.message.id())
    }

    /// The result of a call.
    pub(crate) fn result_of(&self, call_id: &str) -> Option<&ToolMessage> {
        match &self.stored_result(call_id)?.message {
            Message::Tool(result) => Some(result),
            _ => None,
        }
    }

    /// The result of a call, as it is stored.
    pub(crate) fn stored_result(&self, call_id: &str) -> Option<&StoredMessage> {
        let answers =
            |m: &Message| matches!(m, Message::Tool(result) if result.tool_call_id == call_id);
        let mut messages = self.messages.iter().rev();
        messages.find(|stored| answers(&stored.message))
    }

    /// The tool that a call named.
    pub(crate) fn tool_of(&self, call_id: &str) -> Option<&str> {
        let calls = self.messages.iter().flat_map(|m| m.message.tool_calls());
        let mut named = calls.filter(|call| call.id == call_id);
        named.next().map(|call| call.function.name.as_str())
    }

    /// Adds the messages of calls that a client left out of its history.
    pub(crate) fn restore_calls(&mut self, calls: &[Call]) {
        let known = self.call_ids();
        for call in calls.iter().filter(|call| !known.contains(&call.id)) {
            let function = FunctionCall {
                name: call.tool.clone(),
                arguments: call.arguments.clone(),
            };
            let tool_call = ToolCall::new(&call.id, function);
            match self
                .messages
                .iter_mut()
                .find(|stored| stored.message.id() == call.message_id)
            {
                Some(StoredMessage {
                    message: Message::Assistant(message),
                    ..
                }) => message.tool_calls.push(tool_call),
                _ => {
                    let mut message = AssistantMessage::new(&call.message_id);
                    message.tool_calls.push(tool_call);
                    self.push(Message::Assistant(message), None);
                }
            }
        }
    }

    /// Whether a person has said this in the thread.
    pub(crate) fn has_said(&self, content: &Content) -> bool {
        let said = |stored: &StoredMessage| matches!(&stored.message, Message::User(m) if same_words(&m.content, content));
        self.messages.iter().any(said)
    }

    /// The ids of all calls.
    pub(crate) fn call_ids(&self) -> HashSet<String> {
        self.messages
            .iter()
            .flat_map(|m| m.message.tool_calls())
            .map(|call| call.id.clone())
            .collect()
    }

    /// Adds a message at the end.
    pub(crate) fn push(&mut self, message: Message, origin: Option<Value>) {
        let place = self.messages.last().map_or(0, |last| last.place) + GAP;
        self.fresh.push(message.id().to_owned());
        self.messages.push(StoredMessage {
            place,
            message,
            origin,
        });
    }

    /// Adds a call's result where clients put it: after the message that holds the call and the
    /// results that follow it already; at the end when there is no such message.
    pub(crate) fn push_result(&mut self, result: ToolMessage, failed: bool) {
        let origin = failed.then(|| json!({ "isError": true }));
        self.insert_result(result, origin);
    }

    /// Adds a result that was delivered and can't be used. The thread keeps its words, as who sent it
    /// does, and for whom it was no error; the model is told why instead.
    pub(crate) fn push_unusable(&mut self, result: ToolMessage, why: &str) {
        self.insert_result(result, Some(json!({ "unusable": why })));
    }

    fn insert_result(&mut self, result: ToolMessage, origin: Option<Value>) {
        let owns = |m: &StoredMessage| {
            m.message
                .tool_calls()
                .iter()
                .any(|call| call.id == result.tool_call_id)
        };
        let Some(owner) = self.messages.iter().rposition(owns) else {
            return self.push(Message::Tool(result), origin);
        };
        let results = self
            .messages
            .iter()
            .skip(owner + 1)
            .take_while(|m| matches!(m.message, Message::Tool(_)));
        let index = owner + 1 + results.count();
        let before = self.messages.get(index - 1).map_or(0, |m| m.place);
        let place = match self.messages.get(index) {
            Some(next) => before + (next.place - before) / 2,
            None => before + GAP,
        };
        self.fresh.push(result.id.clone());
        self.messages.insert(
            index,
            StoredMessage {
                place,
                message: Message::Tool(result),
                origin,
            },
        );
    }

    /// Drops all messages after the one with this id; returns how the store must cut.
    pub(crate) fn cut_after(&mut self, id: &str, branch: &str) -> Option<Cut> {
        let index = self
            .messages
            .iter()
            .rposition(|stored| stored.message.id() == id)?;
        let first_gone = self.messages.get(index + 1)?.place;
        self.messages.truncate(index + 1);
        Some(Cut {
            from_place: first_gone,
            branch: branch.to_owned(),
        })
    }

    /// Drops the message with this id and all after it; returns how the store must cut.
    pub(crate) fn cut_from(&mut self, id: &str, branch: &str) -> Option<Cut> {
        let index = self
            .messages
            .iter()
            .rposition(|stored| stored.message.id() == id)?;
        let first_gone = self.messages.get(index)?.place;
        self.messages.truncate(index);
        Some(Cut {
            from_place: first_gone,
            branch: branch.to_owned(),
        })
    }

    /// What is not stored yet.
    pub(crate) fn fresh(&self) -> Vec<StoredMessage> {
        let is_fresh = |m: &&StoredMessage| self.fresh.iter().any(|id| id == m.message.id());
        self.messages.iter().filter(is_fresh).cloned().collect()
    }

    /// Everything is stored now.
    pub(crate) fn is_stored(&mut self) {
        self.fresh.clear();
    }
}

/// Whether two contents say the same: text is the same in one piece or in parts, whatever its parts are
/// called.
pub(crate) fn same_words(a: &Content, b: &Content) -> bool {
    let is_text = |content: &Content| match content {
        Content::Text(_) => true,
        Content::Parts(parts) => parts.iter().all(|part| part.text().is_some()),
    };
    a == b || (is_text(a) && is_text(b) && a.text() == b.text())
}
