//! Messages as the items of a response's output.

use std::collections::HashMap;

use antiphon_protocol::{Message, ToolCall};
use serde_json::{Value, json};

/// The items that messages come to, in order. A person's words are no output.
pub(super) fn items<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Vec<Value> {
    let mut items = Vec::new();
    let mut names: HashMap<&str, &str> = HashMap::new();
    for message in messages {
        match message {
            Message::Assistant(message) => {
                let text = message.content.as_deref().filter(|text| !text.is_empty());
                items.extend(text.map(spoken));
                for call in &message.tool_calls {
                    names.insert(&call.id, &call.function.name);
                    items.push(called(call));
                }
            }
            Message::Reasoning(message) if !message.content.is_empty() => {
                let part = json!({ "type": "thinking_text", "text": message.content });
                items.push(json!({ "type": "thinking", "content": [part] }));
            }
            Message::Tool(message) => {
                let call_id = message.tool_call_id.as_str();
                let mut item = json!({
                    "type": "tool_result",
                    "callId": call_id,
                    "output": message.content,
                });
                if let Some(name) = names.get(call_id) {
                    item["name"] = json!(name);
                }
                items.push(item);
            }
            _ => {}
        }
    }
    items
}

fn spoken(text: &str) -> Value {
    let part = json!({ "type": "output_text", "text": text });
    json!({ "type": "message", "role": "assistant", "content": [part] })
}

fn called(call: &ToolCall) -> Value {
    json!({
        "type": "tool_call",
        "id": call.id,
        "name": call.function.name,
        "arguments": arguments(&call.function.arguments),
    })
}

/// A call's arguments as JSON; as text where the model wrote none.
pub(super) fn arguments(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}

/// All that was said, one message after the other.
pub(super) fn text(items: &[Value]) -> String {
    let said = items
        .iter()
        .filter(|item| item["type"] == "message")
        .filter_map(|item| item["content"][0]["text"].as_str());
    said.collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use antiphon_protocol::{
        AssistantMessage, FunctionCall, ReasoningMessage, ToolMessage, UserMessage,
    };

    use super::*;

    #[test]
    fn messages_become_items_in_order() {
        let mut first = AssistantMessage::new("m1");
        first.content = Some("Let me see.".to_owned());
        for (id, arguments) in [("c1", r#"{"city":"Bonn"}"#), ("c2", "{\"ci")] {
            let function = FunctionCall {
                name: "look".to_owned(),
                arguments: arguments.to_owned(),
            };
            first.tool_calls.push(ToolCall::new(id, function));
        }
        let mut second = AssistantMessage::new("m2");
        second.content = Some("Rain.".to_owned());
        let messages = [
            Message::User(UserMessage::new("u1", "weather?")),
            Message::Reasoning(ReasoningMessage::new("r1", "hm")),
            Message::Assistant(first),
            Message::Tool(ToolMessage::new("t1", "c1", "42")),
            Message::Tool(ToolMessage::new("t9", "elsewhere", "?")),
            Message::Assistant(second),
        ];
        let items = items(&messages);
        let expected = json!([
            { "type": "thinking", "content": [{ "type": "thinking_text", "text": "hm" }] },
            { "type": "message", "role": "assistant",
              "content": [{ "type": "output_text", "text": "Let me see." }] },
            { "type": "tool_call", "id": "c1", "name": "look", "arguments": { "city": "Bonn" } },
            { "type": "tool_call", "id": "c2", "name": "look", "arguments": "{\"ci" },
            { "type": "tool_result", "callId": "c1", "name": "look", "output": "42" },
            { "type": "tool_result", "callId": "elsewhere", "output": "?" },
            { "type": "message", "role": "assistant",
              "content": [{ "type": "output_text", "text": "Rain." }] },
        ]);
        assert_eq!(json!(items), expected);
        assert_eq!(text(&items), "Let me see.\n\nRain.");
    }
}
