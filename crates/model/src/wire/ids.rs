//! Ids of tool calls: taken from the provider where they are usable, made otherwise.
//!
//! Some providers send no id, an empty one, or `call_0` in every turn. An id that means two calls would send a result
//! to the wrong one, so every id is unique within the conversation that the request carries.

use std::collections::HashSet;

use crate::{Message, Request};

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The longest id that is taken from a provider; a longer one is replaced.
const LONGEST: usize = 256;

/// Gives every call an id that no other call has.
#[derive(Debug)]
pub struct CallIds {
    taken: HashSet<String>,
    make: fn() -> String,
}

impl CallIds {
    /// Ids that differ from those of every call in the request's conversation.
    #[must_use]
    pub fn new(request: &Request) -> Self {
        let calls = request.messages.iter().flat_map(|message| match message {
            Message::Assistant(turn) => turn.calls.as_slice(),
            Message::User { .. } | Message::ToolResult { .. } => &[],
        });
        Self {
            taken: calls.map(|call| call.id.clone()).collect(),
            make: random,
        }
    }

    /// Replaces the maker of missing ids, for reproducible output.
    #[must_use]
    pub fn made_by(mut self, make: fn() -> String) -> Self {
        self.make = make;
        self
    }

    /// The id to use for a call that the provider gave this one.
    pub(super) fn claim(&mut self, wanted: Option<&str>) -> String {
        let wanted = wanted
            .filter(|id| !id.is_empty() && id.len() <= LONGEST && !id.contains(char::is_control));
        let base = wanted.map_or_else(self.make, str::to_owned);
        let mut id = base.clone();
        let mut number = 2_u32;
        while !self.taken.insert(id.clone()) {
            id = format!("{base}-{number}");
            number += 1;
        }
        id
    }
}

/// `call_` and 24 letters and digits, as OpenAI makes them: short enough for every provider.
fn random() -> String {
    let letters = (0..24).filter_map(|_| fastrand::choice(ALPHABET).copied().map(char::from));
    "call_".chars().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_id_is_made_and_a_repeated_one_is_made_unique() {
        let mut ids = CallIds::new(&Request::default());
        assert_eq!(ids.claim(Some("call_0")), "call_0");
        assert_eq!(ids.claim(Some("call_0")), "call_0-2");
        assert_eq!(ids.claim(Some("call_0")), "call_0-3");
        let made = ids.claim(Some(""));
        assert!(made.starts_with("call_") && made.len() == 29, "{made}");
        assert_ne!(made, ids.claim(None));
    }

    #[test]
    fn an_id_of_an_earlier_turn_is_not_given_again() {
        let call = crate::ToolCall {
            id: "call_0".into(),
            ..Default::default()
        };
        let turn = crate::AssistantMessage {
            calls: vec![call],
            ..Default::default()
        };
        let request = Request {
            messages: vec![Message::Assistant(turn)],
            ..Request::default()
        };
        assert_eq!(CallIds::new(&request).claim(Some("call_0")), "call_0-2");
    }
}
