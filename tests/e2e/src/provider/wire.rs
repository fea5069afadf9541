//! Provider requests as the fake provider reads and judges them, whatever their format.

use serde_json::{Value, json};

use crate::json::{list, text};

/// A provider's wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    /// Chat completions.
    #[default]
    #[serde(rename = "openai")]
    OpenAi,
    /// Messages.
    Anthropic,
    /// `streamGenerateContent`.
    Gemini,
    /// `/api/chat`, lines of JSON.
    Ollama,
}

impl Wire {
    /// The format that a request path belongs to.
    pub fn of_path(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or_default();
        [
            (Self::OpenAi, "/chat/completions"),
            (Self::Anthropic, "/messages"),
            (Self::Gemini, ":streamGenerateContent"),
            (Self::Ollama, "/api/chat"),
        ]
        .into_iter()
        .find_map(|(wire, end)| path.ends_with(end).then_some(wire))
    }

    /// The provider's name in an agent file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// What stands between the address of the provider and the paths of its wire.
    pub const fn base_path(self) -> &'static str {
        match self {
            Self::OpenAi => "/v1",
            Self::Gemini => "/v1beta",
            Self::Anthropic | Self::Ollama => "",
        }
    }

    /// The content type of its stream.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Ollama => "application/x-ndjson",
            _ => "text/event-stream",
        }
    }

    /// Whether every call has an id on this wire.
    const fn has_ids(self) -> bool {
        matches!(self, Self::OpenAi | Self::Anthropic)
    }
}

/// A call in a provider request.
#[derive(Debug, Clone)]
pub struct ReplayedCall {
    /// Its id, where the wire has one.
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// The arguments; `None` if they are not JSON.
    pub arguments: Option<Value>,
}

/// A tool result in a provider request.
#[derive(Debug, Clone)]
pub struct ReplayedResult {
    /// The id of the call it answers, where the wire has one.
    pub id: Option<String>,
    /// The tool, where the wire says so.
    pub name: Option<String>,
    /// Its text.
    pub text: String,
}

/// One message of a provider request.
#[derive(Debug, Clone)]
pub struct Message {
    /// `system`, `user`, `assistant`, `tool`, or what the request says.
    pub role: String,
    /// Its text parts, joined.
    pub text: String,
    /// Its calls.
    pub calls: Vec<ReplayedCall>,
    /// Its results.
    pub results: Vec<ReplayedResult>,
    /// The message as it was sent.
    pub raw: Value,
}

/// The messages of a request.
pub fn messages(wire: Wire, body: &Value) -> Vec<Message> {
    let (member, read): (_, fn(&Value) -> Message) = match wire {
        Wire::OpenAi | Wire::Ollama => ("messages", chat),
        Wire::Anthropic => ("messages", anthropic),
        Wire::Gemini => ("contents", gemini),
    };
    list(body, member).iter().map(read).collect()
}

/// The names of the tools that a request offers.
pub fn tool_names(wire: Wire, body: &Value) -> Vec<String> {
    let tools = list(body, "tools").iter();
    match wire {
        Wire::OpenAi | Wire::Ollama => tools
            .map(|t| text(&t["function"], "name").to_owned())
            .collect(),
        Wire::Anthropic => tools.map(|t| text(t, "name").to_owned()).collect(),
        Wire::Gemini => tools
            .flat_map(|t| list(t, "functionDeclarations"))
            .map(|t| text(t, "name").to_owned())
            .collect(),
    }
}

fn optional(value: &Value, member: &str) -> Option<String> {
    value.get(member).and_then(Value::as_str).map(str::to_owned)
}

/// The text of a content that is a text, a part, or a list of either.
fn content(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(content).collect(),
        Value::Object(part) => match part.get("text") {
            Some(Value::String(text)) => text.clone(),
            _ => part.get("content").map(content).unwrap_or_default(),
        },
        _ => String::new(),
    }
}

fn chat(raw: &Value) -> Message {
    let call = |call: &Value| ReplayedCall {
        id: optional(call, "id"),
        name: text(&call["function"], "name").to_owned(),
        arguments: match &call["function"]["arguments"] {
            Value::String(text) => serde_json::from_str(text).ok(),
            Value::Null => None,
            value => Some(value.clone()),
        },
    };
    let role = text(raw, "role").to_owned();
    let result = ReplayedResult {
        id: optional(raw, "tool_call_id"),
        name: optional(raw, "tool_name").or_else(|| optional(raw, "name")),
        text: content(&raw["content"]),
    };
    Message {
        text: content(&raw["content"]),
        calls: list(raw, "tool_calls").iter().map(call).collect(),
        results: if role == "tool" { vec![result] } else { vec![] },
        role,
        raw: raw.clone(),
    }
}

