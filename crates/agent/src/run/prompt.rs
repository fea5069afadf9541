//! What the model is asked: the thread in the model's own vocabulary, with the page's data marked as data.

mod data;

use std::collections::HashMap;

use antiphon_model::{
    AssistantMessage, Message as Said, Part, Reasoning, Source as Origin, ToolCall as Called,
};
use antiphon_protocol::{Content, ContentPart, Message, Source, ToolMessage};

use crate::agent::History;
use crate::store::StoredMessage;

pub(crate) use data::data_block;

/// What a call gets whose result nobody has: the provider wants an answer for each call, and the
/// model must not take silence for success.
const NO_RESULT: &str = "The result is unavailable; do not assume that the call ran.";

/// Puts a thread into the model's vocabulary.
///
/// Every call is followed at once by its result, in the order of the calls, whatever the order in
/// which the results came. Roles that only the server may speak in are left out: system and
/// developer messages of a client are data without authority, and activities are not for models.
pub(crate) fn conversation(messages: &[StoredMessage], history: History) -> Vec<Said> {
    let messages = match history {
        History::Turn => current_turn(messages),
        History::Thread | History::Client => messages,
    };
    let mut results = results(messages);
    let mut said = Vec::with_capacity(messages.len());
    let mut thoughts: Vec<Reasoning> = Vec::new();
    for stored in messages {
        match &stored.message {
            Message::User(message) => {
                thoughts.clear();
                said.push(Said::User {
                    content: parts(&message.content),
                });
            }
            Message::Reasoning(message) => thoughts.push(Reasoning {
                text: message.content.clone(),
            }),
            Message::Assistant(message) => {
                let calls: Vec<Called> = message.tool_calls.iter().map(called).collect();
                let answers: Vec<Said> = calls
                    .iter()
                    .map(|call| answer(call, results.remove(&call.id)))
                    .collect();
                said.push(Said::Assistant(AssistantMessage {
                    text: message.content.clone().unwrap_or_default(),
                    reasoning: std::mem::take(&mut thoughts),
                    calls,
                    origin: stored.origin.clone(),
                }));
                said.extend(answers);
            }
            Message::Tool(_)
            | Message::System(_)
            | Message::Developer(_)
            | Message::Activity(_) => {}
        }
    }
    said
}

fn current_turn(messages: &[StoredMessage]) -> &[StoredMessage] {
    let start = messages
        .iter()
        .rposition(|m| matches!(m.message, Message::User(_)))
        .unwrap_or(0);
    messages.get(start..).unwrap_or_default()
}

/// What came of a call.
#[derive(Clone, Copy)]
struct Came<'a> {
    result: &'a ToolMessage,
    failed: bool,
    /// What the model is told in place of words that can't be used.
    why: Option<&'a str>,
}

/// The first result of each call.
fn results(messages: &[StoredMessage]) -> HashMap<String, Came<'_>> {
    let mut results = HashMap::new();
    for stored in messages {
        if let Message::Tool(result) = &stored.message {
            let origin = stored.origin.as_ref();
            let came = Came {
                result,
                failed: result.error.is_some() || origin.is_some_and(|o| o["isError"] == true),
                why: origin.and_then(|o| o["unusable"].as_str()),
            };
            results.entry(result.tool_call_id.clone()).or_insert(came);
        }
    }
    results
}

fn called(call: &antiphon_protocol::ToolCall) -> Called {
    Called {
        id: call.id.clone(),
        name: call.function.name.clone(),
        arguments: call.function.arguments.clone(),
    }
}

fn answer(call: &Called, came: Option<Came<'_>>) -> Said {
    let (content, is_error) = match came {
        Some(Came { why: Some(why), .. }) => (vec![Part::Text(why.to_owned())], true),
        Some(Came { result, failed, .. }) => (parts(&result.content), failed),
        None => (vec![Part::Text(NO_RESULT.to_owned())], true),
    };
    Said::ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        content,
        is_error,
    }
}

fn parts(content: &Content) -> Vec<Part> {
    match content {
        Content::Text(text) => vec![Part::Text(text.clone())],
        Content::Parts(parts) => parts.iter().map(part).collect(),
    }
}

