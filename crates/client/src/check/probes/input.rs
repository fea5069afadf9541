//! What the server takes.

use serde_json::{Value, json};

use super::{Prober, with};
use crate::client::new_id;

impl Prober<'_> {
    pub(super) async fn probe_input(&mut self) {
        self.probe_optional_members().await;
        self.probe_states().await;
        self.probe_messages().await;
        self.probe_unknown().await;
        self.probe_doubtful().await;
    }

    async fn probe_optional_members(&mut self) {
        let mut body = self.input();
        for key in ["tools", "context", "state", "forwardedProps"] {
            body = with(body, key, None);
        }
        self.served("input-minimal", "only the required members", &body)
            .await;

        let mut body = self.input();
        body["futureMember"] = json!({"a": 1});
        body["messages"][0]["futureMember"] = json!([1]);
        body["context"] = json!([{"description": "d", "value": "v", "weight": 3}]);
        self.served("input-unknown-member", "members of the future", &body)
            .await;

        let mut body = self.input();
        body["messages"][0]["metadata"] = json!({"ag-ui": {}, "x": null, "y": [1, {"z": true}]});
        self.served("input-metadata", "metadata with null in it", &body)
            .await;
    }

    async fn probe_states(&mut self) {
        let states = [
            json!([]),
            json!("text"),
            json!(0),
            json!(false),
            json!({"deep": {"nested": [null]}}),
        ];
        for state in states {
            let place = format!("state {state}");
            let body = with(self.input(), "state", Some(state));
            self.served_or_refused("input-state", &place, &body).await;
        }
    }

    async fn probe_messages(&mut self) {
        let mut body = self.input();
        let mut messages = every_form();
        messages.push(body["messages"][0].clone());
        body["messages"] = json!(messages);
        self.served_or_refused("input-roles", "every role and content form", &body)
            .await;

        let mut body = self.input();
        body["threadId"] = json!(format!("スレッド-{}", new_id()));
        body["messages"][0]["content"] = json!("日本語 🧪 \u{2028} é e\u{301}");
        self.served("input-text", "text in many scripts", &body)
            .await;
    }

    async fn probe_unknown(&mut self) {
        let mut body = self.input();
        let known = body["messages"][0].clone();
        body["messages"] = json!([{"id": new_id(), "role": "oracle", "content": "?"}, known]);
        self.served("input-unknown-role", "a message of role oracle", &body)
            .await;

        let mut body = self.input();
        body["messages"][0]["content"] =
            json!([{"type": "text", "text": self.options.probe}, {"type": "hologram", "beam": 1}]);
        self.served("input-unknown-part", "a part of type hologram", &body)
            .await;
    }

    async fn probe_doubtful(&mut self) {
        let rule = "input-doubtful";
        let mut body = self.input();
        body["messages"][0]["content"] = json!([
            {"type": "text", "text": self.options.probe},
            {"type": "image", "source": {"type": "telepathy", "value": "x"}},
        ]);
        self.served_or_refused(rule, "an unknown media source", &body)
            .await;

        let mut body = self.input();
        body["messages"][0]["content"] = json!([
            {"type": "text", "text": self.options.probe},
            {"type": "binary", "mimeType": "image/png", "data": "AAAA"},
        ]);
        self.served_or_refused(rule, "a binary part of 0.x", &body)
            .await;

        let mut body = self.input();
        let message = body["messages"][0].clone();
        body["messages"] = json!([message, message]);
        self.served_or_refused(rule, "a message that is there twice", &body)
            .await;

        let entry =
            json!([{"interruptId": "nobody-asked", "status": "resolved", "payload": {"ok": true}}]);
        let body = with(self.input(), "resume", Some(entry));
        self.served_or_refused(rule, "an answer to a question that nobody asked", &body)
            .await;

        for key in ["parentRunId", "state", "forwardedProps", "resume", "tools"] {
            let body = with(self.input(), key, Some(Value::Null));
            self.served_or_refused(rule, &format!("{key} is null"), &body)
                .await;
        }
    }
}

/// A message of every role, with every content form.
fn every_form() -> Vec<Value> {
    let id = new_id;
    let url = json!({"type": "url", "value": "https://example.com/x", "mimeType": "image/png"});
    let (data, file) = (
        json!({"type": "data", "value": "AAAA", "mimeType": "audio/wav"}),
        json!({"type": "file", "value": "file-1", "provider": "openai"}),
    );
    let call = id();
    let function = json!({"name": "noop", "arguments": "{}"});
    vec![
        json!({"id": id(), "role": "system", "content": "s"}),
        json!({"id": id(), "role": "developer", "content": "d", "name": "dev"}),
        json!({"id": id(), "role": "user", "content": [
            {"type": "text", "text": "hi", "id": "p1"},
            {"type": "image", "source": url},
            {"type": "audio", "source": data},
            {"type": "video", "source": url},
            {"type": "document", "source": file, "metadata": {"filename": "a.pdf"}},
        ]}),
        json!({"id": id(), "role": "reasoning", "content": "hm", "encryptedValue": "b64"}),
        json!({"id": id(), "role": "assistant", "content": "calling", "toolCalls": [
            {"id": call, "type": "function", "function": function},
        ]}),
        json!({"id": id(), "role": "tool", "toolCallId": call, "content": [{"type": "text", "text": "r"}], "error": "soft"}),
        json!({"id": id(), "role": "assistant", "content": "done"}),
    ]
}
