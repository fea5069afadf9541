//! What the server refuses.

use serde_json::{Value, json};

use super::{Prober, to_bytes, with};

impl Prober<'_> {
    pub(super) async fn probe_refusals(&mut self) {
        self.probe_malformed().await;
        for key in ["threadId", "runId", "messages"] {
            let body = with(self.input(), key, None);
            let place = format!("without {key}");
            self.refused("refuses-fields", &place, to_bytes(&body))
                .await;
        }
        for (place, key, value) in malformed_members() {
            let body = with(self.input(), key, Some(value));
            self.refused("refuses-fields", place, to_bytes(&body)).await;
        }
    }

    async fn probe_malformed(&mut self) {
        let trailing = format!("{} trailing", self.input());
        let bodies: [(&str, &[u8]); 7] = [
            ("malformed JSON", b"{\"threadId\": \"t\", "),
            ("an empty body", b""),
            ("a JSON array", b"[]"),
            ("a JSON string", b"\"x\""),
            ("null", b"null"),
            ("trailing garbage", trailing.as_bytes()),
            (
                "invalid UTF-8",
                b"{\"threadId\":\"\xff\xfe\xc0\",\"runId\":\"r\",\"messages\":[]}",
            ),
        ];
        for (place, body) in bodies {
            self.refused("refuses-malformed", place, body.to_vec())
                .await;
        }
    }
}

/// Members that have the wrong type, and where.
fn malformed_members() -> Vec<(&'static str, &'static str, Value)> {
    let call = json!({"id": "c", "type": "function", "function": {"name": "f", "arguments": {}}});
    vec![
        ("threadId is a number", "threadId", json!(7)),
        ("runId is null", "runId", Value::Null),
        ("messages is an object", "messages", json!({})),
        ("a message is a string", "messages", json!(["hi"])),
        (
            "a message has no id",
            "messages",
            json!([{"role": "user", "content": "x"}]),
        ),
        (
            "a message id is a number",
            "messages",
            json!([{"id": 1, "role": "user", "content": "x"}]),
        ),
        (
            "a user message has no content",
            "messages",
            json!([{"id": "1", "role": "user"}]),
        ),
        (
            "a tool message has no toolCallId",
            "messages",
            json!([{"id": "1", "role": "tool", "content": "x"}]),
        ),
        (
            "a call's arguments are an object",
            "messages",
            json!([{"id": "1", "role": "assistant", "toolCalls": [call]}]),
        ),
        ("tools is a string", "tools", json!("x")),
        ("a tool has no name", "tools", json!([{"description": "d"}])),
        (
            "a context value is a number",
            "context",
            json!([{"description": "d", "value": 3}]),
        ),
        (
            "a resume status is unknown",
            "resume",
            json!([{"interruptId": "i", "status": "maybe"}]),
        ),
    ]
}
