//! OpenAI's chat completions, as OpenAI and the many servers that imitate it speak them.
//!
//! The format is documented at <https://platform.openai.com/docs/api-reference/chat/create>. What imitators make of
//! it is read as well: repeated, empty or missing ids and indexes, arguments as an object, errors inside a stream,
//! chunks without choices, and reasoning that has to be sent back.

mod calls;
mod chunk;
mod content;
mod decode;
mod encode;
mod failure;
mod origin;

use std::borrow::Cow;

pub use decode::Decoder;
pub use encode::encode;

use crate::{
    Error, Request,
    wire::{CallIds, Limits, Wire},
};

/// The provider's name, and the tag of what is kept for it.
pub const PROVIDER: &str = "openai";

/// What a server of this family has to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The model's name.
    pub model: String,
    /// What this server calls the parameter `max_output_tokens`. OpenAI: `max_completion_tokens`; many others know
    /// only `max_tokens`.
    pub max_tokens_name: Cow<'static, str>,
    /// Whether to ask for usage in the stream. A few servers refuse a request that has `stream_options`.
    pub stream_usage: bool,
}

impl Settings {
    /// What OpenAI itself expects.
    #[must_use]
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            max_tokens_name: Cow::Borrowed("max_completion_tokens"),
            stream_usage: true,
        }
    }
}

/// The wire of chat completions.
#[derive(Debug, Clone)]
pub struct ChatCompletions {
    /// What the server has to be told.
    pub settings: Settings,
    /// How much of an answer is taken.
    pub limits: Limits,
}

impl Wire for ChatCompletions {
    type Decoder = Decoder;

    fn provider(&self) -> &str {
        PROVIDER
    }

    fn model(&self) -> &str {
        &self.settings.model
    }

    fn encode(&self, request: &Request) -> Vec<u8> {
        encode(request, &self.settings)
    }

    fn decoder(&self, request: &Request) -> Decoder {
        Decoder::new(&self.settings.model, CallIds::new(request), self.limits)
    }

    fn failure(&self, body: &[u8]) -> Option<Error> {
        failure::in_body(body)
    }
}
