//! The 31 events of AG-UI 1.0.

mod activity;
mod base;
mod reasoning;
mod run;
mod special;
mod state;
mod subagent;
mod text;
mod tool;

pub use activity::{ActivityDelta, ActivitySnapshot};
pub use base::Base;
pub use reasoning::{
    EncryptedValueSubtype, ReasoningEncryptedValue, ReasoningEnd, ReasoningMessageChunk,
    ReasoningMessageContent, ReasoningMessageEnd, ReasoningMessageStart, ReasoningStart,
};
pub use run::{RunError, RunFinished, RunStarted, StepFinished, StepStarted};
pub use special::{Custom, Raw};
pub use state::{MessagesSnapshot, StateDelta, StateSnapshot};
pub use subagent::{SubagentError, SubagentFinished, SubagentStarted};
pub use text::{TextMessageChunk, TextMessageContent, TextMessageEnd, TextMessageStart, TextRole};
pub use tool::{ToolCallArgs, ToolCallChunk, ToolCallEnd, ToolCallResult, ToolCallStart};

use base::Payload;
use serde::Serialize;
use serde_json::Value;

use crate::wire::object::{names, readable};
use crate::wire::{Fault, FieldError, Manners, Read, Reader, Reading, Wire};

macro_rules! events {
    ($($variant:ident = $name:literal: $doc:literal,)*) => {
        names! {
            /// The type of an event.
            pub enum EventType {
                $(#[doc = $doc] $variant = $name,)*
            }
        }

        impl EventType {
            /// All types, in the order of the specification's tables.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];
        }

        /// An event, as an agent sends it.
        ///
        /// ```
        /// use antiphon_protocol::{Event, TextMessageContent};
        ///
        /// let event = Event::from(TextMessageContent::new("m1", "Hello"));
        /// assert_eq!(
        ///     event.to_json(),
        ///     br#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"Hello"}"#,
        /// );
        /// ```
        #[derive(Debug, Clone, PartialEq)]
        pub enum Event {
            $(#[doc = $doc] $variant($variant),)*
        }

        $(
            impl From<$variant> for Event {
                fn from(event: $variant) -> Self {
                    Self::$variant(event)
                }
            }
        )*

        impl Event {
            /// Returns its type.
            #[must_use]
            pub const fn kind(&self) -> EventType {
                match self {
                    $(Self::$variant(_) => EventType::$variant,)*
                }
            }

            fn payload(&self) -> &dyn Payload {
                match self {
                    $(Self::$variant(event) => event,)*
                }
            }

            fn payload_mut(&mut self) -> &mut dyn Payload {
                match self {
                    $(Self::$variant(event) => event,)*
                }
            }
        }

        impl Serialize for Event {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant(event) => event.serialize(serializer),)*
                }
            }
        }

        impl Wire for Event {
            fn from_wire(value: Value, reader: &mut Reader) -> Reading<Self> {
                let object = reader.object(value)?;
                let name = reader.discriminator(&object, "type")?;
                let Some(kind) = EventType::from_name(&name) else {
                    let shown: String = name.chars().take(64).collect();
                    return Err(reader.unknown(format!("is an unknown event {shown:?} and dropped")));
                };
                match kind {
                    $(EventType::$variant => $variant::from_object(object, reader).map(Self::$variant),)*
                }
            }
        }
    };
}

events! {
    RunStarted = "RUN_STARTED": "A run begins.",
    RunFinished = "RUN_FINISHED": "A run ended without failing.",
    RunError = "RUN_ERROR": "A run failed.",
    StepStarted = "STEP_STARTED": "A step of the run begins.",
    StepFinished = "STEP_FINISHED": "A step of the run ended.",
    TextMessageStart = "TEXT_MESSAGE_START": "A text message begins.",
    TextMessageContent = "TEXT_MESSAGE_CONTENT": "A piece of a text message.",
    TextMessageEnd = "TEXT_MESSAGE_END": "A text message is complete.",
    TextMessageChunk = "TEXT_MESSAGE_CHUNK": "A text message's start and content in one.",
    ToolCallStart = "TOOL_CALL_START": "A tool call begins.",
    ToolCallArgs = "TOOL_CALL_ARGS": "A piece of a call's arguments.",
    ToolCallEnd = "TOOL_CALL_END": "A call's arguments are complete.",
    ToolCallChunk = "TOOL_CALL_CHUNK": "A call's start and arguments in one.",
    ToolCallResult = "TOOL_CALL_RESULT": "The answer to a call.",
    StateSnapshot = "STATE_SNAPSHOT": "The whole shared state.",
    StateDelta = "STATE_DELTA": "A change of the shared state.",
    MessagesSnapshot = "MESSAGES_SNAPSHOT": "All messages of the thread.",
    ActivitySnapshot = "ACTIVITY_SNAPSHOT": "The whole content of an activity.",
    ActivityDelta = "ACTIVITY_DELTA": "A change of an activity's content.",
    ReasoningStart = "REASONING_START": "A span of reasoning begins.",
    ReasoningMessageStart = "REASONING_MESSAGE_START": "A reasoning message begins.",
    ReasoningMessageContent = "REASONING_MESSAGE_CONTENT": "A piece of a reasoning message.",
    ReasoningMessageEnd = "REASONING_MESSAGE_END": "A reasoning message is complete.",
    ReasoningMessageChunk = "REASONING_MESSAGE_CHUNK": "A reasoning message's start and content in one.",
    ReasoningEnd = "REASONING_END": "A span of reasoning ended.",
    ReasoningEncryptedValue = "REASONING_ENCRYPTED_VALUE": "Opaque reasoning data of a message or call.",
    SubagentStarted = "SUBAGENT_STARTED": "A subagent begins.",
    SubagentFinished = "SUBAGENT_FINISHED": "A subagent ended without failing.",
    SubagentError = "SUBAGENT_ERROR": "A subagent failed.",
    Raw = "RAW": "An event of another system, passed on.",
    Custom = "CUSTOM": "An event of the application's own.",
}

readable!(Event);

impl Event {
    /// Reads an event as a client does: unknown members are dropped with a warning, an event of
    /// an unknown type is `None`.
    ///
    /// # Errors
    ///
    /// A known member is missing or malformed.
    pub fn read(value: Value) -> Result<Read<Option<Self>>, FieldError> {
        let mut reader = Reader::new(Manners::Event);
        let value = match Self::from_wire(value, &mut reader) {
            Ok(event) => Some(event),
            Err(Fault::Unknown) => None,
            Err(Fault::Malformed(error)) => return Err(error),
        };
        Ok(Read {
            value,
            warnings: reader.warnings,
        })
    }

    /// Returns the event as JSON.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let mut json = Vec::with_capacity(128);
        serde_json::to_writer(&mut json, self)
            .expect("writing maps with string keys into memory cannot fail");
        json
    }

    /// Returns what every event may carry.
    #[must_use]
    pub fn base(&self) -> &Base {
        self.payload().base()
    }

    /// Returns what every event may carry, to change it.
    pub fn base_mut(&mut self) -> &mut Base {
        self.payload_mut().base_mut()
    }

    /// Returns the subagent run that the event belongs to: its tag, or for the events of a
    /// subagent's life the subagent itself.
    #[must_use]
    pub fn subagent_run_id(&self) -> Option<&str> {
        self.payload().subagent_run_id()
    }
}
