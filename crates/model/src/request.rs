//! What a model is asked: instructions, the conversation, the tools it may call, and parameters.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Message;

/// One model call.
///
/// ```
/// use antiphon_model::{Message, Request};
///
/// let request = Request { messages: vec![Message::user("hi")], ..Request::default() };
/// assert!(request.tools.is_empty());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The system prompt.
    pub instructions: Option<String>,
    /// The conversation, oldest first. Results may stand anywhere after their call; a wire sends each one where its
    /// provider wants it.
    pub messages: Vec<Message>,
    /// The tools that the model may call.
    pub tools: Arc<[ToolSpec]>,
    /// Whether it may, must or must not call one.
    pub tool_choice: ToolChoice,
    /// Sampling parameters under the provider's own names, passed on as they are. `max_output_tokens` is the one name
    /// that is translated.
    pub parameters: Map<String, Value>,
}

/// A tool as a model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name that the model calls.
    pub name: String,
    /// What it does, in words for the model.
    pub description: String,
    /// A JSON Schema of its arguments; `null` and `{}` mean a tool without parameters.
    pub parameters: Value,
}

/// Whether the model may, must or must not call tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// No calls, although tools are described.
    None,
    /// At least one call.
    Required,
    /// A call of the tool with this name.
    Tool(String),
}
