//! What a model call reports while it runs.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One step of a model's answer.
///
/// # Guarantees
/// Every stream of a [`Model`](crate::Model) keeps these, whatever the provider sent:
///
/// - Deltas of text, reasoning and arguments are never empty.
/// - `index` counts the calls of this turn from 0 in the order in which they began.
/// - [`CallStarted`](Self::CallStarted) comes when the name is known. An id that the provider left out is made; one
///   that this turn or the request's conversation already uses is made unique.
/// - Arguments of different calls may interleave; each delta belongs to the call with its `index`. A call without
///   arguments gets `{}`.
/// - [`CallEnded`](Self::CallEnded) comes exactly once for each call, as soon as no more arguments can follow, and
///   always before `Finished`. Whether the arguments can be trusted is known at the finish: see
///   [`FinishReason::is_complete`].
/// - [`Usage`](Self::Usage) comes at most once, right before `Finished`.
/// - [`Finished`](Self::Finished) comes exactly once and last. A stream whose bytes end without the provider's finish
///   yields an error instead, and calls that are open then get no `CallEnded`.
/// - After an error nothing follows.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ModelEvent {
    /// More of the visible text.
    Text(String),
    /// More of what the model thinks aloud.
    Reasoning(String),
    /// A tool call begins.
    CallStarted {
        /// Number of the call in this turn.
        index: usize,
        /// Its id.
        id: String,
        /// The tool's name as the model wrote it.
        name: String,
    },
    /// More of a call's arguments, a piece of JSON text that may be cut anywhere between two characters.
    CallArguments {
        /// Number of the call in this turn.
        index: usize,
        /// The next characters.
        delta: String,
    },
    /// A call's arguments are all there.
    CallEnded {
        /// Number of the call in this turn.
        index: usize,
    },
    /// What the call cost.
    Usage(Usage),
    /// The turn is over.
    Finished(Finish),
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Finish {
    /// Why the model stopped.
    pub reason: FinishReason,
    /// What this provider needs back with the turn: goes to [`AssistantMessage::origin`](crate::AssistantMessage).
    pub origin: Option<Value>,
}

/// Why a model stopped. Decided from what it sent and not only from the provider's label: a turn with calls that is
/// labelled `stop` is [`ToolCalls`](Self::ToolCalls).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinishReason {
    /// It said what it had to say.
    Stop,
    /// It waits for the results of its calls.
    ToolCalls,
    /// The limit of output tokens cut it short.
    Length,
    /// A filter of the provider cut it short.
    ContentFilter,
    /// It declined; its text says so.
    Refusal,
    /// A reason that only this provider knows, in its words.
    Other(String),
}

impl FinishReason {
    /// Whether the turn is whole. If not, no call of it may run: the last one's arguments may be cut, even where they
    /// happen to be valid JSON.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !matches!(self, Self::Length | Self::ContentFilter)
    }
}

/// Tokens of one model call, as far as the provider tells. Counts include their parts: `cached_input_tokens` is part
/// of `input_tokens`, `reasoning_tokens` of `output_tokens`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// The provider's name, such as `openai`.
    pub provider: String,
    /// The model that answered, as the provider names it.
    pub model: String,
    /// Tokens read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Both, as the provider sums them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
    /// Tokens of reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// Input tokens served from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input_tokens: Option<u64>,
    /// Input tokens written to a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_input_tokens: Option<u64>,
}
