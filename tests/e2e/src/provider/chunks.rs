//! Chat-completions streams, written by hand for the cases that need code.

use bytes::Bytes;
use serde_json::{Value, json};

use super::reply::Write;

/// One chunk as a server-sent event.
pub fn chunk(delta: &Value, finish: Option<&str>) -> Bytes {
    let chunk = json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_767_225_600, "model": "fake-model",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    });
    Bytes::from(format!("data: {chunk}\n\n"))
}

/// A piece of text.
pub fn piece(text: &str) -> Write {
    Write::Bytes(chunk(&json!({"role": "assistant", "content": text}), None))
}

/// The end of a turn, with its sentinel.
pub fn finish(reason: &str) -> Write {
    let end = chunk(&json!({}), Some(reason));
    Write::Bytes([end.as_ref(), b"data: [DONE]\n\n"].concat().into())
}

/// A whole text answer.
pub fn text(text: &str) -> Vec<Write> {
    vec![piece(text), finish("stop")]
}

/// A call the model makes: id, name, arguments as JSON text.
#[derive(Debug, Clone)]
pub struct Call {
    id: String,
    name: String,
    arguments: String,
}

impl Call {
    /// A call with these arguments.
    pub fn new(id: &str, name: &str, arguments: &Value) -> Self {
        Self::raw(id, name, &arguments.to_string())
    }

    /// A call whose argument text is taken as it is.
    pub fn raw(id: &str, name: &str, arguments: &str) -> Self {
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        }
    }
}

/// A turn of calls, each argument text in one fragment.
pub fn calls(calls: &[Call]) -> Vec<Write> {
    fragmented(calls, usize::MAX)
}

/// A turn of calls, the argument texts in fragments of so many bytes (of ASCII text).
pub fn fragmented(calls: &[Call], size: usize) -> Vec<Write> {
    let mut writes = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        let open = json!({"tool_calls": [{"index": index, "id": call.id, "type": "function",
            "function": {"name": call.name, "arguments": ""}}]});
        writes.push(Write::Bytes(chunk(&open, None)));
        let mut rest = call.arguments.as_str();
        while !rest.is_empty() {
            let mut at = size.min(rest.len());
            while !rest.is_char_boundary(at) {
                at += 1;
            }
            let (fragment, left) = rest.split_at(at);
            let delta =
                json!({"tool_calls": [{"index": index, "function": {"arguments": fragment}}]});
            writes.push(Write::Bytes(chunk(&delta, None)));
            rest = left;
        }
    }
    writes.push(finish("tool_calls"));
    writes
}
