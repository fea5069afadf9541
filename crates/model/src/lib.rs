//! Language models: one trait, one stream of events, provider wires as codecs without I/O.
//!
//! A [`Model`] takes a [`Request`] and answers with a stream of [`ModelEvent`]s: text, reasoning, tool calls with
//! their arguments as they are written, usage, and one finish. Whatever a provider does to its own format, the stream
//! keeps the guarantees listed at [`ModelEvent`], so that code behind it needs no special cases.

mod collect;
mod error;
mod event;
pub mod http;
mod message;
mod model;
mod openai;
mod request;
pub mod script;
pub mod wire;

pub use collect::Collected;
pub use error::{Error, ErrorKind};
pub use event::{Finish, FinishReason, ModelEvent, Usage};
pub use message::{AssistantMessage, Message, Part, Reasoning, Source, ToolCall};
pub use model::{EventStream, Model};
pub use openai::OpenAi;
pub use request::{Request, ToolChoice, ToolSpec};
