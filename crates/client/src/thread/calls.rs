//! Calls of this client's tools, and their results.

use antiphon_protocol::{Content, Replica, Role, ToolCall, ToolMessage};
use serde::Serialize;
use serde_json::Value;

use super::Thread;
use crate::ClientTool;
use crate::client::new_id;
use crate::question::value;

impl Thread {
    /// Answers a call of one of this client's tools.
    pub fn tool_result(&mut self, call: &ToolCall, result: impl Serialize) {
        self.answer_call(call, Content::Text(content(value(result))), None);
    }

    /// Answers a call with why it failed.
    pub fn tool_failure(&mut self, call: &ToolCall, why: impl Into<String>) {
        let why = why.into();
        self.answer_call(call, Content::Text(why.clone()), Some(why));
    }

    fn answer_call(&mut self, call: &ToolCall, content: Content, error: Option<String>) {
        let mut answer = ToolMessage::new(new_id(), call.id.clone(), content);
        answer.error = error;
        self.unsent.insert(answer.id.clone());
        let replica = std::mem::replace(&mut self.replica, Replica::new(Vec::new(), None));
        let (mut messages, state) = replica.into_parts();
        let of_call = messages
            .iter()
            .rposition(|message| message.tool_calls().iter().any(|made| made.id == call.id));
        let at = of_call.map_or(messages.len(), |of_call| {
            let behind = messages.iter().skip(of_call + 1);
            let results = behind.take_while(|message| message.role() == Role::Tool);
            of_call + 1 + results.count()
        });
        messages.insert(at, answer.into());
        self.replica = Replica::new(messages, state);
    }

    /// Runs the functions of this client that the agent waits for, one after the other, and
    /// answers the calls. Returns whether all calls are answered now. If one of them is not a
    /// call of a function here, none is run.
    pub async fn run_client_tools(&mut self) -> bool {
        let calls = self.waiting();
        let tools: Option<Vec<ClientTool>> = calls
            .iter()
            .map(|call| self.function(&call.function.name).cloned())
            .collect();
        let Some(tools) = tools else {
            return false;
        };
        for (call, tool) in calls.iter().zip(tools) {
            match tool.call(&call.function.arguments).await {
                Ok(result) => self.tool_result(call, result),
                Err(why) => self.tool_failure(call, why),
            }
        }
        true
    }

    pub(crate) fn function(&self, name: &str) -> Option<&ClientTool> {
        self.tools.iter().find(|tool| tool.name() == name)
    }
}

/// Returns a result as the text of a tool message: JSON, but for a string, whose quotes would
/// only be in the model's way. One that looks like JSON itself keeps them, so that a server that
/// decodes the text gets the string back.
fn content(result: Value) -> String {
    match result {
        Value::String(text) if serde_json::from_str::<Value>(&text).is_err() => text,
        result => result.to_string(),
    }
}
