//! The `THINKING_*` events of 0.x agents, read as what they have become.

use antiphon_protocol::Warning;
use serde_json::{Value, json};

/// Translates retired events. They had no ids, so the spans and messages are numbered.
#[derive(Debug)]
pub(super) struct Thinking {
    run_id: String,
    spans: u32,
    messages: u32,
}

impl Thinking {
    pub(super) fn new(run_id: &str) -> Self {
        Self {
            run_id: run_id.to_owned(),
            spans: 0,
            messages: 0,
        }
    }

    /// Returns the event under its present name, with a warning; all others pass.
    pub(super) fn translate(&mut self, mut event: Value) -> (Value, Option<Warning>) {
        let given = event.get("type").and_then(Value::as_str);
        let Some(given) = given.filter(|given| given.starts_with("THINKING_")) else {
            return (event, None);
        };
        let (kind, id) = match given {
            "THINKING_START" => {
                self.spans += 1;
                ("REASONING_START", self.span())
            }
            "THINKING_END" => ("REASONING_END", self.span()),
            "THINKING_TEXT_MESSAGE_START" => {
                self.messages += 1;
                ("REASONING_MESSAGE_START", self.message())
            }
            "THINKING_TEXT_MESSAGE_CONTENT" => ("REASONING_MESSAGE_CONTENT", self.message()),
            "THINKING_TEXT_MESSAGE_END" => ("REASONING_MESSAGE_END", self.message()),
            _ => return (event, None),
        };
        let warning = Warning {
            path: given.to_owned(),
            message: format!("is retired and read as {kind}"),
        };
        if let Value::Object(members) = &mut event {
            if kind == "REASONING_MESSAGE_START" {
                members.insert("role".to_owned(), json!("reasoning"));
            }
            members.insert("type".to_owned(), json!(kind));
            members.entry("messageId").or_insert_with(|| json!(id));
        }
        (event, Some(warning))
    }

    fn span(&self) -> String {
        format!("{}:thinking:{}", self.run_id, self.spans)
    }

    fn message(&self) -> String {
        format!("{}:thought:{}", self.run_id, self.messages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retired_events_become_a_reasoning_span_with_messages() {
        let mut thinking = Thinking::new("r");
        let mut say = |kind: &str| thinking.translate(json!({"type": kind})).0;
        assert_eq!(
            say("THINKING_START"),
            json!({"type": "REASONING_START", "messageId": "r:thinking:1"})
        );
        assert_eq!(
            say("THINKING_TEXT_MESSAGE_START"),
            json!({"type": "REASONING_MESSAGE_START", "role": "reasoning", "messageId": "r:thought:1"})
        );
        assert_eq!(say("THINKING_TEXT_MESSAGE_END")["messageId"], "r:thought:1");
        assert_eq!(
            say("THINKING_TEXT_MESSAGE_START")["messageId"],
            "r:thought:2"
        );
        assert_eq!(
            say("THINKING_END"),
            json!({"type": "REASONING_END", "messageId": "r:thinking:1"})
        );
    }

    #[test]
    fn everything_else_passes() {
        let mut thinking = Thinking::new("r");
        for event in [json!([1]), json!({"type": "CUSTOM"}), json!({"type": 7})] {
            assert_eq!(thinking.translate(event.clone()), (event, None));
        }
    }
}
