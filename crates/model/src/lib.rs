//! Language models: one trait, one stream of events, provider wires as codecs without I/O.
//!
//! A [`Model`] takes a [`Request`] and answers with a stream of [`ModelEvent`]s: text, reasoning, tool calls with
//! their arguments as they are written, usage, and one finish. Whatever a provider does to its own format, the stream
//! keeps the guarantees listed at [`ModelEvent`], so that code behind it needs no special cases.
//!
//! ```
//! use antiphon_model::{Collected, Message, Model, Request, script::{Script, ScriptModel}};
//! use futures_util::StreamExt;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // In the place of the script: `OpenAi::from_env()?.model("gpt-5-mini")`.
//! let script: Script = serde_json::from_str(r#"{"turns": [{"say": "Hello!"}]}"#)?;
//! let model = ScriptModel::new("greeter", script);
//!
//! let request = Request { messages: vec![Message::user("hi")], ..Request::default() };
//! let mut events = model.stream(&request);
//! let mut turn = Collected::default();
//! while let Some(event) = events.next().await {
//!     turn.push(&event?);
//! }
//! assert_eq!(turn.message.text, "Hello!");
//! # Ok(())
//! # }
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | the root | the vocabulary: requests, messages, events, errors |
//! | [`wire`] | providers' formats, each a pure encoder and a pure decoder |
//! | [`http`] | the one place that does I/O: time limits, retries, the client |
//! | [`script`] | a model that plays a written script |
//!
//! Nothing here knows the protocol that an agent speaks to its users.

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
