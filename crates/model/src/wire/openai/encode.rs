//! From a request to the JSON body of `POST /chat/completions`.
//!
//! The body is always well-formed for the provider: every call is answered once, right after the message that made
//! it and in the order of the calls, and arguments are JSON objects.

use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeSeq},
};
use serde_json::{Value, json};

use super::{
    Settings,
    content::{UserContent, result_text},
    origin::Origin,
};
use crate::{
    AssistantMessage, Message, Reasoning, Request, ToolCall, ToolChoice, ToolSpec,
    wire::results::Results,
};

/// What a call without a result is answered with.
const NO_RESULT: &str = "no result: the call was not completed";

/// Members of the body that parameters cannot replace.
const OURS: [&str; 4] = ["model", "messages", "stream", "tools"];

/// The JSON body of a request.
///
/// ```
/// use antiphon_model::{Message, Request, wire::openai::{Settings, encode}};
///
/// let request = Request { messages: vec![Message::user("hi")], ..Request::default() };
/// let body = encode(&request, &Settings::new("gpt-5-mini"));
/// let expected = r#"{"model":"gpt-5-mini","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]}"#;
/// assert_eq!(body, expected.as_bytes());
/// ```
#[must_use]
pub fn encode(request: &Request, settings: &Settings) -> Vec<u8> {
    // Only a map with keys that are no strings could fail, and there is none.
    serde_json::to_vec(&Body { request, settings }).unwrap_or_default()
}

struct Body<'a> {
    request: &'a Request,
    settings: &'a Settings,
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { request, settings } = self;
        let mut body = serializer.serialize_map(None)?;
        body.serialize_entry("model", &settings.model)?;
        body.serialize_entry("stream", &true)?;
        if settings.stream_usage && !request.parameters.contains_key("stream_options") {
            body.serialize_entry("stream_options", &json!({"include_usage": true}))?;
        }
        for (name, value) in &request.parameters {
            if OURS.contains(&name.as_str()) {
                tracing::warn!(
                    parameter = name,
                    "a model parameter is left out, the request sets it itself"
                );
                continue;
            }
            let name = if name == "max_output_tokens" {
                &*settings.max_tokens_name
            } else {
                name
            };
            body.serialize_entry(name, value)?;
        }
        body.serialize_entry("messages", &Messages(request))?;
        if !request.tools.is_empty() {
            body.serialize_entry("tools", &Tools(&request.tools))?;
            if let Some(choice) = tool_choice(&request.tool_choice)
                && !request.parameters.contains_key("tool_choice")
            {
                body.serialize_entry("tool_choice", &choice)?;
            }
        }
        body.end()
    }
}

fn tool_choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(json!("none")),
        ToolChoice::Required => Some(json!("required")),
        ToolChoice::Tool(name) => Some(json!({"type": "function", "function": {"name": name}})),
    }
}

struct Messages<'a>(&'a Request);

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let messages = self.0.messages.as_slice();
        let mut list = serializer.serialize_seq(None)?;
        if let Some(instructions) = self
            .0
            .instructions
            .as_deref()
            .filter(|text| !text.is_empty())
        {
            list.serialize_element(&System {
                role: "system",
                content: instructions,
            })?;
        }
        // Reasoning goes back within the tool loop that it belongs to and not later.
        let last_user = messages
            .iter()
            .rposition(|message| matches!(message, Message::User { .. }));
        let mut results = Results::new(messages);
        for (position, message) in messages.iter().enumerate() {
            match message {
                Message::User { content } => {
                    list.serialize_element(&User {
                        role: "user",
                        content: UserContent(content),
                    })?;
                }
                Message::Assistant(turn) => {
                    let in_loop = last_user.is_none_or(|user| position > user);
                    list.serialize_element(&Assistant { turn, in_loop })?;
                    for call in &turn.calls {
                        let content = results
                            .take(&call.id, position)
                            .map_or_else(|| NO_RESULT.to_owned(), result_text);
                        list.serialize_element(&Tool {
                            role: "tool",
                            tool_call_id: &call.id,
                            content,
                        })?;
                    }
                }
                Message::ToolResult { .. } => {}
            }
        }
        results.warn_of_unclaimed();
        list.end()
    }
}

#[derive(Serialize)]
struct System<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct User<'a> {
    role: &'static str,
    content: UserContent<'a>,
}

#[derive(Serialize)]
struct Tool<'a> {
    role: &'static str,
    tool_call_id: &'a str,
    content: String,
}

struct Assistant<'a> {
    turn: &'a AssistantMessage,
    in_loop: bool,
}

impl Serialize for Assistant<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { turn, in_loop } = self;
        let origin = Origin::read(turn.origin.as_ref());
        let mut message = serializer.serialize_map(None)?;
        message.serialize_entry("role", "assistant")?;
        let content = Some(&turn.text).filter(|text| !text.is_empty() || turn.calls.is_empty());
        message.serialize_entry("content", &content)?;
        if let Some(member) = origin.as_ref().and_then(Origin::reasoning_member)
            && *in_loop
            && !turn.calls.is_empty()
            && !turn.reasoning.is_empty()
        {
            message.serialize_entry(member, &Joined(&turn.reasoning))?;
        }
        if !turn.calls.is_empty() {
            message.serialize_entry(
                "tool_calls",
                &Calls {
                    calls: &turn.calls,
                    origin: origin.as_ref(),
                },
            )?;
        }
        message.end()
    }
}

/// Passages of reasoning as the one text that they were.
struct Joined<'a>(&'a [Reasoning]);

impl Serialize for Joined<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            [only] => serializer.serialize_str(&only.text),
            several => serializer.collect_str(
                &several
                    .iter()
                    .map(|passage| passage.text.as_str())
                    .collect::<String>(),
            ),
        }
    }
}

struct Calls<'a> {
    calls: &'a [ToolCall],
    origin: Option<&'a Origin>,
}

impl Serialize for Calls<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.calls.iter().map(|call| {
            Call {
                id: &call.id,
                kind: "function",
                function: Function {
                    name: &call.name,
                    arguments: call.arguments_object(),
                },
                extra_content: self
                    .origin
                    .and_then(|origin| origin.extra_content(&call.id)),
            }
        }))
    }
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    function: Function<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<&'a Value>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: &'a str,
}

struct Tools<'a>(&'a [ToolSpec]);

impl Serialize for Tools<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let nothing = json!({"type": "object", "properties": {}});
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for tool in self.0 {
            let empty = tool
                .parameters
                .as_object()
                .is_none_or(serde_json::Map::is_empty);
            let parameters = if empty { &nothing } else { &tool.parameters };
            let function = Spec {
                name: &tool.name,
                description: &tool.description,
                parameters,
            };
            list.serialize_element(&SpecEntry {
                kind: "function",
                function,
            })?;
        }
        list.end()
    }
}

#[derive(Serialize)]
struct SpecEntry<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: Spec<'a>,
}

#[derive(Serialize)]
struct Spec<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    parameters: &'a Value,
}
