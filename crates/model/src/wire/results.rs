//! Which result answers which call.
//!
//! A stored conversation may hold results late, twice or without their call; providers refuse such a request. Each
//! call takes the first result with its id that stands after it and that no other call took.

use std::collections::{HashMap, VecDeque};

use crate::{Message, Part};

/// The results of a conversation, by the call they answer.
pub(super) struct Results<'a> {
    by_call: HashMap<&'a str, VecDeque<(usize, &'a [Part])>>,
}

impl<'a> Results<'a> {
    pub(super) fn new(messages: &'a [Message]) -> Self {
        let mut by_call: HashMap<_, VecDeque<_>> = HashMap::new();
        for (position, message) in messages.iter().enumerate() {
            if let Message::ToolResult {
                call_id, content, ..
            } = message
            {
                by_call
                    .entry(call_id.as_str())
                    .or_default()
                    .push_back((position, content.as_slice()));
            }
        }
        Self { by_call }
    }

    /// Takes the result of a call made by the message at `position`.
    pub(super) fn take(&mut self, call: &str, position: usize) -> Option<&'a [Part]> {
        let results = self.by_call.get_mut(call)?;
        while let Some((at, content)) = results.pop_front() {
            if at > position {
                return Some(content);
            }
        }
        None
    }

    /// Says in the log how many results answer no call and are left out.
    pub(super) fn warn_of_unclaimed(&self) {
        let unclaimed: usize = self.by_call.values().map(VecDeque::len).sum();
        if unclaimed > 0 {
            tracing::warn!(
                unclaimed,
                "tool results without a call are left out of a model request"
            );
        }
    }
}
