//! Requests in OpenAI's format, well-formed whatever the conversation holds.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use antiphon_model::{
    AssistantMessage, Message, Part, Reasoning, Request, Source, ToolCall, ToolChoice, ToolSpec,
    wire::openai::{Settings, encode},
};
use serde_json::{Value, json};

fn sent(request: &Request) -> Value {
    serde_json::from_slice(&encode(request, &Settings::new("m"))).unwrap()
}

fn messages(messages: Vec<Message>) -> Value {
    sent(&Request {
        messages,
        ..Request::default()
    })["messages"]
        .take()
}

fn calls(ids: &[&str]) -> Message {
    let call = |id: &&str| ToolCall {
        id: (*id).into(),
        name: "t".into(),
        arguments: "{}".into(),
    };
    Message::Assistant(AssistantMessage {
        calls: ids.iter().map(call).collect(),
        ..AssistantMessage::default()
    })
}

/// Role and call id of each message.
fn order(sent: &Value) -> Vec<String> {
    let line = |message: &Value| {
        let id = message["tool_call_id"].as_str().unwrap_or_default();
        format!("{} {id}", message["role"].as_str().unwrap())
            .trim()
            .to_owned()
    };
    sent.as_array().unwrap().iter().map(line).collect()
}

#[test]
fn a_request_holds_everything_under_the_providers_names() {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let tool = |name: &str, parameters| ToolSpec {
        name: name.into(),
        description: "d".into(),
        parameters,
    };
    let request = Request {
        instructions: Some("be kind".into()),
        messages: vec![Message::user("hi")],
        tools: vec![tool("weather", schema.clone()), tool("now", Value::Null)].into(),
        tool_choice: ToolChoice::Tool("weather".into()),
        parameters: json!({"temperature": 0.2, "max_output_tokens": 9, "stream": false})
            .as_object()
            .unwrap()
            .clone(),
    };
    let function = |name, parameters| json!({"type": "function", "function": {"name": name, "description": "d", "parameters": parameters}});
    let expected = json!({
        "model": "m",
        "stream": true,
        "stream_options": {"include_usage": true},
        "temperature": 0.2,
        "max_completion_tokens": 9,
        "messages": [{"role": "system", "content": "be kind"}, {"role": "user", "content": "hi"}],
        "tools": [function("weather", schema), function("now", json!({"type": "object", "properties": {}}))],
        "tool_choice": {"type": "function", "function": {"name": "weather"}},
    });
    assert_eq!(sent(&request), expected);
}

#[test]
fn a_server_may_have_other_names_and_know_no_usage() {
    let parameters = json!({"max_output_tokens": 9}).as_object().unwrap().clone();
    let request = Request {
        parameters,
        tool_choice: ToolChoice::Required,
        ..Request::default()
    };
    let settings = Settings {
        max_tokens_name: "max_tokens".into(),
        stream_usage: false,
        ..Settings::new("m")
    };
    let sent: Value = serde_json::from_slice(&encode(&request, &settings)).unwrap();
    // A choice without tools would be refused.
    assert_eq!(
        sent,
        json!({"model": "m", "stream": true, "max_tokens": 9, "messages": []})
    );
}

#[test]
fn results_follow_their_calls_in_the_order_of_the_calls() {
    let result = |id: &str| Message::tool_result(id, "t", id);
    let history = vec![
        Message::user("go"),
        calls(&["a", "b"]),
        Message::user("in between"),
        result("b"),
        result("a"),
        result("b"),
        result("unknown"),
        calls(&["c"]),
        Message::user("well?"),
    ];
    let sent = messages(history);
    let expected = [
        "user",
        "assistant",
        "tool a",
        "tool b",
        "user",
        "assistant",
        "tool c",
        "user",
    ];
    assert_eq!(order(&sent), expected);
    assert_eq!(sent[6]["content"], "no result: the call was not completed");
}

#[test]
fn an_id_used_in_two_turns_is_answered_in_each() {
    let result = |text: &str| Message::tool_result("call_0", "t", text);
    let sent = messages(vec![
        calls(&["call_0"]),
        result("first"),
        calls(&["call_0"]),
        result("second"),
    ]);
    assert_eq!(
        order(&sent),
        ["assistant", "tool call_0", "assistant", "tool call_0"]
    );
    assert_eq!(
        (&sent[1]["content"], &sent[3]["content"]),
        (&json!("first"), &json!("second"))
    );
}

#[test]
fn stored_arguments_that_are_no_json_are_replaced() {
    let call = ToolCall {
        id: "a".into(),
        name: "t".into(),
        arguments: "{\"title\":\"Big".into(),
    };
    let turn = AssistantMessage {
        calls: vec![call],
        ..AssistantMessage::default()
    };
    let sent = messages(vec![Message::Assistant(turn)]);
    assert_eq!(sent[0]["tool_calls"][0]["function"]["arguments"], "{}");
    assert_eq!(sent[0]["content"], Value::Null);
}

#[test]
fn reasoning_goes_back_within_its_tool_loop_to_the_server_that_sent_it() {
    let turn = |provider: &str| {
        Message::Assistant(AssistantMessage {
            reasoning: vec![
                Reasoning {
                    text: "Need ".into(),
                },
                Reasoning {
                    text: "weather.".into(),
                },
            ],
            calls: vec![ToolCall {
                id: "a".into(),
                name: "t".into(),
                arguments: "{}".into(),
            }],
            origin: Some(json!({"provider": provider, "reasoning_member": "reasoning_content"})),
            ..AssistantMessage::default()
        })
    };
    let result = || Message::tool_result("a", "t", "ok");
    let in_loop = messages(vec![Message::user("go"), turn("openai"), result()]);
    assert_eq!(in_loop[1]["reasoning_content"], "Need weather.");
    let later = messages(vec![
        Message::user("go"),
        turn("openai"),
        result(),
        Message::user("thanks"),
    ]);
    assert!(later[1].get("reasoning_content").is_none());
    let other = messages(vec![Message::user("go"), turn("anthropic"), result()]);
    assert!(other[1].get("reasoning_content").is_none());
}

#[test]
fn parts_take_the_providers_shapes_and_what_it_cannot_take_is_left_out() {
    let data = |mime: &str| Source::Data {
        mime: mime.into(),
        base64: "AAAA".into(),
    };
    let url = |url: &str| Source::Url {
        url: url.into(),
        mime: None,
    };
    let content = vec![
        Part::Text("look".into()),
        Part::Image {
            source: data("image/png"),
        },
        Part::Image {
            source: url("https://example.com/a.png"),
        },
        Part::Audio {
            source: data("audio/mpeg"),
        },
        Part::Document {
            source: data("application/pdf"),
        },
        Part::Document {
            source: Source::File {
                id: "file-1".into(),
            },
        },
        Part::Video {
            source: url("https://example.com/a.mp4"),
        },
        Part::Audio {
            source: url("https://example.com/a.mp3"),
        },
    ];
    let expected = json!([
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
        {"type": "file", "file": {"filename": "document.pdf", "file_data": "data:application/pdf;base64,AAAA"}},
        {"type": "file", "file": {"file_id": "file-1"}},
    ]);
    assert_eq!(
        messages(vec![Message::User { content }])[0]["content"],
        expected
    );
    let nothing = vec![Part::Video {
        source: data("video/mp4"),
    }];
    assert_eq!(
        messages(vec![Message::User { content: nothing }])[0]["content"],
        ""
    );
}
