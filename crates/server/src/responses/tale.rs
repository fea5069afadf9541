//! A run's events in the words of the neutral stream.

use std::collections::HashMap;

use antiphon_protocol::Event;
use bytes::{BufMut, BytesMut};
use serde_json::{Map, Value, json};

use super::action::announcement;
use super::item::arguments;

/// Tells one response: which events there are and how they are numbered.
#[derive(Debug)]
pub(super) struct Tale {
    response_id: String,
    session_id: String,
    sequence: u64,
    /// Calls whose arguments are still being written, by id: name and text.
    calls: HashMap<String, (String, String)>,
}

impl Tale {
    pub(super) fn new(response_id: String, session_id: String) -> Self {
        Self {
            response_id,
            session_id,
            sequence: 0,
            calls: HashMap::new(),
        }
    }

    /// The first event.
    pub(super) fn created(&mut self, out: &mut BytesMut) {
        self.put(out, "response.created", json!({ "status": "in_progress" }));
    }

    /// Tells what an event of the run means to a client of the response, if anything.
    pub(super) fn event(&mut self, event: Event, out: &mut BytesMut) {
        match event {
            Event::TextMessageContent(event) => {
                let payload = json!({ "messageId": event.message_id, "delta": event.delta });
                self.put(out, "response.text.delta", payload);
            }
            Event::ReasoningMessageContent(event) => {
                let payload = json!({ "messageId": event.message_id, "delta": event.delta });
                self.put(out, "response.thinking.delta", payload);
            }
            Event::ToolCallStart(event) => {
                let call = (event.tool_call_name, String::new());
                self.calls.insert(event.tool_call_id, call);
            }
            Event::ToolCallArgs(event) => {
                if let Some((_, text)) = self.calls.get_mut(&event.tool_call_id) {
                    text.push_str(&event.delta);
                }
            }
            Event::ToolCallEnd(event) => {
                if let Some((name, text)) = self.calls.remove(&event.tool_call_id) {
                    let arguments = arguments(&text);
                    let id = event.tool_call_id;
                    let payload = json!({ "id": id, "name": name, "arguments": arguments });
                    self.put(out, "response.tool_call", payload);
                }
            }
            Event::ToolCallResult(event) => {
                let payload = json!({ "callId": event.tool_call_id, "output": event.content });
                self.put(out, "response.tool_result", payload);
            }
            Event::StateDelta(event) => {
                self.put(out, "response.state_delta", json!({ "delta": event.delta }));
            }
            Event::StateSnapshot(event) => {
                let payload = json!({ "snapshot": event.snapshot });
                self.put(out, "response.state_snapshot", payload);
            }
            Event::StepStarted(event) => self.step(out, "started", &event.step_name),
            Event::StepFinished(event) => self.step(out, "finished", &event.step_name),
            _ => {}
        }
    }

    /// Tells how the response stands now that its run has ended.
    pub(super) fn ended(&mut self, receipt: Value, out: &mut BytesMut) {
        match receipt["status"].as_str() {
            Some("failed") => {
                let payload = json!({ "error": receipt["error"], "response": receipt });
                self.put(out, "error", payload);
            }
            Some("in_progress") => self.put(out, "response.in_progress", receipt),
            Some("requires_action") => {
                let first = std::slice::from_ref(&receipt["requiredAction"]);
                let actions = receipt["requiredActions"]
                    .as_array()
                    .map_or(first, Vec::as_slice);
                for action in actions {
                    let (name, member) = announcement(action);
                    self.put(out, name, json!({ member: action }));
                }
                self.put(out, "response.completed", receipt);
            }
            _ => self.put(out, "response.completed", receipt),
        }
    }

    /// Tells that the response can't be told any further.
    pub(super) fn failed(&mut self, code: &str, message: &str, out: &mut BytesMut) {
        let error = json!({ "code": code, "message": message });
        self.put(out, "error", json!({ "error": error }));
    }

    fn step(&mut self, out: &mut BytesMut, word: &str, name: &str) {
        let payload = json!({ "activity": format!("step_{word}"), "target": name });
        self.put(out, "response.agent_activity", payload);
    }

    fn put(&mut self, out: &mut BytesMut, name: &str, payload: Value) {
        let mut members = Map::new();
        members.insert("type".to_owned(), json!(name));
        members.insert("sequence".to_owned(), json!(self.sequence));
        members.insert("responseId".to_owned(), json!(self.response_id));
        members.insert("sessionId".to_owned(), json!(self.session_id));
        if let Value::Object(payload) = payload {
            members.extend(payload);
        }
        self.sequence += 1;
        out.put_slice(b"event: ");
        out.put_slice(name.as_bytes());
        out.put_slice(b"\ndata: ");
        serde_json::to_writer(out.writer(), &members).expect("a map with string keys is JSON");
        out.put_slice(b"\n\n");
    }
}
