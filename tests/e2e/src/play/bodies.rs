//! The bodies that an AG-UI client sends.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::{Play, Step, Stop};
use crate::json::{merge, text};

impl Play {
    /// A run id that this play has not used.
    pub fn new_run_id(&self) -> String {
        format!(
            "run-{}",
            self.run_numbers.fetch_add(1, Ordering::Relaxed) + 1
        )
    }

    /// The first body with ids of this thread; members of `change` replace, `null` removes.
    pub fn body(&self, change: &Value) -> Value {
        let mut body = self.first_body.clone();
        body["threadId"] = json!(self.thread);
        body["runId"] = json!(self.new_run_id());
        if body.get("protocolVersion").is_none() {
            body["protocolVersion"] = json!("1.0");
        }
        replace(&mut body, change);
        body
    }

    /// The following body: what the client holds, `append` after it.
    pub fn next_body(&self, append: &[Value], change: &Value) -> Value {
        let mut messages = self.held.messages.clone();
        messages.extend_from_slice(append);
        let mut body = self.body(&json!({"messages": messages}));
        body["state"] = self.held.state.clone();
        replace(&mut body, change);
        body
    }

    /// A user message with an id of its own.
    pub fn user(&self, words: &str) -> Value {
        json!({"id": format!("u-{}", self.new_run_id()), "role": "user", "content": words})
    }

    /// A resume entry for the open interrupt of a provider's call, or of a place in the list.
    ///
    /// # Errors
    ///
    /// There is no such interrupt.
    pub fn entry(&self, call: &str, payload: &Value) -> Step<Value> {
        let wire = self.wire_call(call);
        let wire = wire.as_deref().unwrap_or(call);
        let mut found = self.open.iter().filter(|i| text(i, "toolCallId") == wire);
        let interrupt = found
            .next()
            .ok_or_else(|| Stop::new(format!("no interrupt for the call {call:?}")))?;
        Ok(resolved(interrupt, payload))
    }

    /// A resume entry for the n-th open interrupt.
    ///
    /// # Errors
    ///
    /// There are not so many.
    pub fn entry_at(&self, place: usize, payload: &Value) -> Step<Value> {
        let interrupt = self.open.get(place);
        let interrupt =
            interrupt.ok_or_else(|| Stop::new(format!("no interrupt number {}", place + 1)))?;
        Ok(resolved(interrupt, payload))
    }

    /// The `toolCallId` on the wire for a provider's call: the same, or matched by name and place.
    pub fn wire_call(&self, provider_id: &str) -> Option<String> {
        if self.calls.iter().any(|c| c.id == provider_id) {
            return Some(provider_id.to_owned());
        }
        let requests = self.stage.provider.requests();
        let made: Vec<_> = requests.iter().flat_map(|r| &r.calls).collect();
        let (_, name) = made
            .iter()
            .find(|(id, _)| id.as_deref() == Some(provider_id))?;
        let mut of_name = made.iter().filter(|(_, n)| n == name);
        let place = of_name.position(|(id, _)| id.as_deref() == Some(provider_id))?;
        let mut mine = self.calls.iter().filter(|c| c.name == *name);
        mine.nth(place).map(|call| call.id.clone())
    }
}

/// Members of `change` replace those of `body`, `null` removes.
fn replace(body: &mut Value, change: &Value) {
    for (key, value) in change.as_object().into_iter().flatten() {
        if let (false, Some(body)) = (value.is_null(), body.as_object_mut()) {
            body.insert(key.clone(), value.clone());
        } else {
            merge(body, &json!({ key: null }));
        }
    }
}

fn resolved(interrupt: &Value, payload: &Value) -> Value {
    json!({"interruptId": interrupt["id"], "status": "resolved", "payload": payload})
}
