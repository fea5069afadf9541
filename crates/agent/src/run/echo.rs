//! What a page sends as its state although nobody changed it: it still shows what a call would make of
//! the state.

use std::collections::HashSet;

use antiphon_protocol::{Message, ToolCall, ToolMessage};
use serde_json::{Map, Value};

use super::mapped::overlay;
use super::shared::SharedState;
use crate::agent::BuiltAgent;
use crate::canonical;
use crate::store::{Call, Thread};

/// The parts of a page's state that are no changes.
pub(super) struct Echoes {
    /// Keys that show calls which are not settled.
    unsettled: HashSet<String>,
    /// What calls showed that were settled without the page: here only the value tells an echo from a
    /// change.
    settled: Vec<Map<String, Value>>,
}

impl Echoes {
    /// What a page may send back without meaning it. `sent` is its list of messages, `before` the calls
    /// that were not settled before this request came.
    pub(super) fn new(
        agent: &BuiltAgent,
        thread: &Thread,
        before: &[Call],
        sent: &[Message],
    ) -> Self {
        let mappings = &agent.settings.mappings;
        let mut echoes = Self {
            unsettled: HashSet::new(),
            settled: Vec::new(),
        };
        if mappings.predictions.is_empty() && mappings.calls.is_empty() {
            return echoes;
        }
        let state = || thread.state.clone().unwrap_or_default();
        echoes.unsettled = SharedState::shown_keys(agent, state(), &thread.calls);
        let is_settled = |call: &&Call| !thread.calls.iter().any(|open| open.id == call.id);
        let now = before
            .iter()
            .filter(is_settled)
            .map(|call| overlay(agent, &call.id, &call.tool, &call.arguments, state).0);
        let unseen = unseen(thread, sent).map(|call| {
            let function = &call.function;
            overlay(agent, &call.id, &function.name, &function.arguments, state).0
        });
        echoes.settled = now.chain(unseen).collect();
        echoes
    }

    /// Whether a member of a page's state only shows a call.
    pub(super) fn contain(&self, key: &str, value: &Value) -> bool {
        let showed = |keys: &Map<String, Value>| {
            keys.get(key)
                .is_some_and(|shown| canonical::same(shown, value))
        };
        self.unsettled.contains(key) || self.settled.iter().any(showed)
    }
}

/// Calls that the page holds without the results that the thread has of them. What happened in its sight
/// it holds in full; a page that sends no history says nothing of what it has seen.
fn unseen<'a>(thread: &'a Thread, sent: &[Message]) -> impl Iterator<Item = &'a ToolCall> {
    let messages = || thread.messages.iter().map(|stored| &stored.message);
    let held: HashSet<&str> = sent
        .iter()
        .flat_map(Message::tool_calls)
        .map(|call| call.id.as_str())
        .collect();
    let missing: HashSet<&str> = messages()
        .filter_map(|message| match message {
            Message::Tool(result) => Some(result),
            _ => None,
        })
        .filter(|result| held.contains(result.tool_call_id.as_str()) && !holds(sent, result))
        .map(|result| result.tool_call_id.as_str())
        .collect();
    messages()
        .flat_map(Message::tool_calls)
        .filter(move |call| missing.contains(call.id.as_str()))
}

/// Whether a list has a result, be it under an id of the page's own.
fn holds(sent: &[Message], result: &ToolMessage) -> bool {
    sent.iter().any(|message| match message {
        Message::Tool(held) => {
            held.tool_call_id == result.tool_call_id
                && (held.id == result.id || held.content.text() == result.content.text())
        }
        _ => false,
    })
}
