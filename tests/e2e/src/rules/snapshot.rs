//! A MESSAGES_SNAPSHOT repeats what the stream has said; it may not take anything of it back.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::json::{arguments, list, same, text};

/// What a stream has said before the snapshot.
pub(super) struct Said<'a> {
    /// Messages of the stream.
    pub(super) streamed: &'a BTreeMap<String, &'static str>,
    /// Calls of the stream and their tools.
    pub(super) calls: &'a [(String, String)],
    /// The last message of the request.
    pub(super) asked: Option<&'a Value>,
}

/// Messages reduced to what has to stay: id, role, content, calls, the answered call.
pub(super) fn outline(messages: &[Value]) -> Vec<Value> {
    let outline = |message: &Value| {
        let call = |call: &Value| {
            let raw = text(&call["function"], "arguments");
            let value = arguments(raw).unwrap_or_else(|| json!(raw));
            json!([call["id"], call["function"]["name"], value])
        };
        let content = message.get("content").filter(|c| !c.is_null());
        json!({
            "id": message["id"], "role": message["role"], "content": content.unwrap_or(&json!("")),
            "calls": list(message, "toolCalls").iter().map(call).collect::<Vec<_>>(),
            "toolCallId": message["toolCallId"],
        })
    };
    messages.iter().map(outline).collect()
}

/// The tool of a call in a message list.
pub(super) fn tool_of(messages: &[Value], call: &str) -> Option<String> {
    let calls = messages.iter().flat_map(|m| list(m, "toolCalls"));
    let mut found = calls.filter(|c| text(c, "id") == call);
    found
        .next()
        .map(|c| text(&c["function"], "name").to_owned())
}

/// What a snapshot takes back: `before` and `after` are what the client held before and after
/// it, `raw` is its own list.
pub(super) fn contradictions(
    before: &[Value],
    after: &[Value],
    raw: &[Value],
    said: &Said<'_>,
) -> Vec<String> {
    let (old, new, listed) = (outline(before), outline(after), outline(raw));
    let mut out = Vec::new();
    let ids: BTreeSet<_> = listed.iter().map(|m| text(m, "id")).collect();
    if ids.len() != listed.len() {
        out.push("MESSAGES_SNAPSHOT holds one id twice".to_owned());
    }
    for message in &old {
        let id = text(message, "id");
        let own_call = |c: &Value| said.calls.iter().any(|(call, _)| c[0] == **call);
        let streamed =
            said.streamed.contains_key(id) || list(message, "calls").iter().any(own_call);
        let asked = said
            .asked
            .is_some_and(|m| m["id"] == *id && m["role"] == "user");
        match new.iter().find(|m| text(m, "id") == id) {
            None if streamed || asked => {
                out.push(format!("MESSAGES_SNAPSHOT drops message {id:?}"));
            }
            Some(now) if streamed && !same(now, message) => {
                out.push(format!(
                    "MESSAGES_SNAPSHOT changes message {id:?}: {message} became {now}"
                ));
            }
            _ => {}
        }
    }
    let both = |messages: &[Value], other: &[Value]| {
        let known: BTreeSet<_> = other.iter().map(|m| text(m, "id").to_owned()).collect();
        order(messages.iter().filter(|m| known.contains(text(m, "id"))))
    };
    if both(&listed, &old) != both(&old, &listed) {
        out.push("MESSAGES_SNAPSHOT changes the order of messages".to_owned());
    }
    out
}

/// The ids in order; neighbouring results are one place, as they may be listed in any order.
fn order<'a>(messages: impl Iterator<Item = &'a Value>) -> Vec<BTreeSet<String>> {
    let mut out: Vec<BTreeSet<String>> = Vec::new();
    let mut in_results = false;
    for message in messages {
        let id = text(message, "id").to_owned();
        let is_result = text(message, "role") == "tool";
        match out.last_mut().filter(|_| is_result && in_results) {
            Some(place) => drop(place.insert(id)),
            None => out.push(BTreeSet::from([id])),
        }
        in_results = is_result;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(before: &Value, snapshot: &Value) -> usize {
        let streamed = BTreeMap::from([("a1".to_owned(), "text")]);
        let said = Said {
            streamed: &streamed,
            calls: &[],
            asked: None,
        };
        let list = |v: &Value| v.as_array().unwrap().clone();
        contradictions(&list(before), &list(snapshot), &list(snapshot), &said).len()
    }

    #[test]
    fn a_snapshot_that_repeats_the_stream_is_no_contradiction() {
        let user = json!({"id": "u1", "role": "user", "content": "hi"});
        let said = json!({"id": "a1", "role": "assistant", "content": "Hello"});
        assert_eq!(found(&json!([user, said]), &json!([user, said])), 0);
        let other = json!({"id": "a1", "role": "assistant", "content": "Hell"});
        assert_eq!(found(&json!([user, said]), &json!([user, other])), 1);
        assert_eq!(found(&json!([user, said]), &json!([user])), 1);
        assert_eq!(found(&json!([user, said]), &json!([said, user])), 1);
        assert_eq!(found(&json!([user, said]), &json!([user, said, said])), 2);
    }
}