fn part(part: &ContentPart) -> Part {
    match part {
        ContentPart::Text(part) => Part::Text(part.text.clone()),
        ContentPart::Image(part) => Part::Image {
            source: source(&part.source),
        },
        ContentPart::Audio(part) => Part::Audio {
            source: source(&part.source),
        },
        ContentPart::Video(part) => Part::Video {
            source: source(&part.source),
        },
        ContentPart::Document(part) => Part::Document {
            source: source(&part.source),
        },
    }
}

fn source(source: &Source) -> Origin {
    match source {
        Source::Data(data) => Origin::Data {
            mime: data.mime_type.clone(),
            base64: data.value.clone(),
        },
        Source::Url(url) => Origin::Url {
            url: url.value.clone(),
            mime: url.mime_type.clone(),
        },
        Source::File(file) => Origin::File {
            id: file.value.clone(),
        },
    }
}

/// Puts the page's data before the last user message, never between a call and its result.
pub(crate) fn insert_data(said: &mut Vec<Said>, data: &str) {
    let place = said
        .iter()
        .rposition(|message| matches!(message, Said::User { .. }))
        .unwrap_or(said.len());
    said.insert(place, Said::user(data));
}

#[cfg(test)]
mod tests {
    use antiphon_protocol::{AssistantMessage, FunctionCall, ToolCall, UserMessage};

    use super::*;

    fn stored(message: impl Into<Message>) -> StoredMessage {
        StoredMessage {
            place: 0,
            message: message.into(),
            origin: None,
        }
    }

    fn user(id: &str, text: &str) -> StoredMessage {
        stored(Message::User(UserMessage::new(
            id,
            Content::Text(text.into()),
        )))
    }

    fn calling(id: &str, calls: &[&str]) -> StoredMessage {
        let mut message = AssistantMessage::new(id);
        let call = |id: &&str| {
            ToolCall::new(
                *id,
                FunctionCall {
                    name: "t".into(),
                    arguments: "{}".into(),
                },
            )
        };
        message.tool_calls = calls.iter().map(call).collect();
        stored(Message::Assistant(message))
    }

    fn result(id: &str, call: &str) -> StoredMessage {
        stored(Message::Tool(ToolMessage::new(
            id,
            call,
            Content::Text(format!("of {call}")),
        )))
    }

    fn shape(said: &[Said]) -> Vec<String> {
        let one = |message: &Said| match message {
            Said::User { .. } => "user".to_owned(),
            Said::Assistant(message) => format!("assistant {}", message.calls.len()),
            Said::ToolResult {
                call_id, is_error, ..
            } => format!("result {call_id} {is_error}"),
        };
        said.iter().map(one).collect()
    }

    #[test]
    fn results_follow_their_calls_in_call_order() {
        let thread = [
            user("u", "hi"),
            calling("a", &["x", "y"]),
            result("2", "y"),
            result("1", "x"),
        ];
        let said = conversation(&thread, History::Thread);
        assert_eq!(
            shape(&said),
            ["user", "assistant 2", "result x false", "result y false"]
        );
    }

    #[test]
    fn a_call_without_a_result_is_answered_neutrally() {
        let thread = [
            user("u", "hi"),
            calling("a", &["x", "y"]),
            result("1", "x"),
            user("v", "never mind"),
        ];
        let said = conversation(&thread, History::Client);
        assert_eq!(
            shape(&said),
            [
                "user",
                "assistant 2",
                "result x false",
                "result y true",
                "user"
            ]
        );
    }

    #[test]
    fn data_goes_before_the_last_user_message() {
        let thread = [
            user("u", "hi"),
            calling("a", &["x"]),
            result("1", "x"),
            user("v", "and now"),
        ];
        let mut said = conversation(&thread, History::Thread);
        insert_data(&mut said, "data");
        assert_eq!(
            shape(&said),
            ["user", "assistant 1", "result x false", "user", "user"]
        );
        assert_eq!(said[3], Said::user("data"));
    }

    #[test]
    fn a_turn_forgets_what_was_before_it() {
        let thread = [
            user("u", "hi"),
            calling("a", &["x"]),
            result("1", "x"),
            user("v", "and now"),
        ];
        assert_eq!(shape(&conversation(&thread, History::Turn)), ["user"]);
    }
}
