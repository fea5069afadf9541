//! What a request asks for beyond its run id: tells one that is sent again from another one.

use antiphon_protocol::{Message, RunAgentInput};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// A digest of a request's answers and of the last thing that its person or page says in it. A client
/// that comes back may send more or less of the conversation, or what the run has said since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gist {
    digest: [u8; 32],
    /// Whether it answers something.
    pub(crate) answers: bool,
}

impl Gist {
    /// The gist of a request; `None` for one that asks for nothing, but shows the thread.
    pub(crate) fn of(input: &RunAgentInput) -> Option<Self> {
        let mut said = input.messages.iter().rev();
        let said = said.find(|m| matches!(m, Message::User(_) | Message::Tool(_)));
        if said.is_none() && input.resume.is_empty() {
            return None;
        }
        let mut digest = Sha256::new();
        digest.update(said.map(Message::id).unwrap_or_default());
        for answer in &input.resume {
            // It may hold a private value.
            let answer = Zeroizing::new(serde_json::to_vec(answer).unwrap_or_default());
            digest.update([0]);
            digest.update(&*answer);
        }
        Some(Self {
            digest: digest.finalize().into(),
            answers: !input.resume.is_empty(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn gist(messages: &Value, resume: &Value) -> Option<Gist> {
        let input =
            json!({ "threadId": "t", "runId": "r", "messages": messages, "resume": resume });
        Gist::of(&RunAgentInput::read(input).unwrap().value)
    }

    #[test]
    fn only_what_is_said_last_and_the_answers_count() {
        let user = |id: &str| json!({ "id": id, "role": "user", "content": "hi" });
        let assistant = json!({ "id": "a", "role": "assistant", "content": "Hel" });
        let answer = |id: &str| json!([{ "interruptId": id, "status": "cancelled" }]);
        let one = gist(&json!([user("u")]), &json!([]));
        assert_eq!(
            one,
            gist(&json!([user("t"), user("u"), assistant]), &json!([]))
        );
        assert_ne!(one, gist(&json!([user("v")]), &json!([])));
        assert_ne!(one, gist(&json!([user("u")]), &answer("i")));
        assert_ne!(
            gist(&json!([]), &answer("i")),
            gist(&json!([]), &answer("k"))
        );
        assert_eq!(gist(&json!([]), &json!([])), None);
    }
}
