//! The AG-UI vocabulary: events, messages, run input, codecs, verifier and replica. No I/O.
//!
//! An agent answers a [`RunAgentInput`] with a stream of [`Event`]s; whoever reads the stream
//! folds it into messages and state. This crate has the types of AG-UI 1.0 and everything that
//! can be done with them without a socket, a clock or a runtime.
//!
//! # An agent's side
//!
//! Read the request (tolerantly, see [`RunAgentInput::read`]), make events, translate what a
//! 0.x client cannot read ([`Dialect`]), and write each event once, as JSON in an event stream
//! ([`sse`]) or as protobuf ([`proto`]). A [`Verifier::producer`] tells whether the stream is
//! one that a server may send.
//!
//! ```
//! use antiphon_protocol::*;
//!
//! let body = serde_json::json!({
//!     "threadId": "t1",
//!     "runId": "r1",
//!     "messages": [{"id": "u1", "role": "user", "content": "Hi"}],
//! });
//! let input = RunAgentInput::read(body)?.value;
//! let dialect = Dialect::of(input.protocol_version.as_deref());
//! let mut verifier = Verifier::producer().answering(&input);
//! let mut wire = Vec::new();
//! for event in [
//!     Event::from(RunStarted::new(&*input.thread_id, &*input.run_id)),
//!     TextMessageStart::new("m1").into(),
//!     TextMessageContent::new("m1", "Hello").into(),
//!     TextMessageEnd::new("m1").into(),
//!     RunFinished::new(&*input.thread_id, &*input.run_id).into(),
//! ] {
//!     if let Some(event) = dialect.translate(event) {
//!         verifier.check(&event)?;
//!         wire.extend_from_slice(&sse::frame(None, &event.to_json()));
//!     }
//! }
//! verifier.finish()?;
//!
//! // A client's side: decode, expand, verify, fold.
//! let mut decoder = sse::Decoder::new(1 << 20);
//! let (mut chunks, mut verifier) = (Chunks::default(), Verifier::consumer());
//! let mut replica = Replica::new(input.messages, input.state);
//! let mut events = Vec::new();
//! decoder.push(&wire);
//! while let Some(received) = decoder.next_event() {
//!     if let Some(event) = received?.event {
//!         chunks.expand(event, &mut events)?;
//!     }
//!     for event in events.drain(..) {
//!         verifier.check(&event)?;
//!         replica.apply(&event);
//!     }
//! }
//! assert_eq!(replica.messages().len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A client's side
//!
//! Decode the body ([`sse::Decoder`], [`proto::Decoder`]), expand chunks ([`Chunks`]), refuse
//! what is illegal ([`Verifier::consumer`]) and fold the rest ([`Replica`]), as above. A replica
//! also tells what is open at any moment, for readers that join in the middle of a run.
//!
//! # Absent, null and unknown
//!
//! An optional member without a value is left out and never null; null inside of free JSON is
//! data. What this version does not know is dropped with a [`Warning`]; what it knows and is
//! malformed is a [`FieldError`] that names the place.

mod capabilities;
mod chunks;
mod compact;
mod content;
mod decode;
mod dialect;
mod event;
mod input;
mod json;
mod legacy;
mod message;
mod outcome;
pub mod proto;
mod replica;
pub mod sse;
mod tool;
mod verifier;
mod wire;

pub use capabilities::{
    AgentCapabilities, ExecutionCapabilities, HumanInTheLoopCapabilities, IdentityCapabilities,
    MultiAgentCapabilities, MultimodalCapabilities, MultimodalInputCapabilities,
    MultimodalOutputCapabilities, OutputCapabilities, ReasoningCapabilities, StateCapabilities,
    SubagentInfo, ToolsCapabilities, TransportCapabilities,
};
pub use chunks::Chunks;
pub use compact::compact;
pub use content::{
    AudioPart, Content, ContentPart, DataSource, DocumentPart, FileSource, ImagePart, Source,
    TextPart, UrlSource, VideoPart,
};
pub use decode::{DecodeError, Received};
pub use dialect::Dialect;
pub use event::{
    ActivityDelta, ActivitySnapshot, Base, Custom, EncryptedValueSubtype, Event, EventType,
    MessagesSnapshot, Raw, ReasoningEncryptedValue, ReasoningEnd, ReasoningMessageChunk,
    ReasoningMessageContent, ReasoningMessageEnd, ReasoningMessageStart, ReasoningStart, RunError,
    RunFinished, RunStarted, StateDelta, StateSnapshot, StepFinished, StepStarted, SubagentError,
    SubagentFinished, SubagentStarted, TextMessageChunk, TextMessageContent, TextMessageEnd,
    TextMessageStart, TextRole, ToolCallArgs, ToolCallChunk, ToolCallEnd, ToolCallResult,
    ToolCallStart,
};
pub use input::{MAX_ID_BYTES, RunAgentInput};
pub use json::{UniqueError, depth_within, unique_json};
pub use message::{
    ActivityMessage, AssistantMessage, DeveloperMessage, Message, ReasoningMessage, Role,
    SystemMessage, ToolMessage, UserMessage,
};
pub use outcome::{Interrupt, Outcome, ResumeEntry, ResumeStatus, SubagentOutcome, TokenUsage};
pub use replica::Replica;
pub use tool::{Context, FunctionCall, Tool, ToolCall};
pub use verifier::{Rule, Verifier, Violation};
pub use wire::{FieldError, Read, Warning};

/// The protocol version that this crate speaks.
pub const PROTOCOL_VERSION: &str = "1.0";

/// Application data: any members, null values included.
pub type Metadata = serde_json::Map<String, serde_json::Value>;