fn anthropic(raw: &Value) -> Message {
    let whole = [json!({"type": "text", "text": raw["content"]})];
    let blocks = match &raw["content"] {
        Value::Array(blocks) => blocks.as_slice(),
        _ => &whole,
    };
    let of = |kind: &str| {
        blocks
            .iter()
            .filter(move |b| text(b, "type") == kind)
            .collect::<Vec<_>>()
    };
    let call = |block: &&Value| ReplayedCall {
        id: optional(block, "id"),
        name: text(block, "name").to_owned(),
        arguments: block.get("input").cloned(),
    };
    let result = |block: &&Value| ReplayedResult {
        id: optional(block, "tool_use_id"),
        name: None,
        text: content(&block["content"]),
    };
    Message {
        role: text(raw, "role").to_owned(),
        text: of("text").iter().map(|b| text(b, "text")).collect(),
        calls: of("tool_use").iter().map(call).collect(),
        results: of("tool_result").iter().map(result).collect(),
        raw: raw.clone(),
    }
}

fn gemini(raw: &Value) -> Message {
    let parts = list(raw, "parts");
    let call = |call: &Value| ReplayedCall {
        id: optional(call, "id"),
        name: text(call, "name").to_owned(),
        arguments: Some(call.get("args").cloned().unwrap_or_else(|| json!({}))),
    };
    let result = |answer: &Value| ReplayedResult {
        id: optional(answer, "id"),
        name: optional(answer, "name"),
        text: answer["response"].to_string(),
    };
    let role = match text(raw, "role") {
        "model" => "assistant",
        "" => "user",
        other => other,
    };
    let visible = parts.iter().filter(|p| p["thought"] != true);
    Message {
        role: role.to_owned(),
        text: visible.map(|p| text(p, "text")).collect(),
        calls: parts
            .iter()
            .filter_map(|p| p.get("functionCall"))
            .map(call)
            .collect(),
        results: parts
            .iter()
            .filter_map(|p| p.get("functionResponse"))
            .map(result)
            .collect(),
        raw: raw.clone(),
    }
}

/// What is wrong with a request: every call must be answered once, right after the message that
/// made it, and its arguments must be a JSON object.
pub fn problems(wire: Wire, body: &Value) -> Vec<String> {
    let messages = messages(wire, body);
    let mut out = Vec::new();
    if messages.is_empty() {
        out.push("the provider request has no messages".to_owned());
    }
    if wire.has_ids() && body["stream"] != true {
        out.push("the provider request does not ask for a stream".to_owned());
    }
    let mut at = 0;
    while let Some(message) = messages.get(at) {
        at += 1;
        if message.calls.is_empty() {
            if let Some(result) = message.results.first() {
                let which = result.id.as_ref().or(result.name.as_ref());
                out.push(format!("tool result {which:?} does not follow its call"));
            }
            continue;
        }
        out.extend(call_problems(wire, &message.calls));
        let mut answers = Vec::new();
        while let Some(next) = messages.get(at).filter(|m| !m.results.is_empty()) {
            answers.extend(next.results.iter());
            at += 1;
            if matches!(wire, Wire::Anthropic | Wire::Gemini) {
                break;
            }
        }
        out.extend(answer_problem(&message.calls, &answers));
    }
    out
}

fn call_problems(wire: Wire, calls: &[ReplayedCall]) -> Vec<String> {
    let mut out = Vec::new();
    for (at, call) in calls.iter().enumerate() {
        let which = call.id.as_ref().unwrap_or(&call.name);
        if !matches!(call.arguments, Some(Value::Object(_))) {
            out.push(format!(
                "arguments of the replayed call {which:?} are not a JSON object"
            ));
        }
        if call.name.is_empty() {
            out.push(format!("replayed call {which:?} has no name"));
        }
        if call.id.as_deref().is_none_or(str::is_empty) && wire.has_ids() {
            out.push("a replayed call has no id".to_owned());
        }
        if call.id.is_some() && calls.iter().skip(at + 1).any(|c| c.id == call.id) {
            out.push(format!("call id {which:?} is used twice in one message"));
        }
    }
    out
}

