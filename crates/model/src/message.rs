//! The conversation as a model reads it, free of any provider's format.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One entry of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// What the person said or attached.
    User {
        /// In the order given.
        content: Vec<Part>,
    },
    /// What the model said and called in one turn.
    Assistant(AssistantMessage),
    /// What came of a tool call.
    ToolResult {
        /// The [`ToolCall::id`] that it answers.
        call_id: String,
        /// The tool's name; some providers want it beside the id.
        name: String,
        /// What the tool returned, or why it failed.
        content: Vec<Part>,
        /// The tool failed, was unknown or was not allowed to run.
        is_error: bool,
    },
}

impl Message {
    /// A user message of one text.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::User {
            content: vec![Part::Text(text.into())],
        }
    }

    /// The text result of a call that went well.
    #[must_use]
    pub fn tool_result(
        call_id: impl Into<String>,
        name: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        Self::ToolResult {
            call_id: call_id.into(),
            name: name.into(),
            content: vec![Part::Text(text.into())],
            is_error: false,
        }
    }
}

/// One turn of the model, as it was streamed and as it is sent back in the next call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// The visible text; empty in a turn that only calls tools.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// What the model thought aloud, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasoning: Vec<Reasoning>,
    /// Tool calls in the order in which they began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// What the provider needs back verbatim: signatures, ids, unknown payloads. It is the
    /// [`Finish::origin`](crate::Finish::origin) of the turn, names its provider in the member `provider`, and is
    /// ignored by every other one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Value>,
}

/// A passage of reasoning.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reasoning {
    /// The text as the provider chose to show it.
    pub text: String,
}

/// A tool call that a model made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique within the conversation.
    pub id: String,
    /// The tool's name as the model wrote it; it need not exist.
    pub name: String,
    /// JSON text as the model wrote it. A wire sends `{}` in the place of text that is empty or no JSON object.
    pub arguments: String,
}

impl ToolCall {
    /// The arguments as text that surely is a JSON object: `{}` stands for what is empty, cut or no object. Providers
    /// refuse a conversation that holds anything else.
    #[must_use]
    pub fn arguments_object(&self) -> &str {
        let text = self.arguments.trim_ascii();
        if text.starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() {
            text
        } else {
            "{}"
        }
    }
}

/// A piece of content. A wire skips, with a warning in the log, a part that its provider can't take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Part {
    /// Plain text or Markdown.
    Text(String),
    /// A picture.
    Image {
        /// Where it is.
        source: Source,
    },
    /// Speech or sound.
    Audio {
        /// Where it is.
        source: Source,
    },
    /// A film.
    Video {
        /// Where it is.
        source: Source,
    },
    /// A document such as a PDF.
    Document {
        /// Where it is.
        source: Source,
    },
}

impl Part {
    /// The text of a text part.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Image { .. }
            | Self::Audio { .. }
            | Self::Video { .. }
            | Self::Document { .. } => None,
        }
    }
}

/// Where the bytes of a part are. This crate never fetches them: a URL is handed to the provider as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// In the message itself.
    Data {
        /// Media type, such as `image/png`.
        mime: String,
        /// The bytes in standard base64.
        base64: String,
    },
    /// Behind a URL that the provider can reach.
    Url {
        /// The URL.
        url: String,
        /// Media type, where it is known.
        mime: Option<String>,
    },
    /// A file that was uploaded to the provider before.
    File {
        /// The provider's handle.
        id: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_are_no_json_object_become_an_empty_one() {
        let object = |arguments: &str| {
            ToolCall {
                arguments: arguments.into(),
                ..ToolCall::default()
            }
            .arguments_object()
            .to_owned()
        };
        assert_eq!(object(" {\"a\": 1} "), "{\"a\": 1}");
        for wrong in ["", "  ", "{\"a\":", "[1]", "null", "{} {}"] {
            assert_eq!(object(wrong), "{}", "{wrong:?}");
        }
    }

    #[test]
    fn a_message_survives_its_json() {
        let call = ToolCall {
            id: "c".into(),
            name: "t".into(),
            arguments: "{}".into(),
        };
        let messages = vec![
            Message::user("hi"),
            Message::Assistant(AssistantMessage {
                calls: vec![call],
                ..AssistantMessage::default()
            }),
            Message::tool_result("c", "t", "done"),
        ];
        let json = serde_json::to_string(&messages).unwrap();
        assert_eq!(
            serde_json::from_str::<Vec<Message>>(&json).unwrap(),
            messages
        );
    }
}
