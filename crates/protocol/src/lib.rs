//! The AG-UI vocabulary: events, messages, run input, codecs, verifier and replica. No I/O.
//!
//! An agent answers a [`RunAgentInput`] with a stream of [`Event`]s.

mod capabilities;
mod chunks;
mod compact;
mod content;
mod decode;
mod dialect;
mod event;
mod input;
mod json;
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
pub use json::depth_within;
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
