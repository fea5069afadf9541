//! Results that stand elsewhere than behind their calls.
//!
//! Some agents name a result in their snapshot otherwise than in the event that brought it. It is
//! a new message then, which a snapshot adds at the end: behind what was said about it. Providers
//! refuse such a history, and agents that know this drop the result.

use antiphon_protocol::{Message, Replica, Role};

use super::Thread;

impl Thread {
    /// Puts each result that was displaced behind the other results of its call's message.
    pub(super) fn order_results(&mut self) {
        let messages = self.messages();
        if (0..messages.len()).all(|at| place(messages, at).is_none()) {
            return;
        }
        let replica = std::mem::replace(&mut self.replica, Replica::new(Vec::new(), None));
        let (mut messages, state) = replica.into_parts();
        for at in 0..messages.len() {
            if let Some(to) = place(&messages, at) {
                let result = messages.remove(at);
                messages.insert(to, result);
            }
        }
        self.replica = Replica::new(messages, state);
    }
}

/// Where the message belongs, if it is a result that something else came before. A second result
/// of the same call stays where it is.
fn place(messages: &[Message], at: usize) -> Option<usize> {
    let (before, rest) = messages.split_at_checked(at)?;
    let Some(Message::Tool(result)) = rest.first() else {
        return None;
    };
    let made = |message: &Message| {
        let mut calls = message.tool_calls().iter();
        calls.any(|call| call.id == result.tool_call_id)
    };
    let behind = before.get(before.iter().rposition(made)? + 1..)?;
    let results = behind.iter().take_while(|m| m.role() == Role::Tool).count();
    let (answers, others) = behind.split_at_checked(results)?;
    let answered = answers.iter().any(
        |message| matches!(message, Message::Tool(m) if m.tool_call_id == result.tool_call_id),
    );
    // What does not travel to a model comes between nothing.
    let displaced = others.iter().any(|message| {
        !matches!(
            message.role(),
            Role::Tool | Role::Activity | Role::Reasoning
        )
    });
    (displaced && !answered).then(|| at - others.len())
}

#[cfg(test)]
mod tests {
    use antiphon_protocol::{AssistantMessage, FunctionCall, ToolCall, ToolMessage, UserMessage};

    use super::*;
    use crate::Client;

    fn call(message: &str, ids: &[&str]) -> Message {
        let mut made = AssistantMessage::new(message);
        let function = || FunctionCall::new("f", "{}");
        made.tool_calls = ids
            .iter()
            .map(|id| ToolCall::new(*id, function()))
            .collect();
        made.into()
    }

    fn result(message: &str, call: &str) -> Message {
        ToolMessage::new(message, call, "done").into()
    }

    fn said(message: &str) -> Message {
        UserMessage::new(message, "hm").into()
    }

    fn ordered(messages: Vec<Message>) -> String {
        let client = Client::connect("http://127.0.0.1:1").unwrap();
        let mut thread = client
            .thread("t")
            .restore(messages, serde_json::Value::Null);
        thread.order_results();
        let ids: Vec<_> = thread.messages().iter().map(Message::id).collect();
        ids.join(" ")
    }

    #[test]
    fn results_go_behind_their_call_in_the_order_they_came() {
        let messages = vec![
            call("a", &["c1", "c2", "c3"]),
            result("r1", "c1"),
            said("u"),
            result("r2", "c2"),
            result("r3", "c3"),
        ];
        assert_eq!(ordered(messages), "a r1 r2 r3 u");
    }

    #[test]
    fn calls_of_the_same_id_have_their_own_results() {
        let messages = vec![
            call("a", &["c"]),
            result("r1", "c"),
            call("b", &["c"]),
            said("u"),
            result("r2", "c"),
        ];
        assert_eq!(ordered(messages), "a r1 b r2 u");
    }

    #[test]
    fn what_answers_nothing_or_again_stays() {
        let messages = vec![
            result("r0", "c"),
            call("a", &["c"]),
            result("r1", "c"),
            said("u"),
            result("r2", "c"),
            result("r3", "other"),
        ];
        assert_eq!(ordered(messages), "r0 a r1 u r2 r3");
    }
}