fn answer_problem(calls: &[ReplayedCall], answers: &[&ReplayedResult]) -> Option<String> {
    let by_id = calls.iter().all(|c| c.id.is_some()) && answers.iter().all(|a| a.id.is_some());
    let mut asked: Vec<_> = calls
        .iter()
        .map(|c| {
            if by_id {
                c.id.clone()
            } else {
                Some(c.name.clone())
            }
        })
        .collect();
    let mut got: Vec<_> = answers
        .iter()
        .map(|a| if by_id { a.id.clone() } else { a.name.clone() })
        .collect();
    asked.sort();
    got.sort();
    // A wire that names neither id nor tool in its results can only be counted.
    let counted = !by_id && got.iter().all(Option::is_none) && got.len() == asked.len();
    (asked != got && !counted).then(|| format!("calls {asked:?} are answered by {got:?}"))
}

/// The calls of an upstream file in order of appearance: provider id, where there is one, and name.
pub fn upstream_calls(wire: Wire, file: &[u8]) -> Vec<(Option<String>, String)> {
    let mut out: Vec<(Option<String>, String)> = Vec::new();
    for value in upstream_values(wire, file) {
        match wire {
            Wire::Ollama => {
                for call in list(&value["message"], "tool_calls") {
                    out.push((None, text(&call["function"], "name").to_owned()));
                }
            }
            Wire::Anthropic => {
                let block = &value["content_block"];
                if text(&value, "type") == "content_block_start"
                    && text(block, "type") == "tool_use"
                {
                    out.push((optional(block, "id"), text(block, "name").to_owned()));
                }
            }
            Wire::Gemini => {
                let parts = list(&value, "candidates")
                    .iter()
                    .flat_map(|c| list(&c["content"], "parts"));
                for call in parts.filter_map(|p| p.get("functionCall")) {
                    out.push((optional(call, "id"), text(call, "name").to_owned()));
                }
            }
            Wire::OpenAi => {
                let deltas = list(&value, "choices")
                    .iter()
                    .flat_map(|c| list(&c["delta"], "tool_calls"));
                for call in deltas {
                    let (id, name) = (optional(call, "id"), text(&call["function"], "name"));
                    let new = id.as_ref().is_some_and(|id| !id.is_empty())
                        && !name.is_empty()
                        && !out.iter().any(|(known, _)| *known == id);
                    if new {
                        out.push((id, name.to_owned()));
                    }
                }
            }
        }
    }
    out
}

fn upstream_values(wire: Wire, file: &[u8]) -> Vec<Value> {
    if wire == Wire::Ollama {
        let lines = file.split(|b| *b == b'\n');
        return lines
            .filter_map(|l| serde_json::from_slice(l).ok())
            .collect();
    }
    let mut decoder = antiphon_sse::Decoder::new(16 << 20);
    decoder.push(file);
    decoder.finish();
    let mut out = Vec::new();
    while let Some(Ok(event)) = decoder.next_event() {
        out.extend(serde_json::from_slice::<Value>(&event.data).ok());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(messages: &Value) -> Value {
        json!({"stream": true, "messages": messages})
    }

    #[test]
    fn a_call_without_its_result_is_found() {
        let call = json!({"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]});
        let result = json!({"role": "tool", "tool_call_id": "a", "content": "ok"});
        let user = json!({"role": "user", "content": "hi"});
        let good = request(&json!([user, call, result]));
        assert!(problems(Wire::OpenAi, &good).is_empty());
        for broken in [
            json!([user, call, user]),
            json!([user, result]),
            json!([call, user, result]),
        ] {
            assert!(
                !problems(Wire::OpenAi, &request(&broken)).is_empty(),
                "{broken}"
            );
        }
    }

    #[test]
    fn arguments_that_are_no_object_are_found() {
        let call = json!({"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{\"a\":"}}]});
        let result = json!({"role": "tool", "tool_call_id": "a", "content": "ok"});
        assert_eq!(
            problems(Wire::OpenAi, &request(&json!([call, result]))).len(),
            1
        );
    }

    #[test]
    fn calls_of_an_upstream_file_are_read_once_each() {
        let file = b"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\"}}]}}]}\n\ndata: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"\",\"function\":{\"arguments\":\"{}\"}}]}}]}\n\n";
        let calls = upstream_calls(Wire::OpenAi, file);
        assert_eq!(calls, [(Some("a".to_owned()), "f".to_owned())]);
    }
}
