//! The messages of a thread.

use serde_json::{Map, Value};

use crate::wire::object::{names, object, union};
use crate::wire::{Reader, Reading, Wire};
use crate::{Content, Metadata, ToolCall};

names! {
    /// Whose words a message holds.
    pub enum Role {
        /// The application's developer.
        Developer = "developer",
        /// The application.
        System = "system",
        /// The model.
        Assistant = "assistant",
        /// The person.
        User = "user",
        /// A tool, answering a call.
        Tool = "tool",
        /// Progress shown to the person; it never reaches a model.
        Activity = "activity",
        /// The model, thinking.
        Reasoning = "reasoning",
    }
}

union! {
    /// One message of a thread.
    pub enum Message by "role" {
        /// From the application's developer.
        Developer(DeveloperMessage) = "developer",
        /// From the application.
        System(SystemMessage) = "system",
        /// From the person.
        User(UserMessage) = "user",
        /// From the model.
        Assistant(AssistantMessage) = "assistant",
        /// A tool's answer to a call.
        Tool(ToolMessage) = "tool",
        /// The model's reasoning.
        Reasoning(ReasoningMessage) = "reasoning",
        /// Progress shown to the person.
        Activity(ActivityMessage) = "activity",
    }
}

impl Wire for Message {
    fn from_wire(value: Value, reader: &mut Reader) -> Reading<Self> {
        let object = reader.object(value)?;
        Self::from_object(object, reader)
    }
}

/// Runs the same code on whichever message it is.
macro_rules! each {
    ($message:expr, $inner:ident => $body:expr) => {
        match $message {
            Message::Developer($inner) => $body,
            Message::System($inner) => $body,
            Message::User($inner) => $body,
            Message::Assistant($inner) => $body,
            Message::Tool($inner) => $body,
            Message::Reasoning($inner) => $body,
            Message::Activity($inner) => $body,
        }
    };
}

impl Message {
    /// Returns the id, unique within the thread.
    #[must_use]
    pub fn id(&self) -> &str {
        each!(self, message => &message.id)
    }

    /// Gives the message another id.
    pub fn set_id(&mut self, id: impl Into<String>) {
        let id = id.into();
        each!(self, message => message.id = id);
    }

    /// Returns whose words it holds.
    #[must_use]
    pub const fn role(&self) -> Role {
        match self {
            Self::Developer(_) => Role::Developer,
            Self::System(_) => Role::System,
            Self::User(_) => Role::User,
            Self::Assistant(_) => Role::Assistant,
            Self::Tool(_) => Role::Tool,
            Self::Reasoning(_) => Role::Reasoning,
            Self::Activity(_) => Role::Activity,
        }
    }

    /// Returns the metadata.
    #[must_use]
    pub const fn metadata(&self) -> Option<&Metadata> {
        each!(self, message => message.metadata.as_ref())
    }

    /// Returns the metadata, to change it.
    pub const fn metadata_mut(&mut self) -> &mut Option<Metadata> {
        each!(self, message => &mut message.metadata)
    }

    /// Returns the subagent run that the message belongs to.
    #[must_use]
    pub fn subagent_run_id(&self) -> Option<&str> {
        each!(self, message => message.subagent_run_id.as_deref())
    }

    /// Returns the calls of an assistant message, none for any other.
    #[must_use]
    pub fn tool_calls(&self) -> &[ToolCall] {
        match self {
            Self::Assistant(message) => &message.tool_calls,
            _ => &[],
        }
    }
}

macro_rules! message {
    (
        $(#[$meta:meta])*
        $name:ident = $role:literal {
            required { $($required:tt)* }
            optional { $($optional:tt)* }
            $(lists { $($lists:tt)* })?
        }
    ) => {
        object! {
            $(#[$meta])*
            pub struct $name {
                constants { "role" = $role Required, }
                required {
                    /// Unique within the thread.
                    id: String = "id",
                    $($required)*
                }
                optional {
                    $($optional)*
                    /// Application data.
                    metadata: Metadata = "metadata",
                    /// The subagent run that it belongs to.
                    subagent_run_id: String = "subagentRunId",
                }
                $(lists { $($lists)* })?
            }
        }
    };
}

message! {
    /// Instructions from the application's developer.
    DeveloperMessage = "developer" {
        required {
            /// The text.
            content: String = "content",
        }
        optional {
            /// Who speaks, where several do.
            name: String = "name",
            /// Opaque provider data, returned unchanged.
            encrypted_value: String = "encryptedValue",
        }
    }
}

message! {
    /// Instructions from the application.
    SystemMessage = "system" {
        required {
            /// The text.
            content: String = "content",
        }
        optional {
            /// Who speaks, where several do.
            name: String = "name",
            /// Opaque provider data, returned unchanged.
            encrypted_value: String = "encryptedValue",
        }
    }
}

message! {
    /// What the person said.
    UserMessage = "user" {
        required {
            /// Text, or parts.
            content: Content = "content",
        }
        optional {
            /// Who speaks, where several do.
            name: String = "name",
            /// Opaque provider data, returned unchanged.
            encrypted_value: String = "encryptedValue",
        }
    }
}

message! {
    /// What the model said and which tools it called.
    AssistantMessage = "assistant" {
        required {}
        optional {
            /// The text, if there is any.
            content: String = "content",
            /// Who speaks, where several do.
            name: String = "name",
            /// Opaque provider data, returned unchanged.
            encrypted_value: String = "encryptedValue",
        }
        lists {
            /// The calls, in order.
            tool_calls: ToolCall = "toolCalls",
        }
    }
}

message! {
    /// The answer to a tool call.
    ToolMessage = "tool" {
        required {
            /// The call that is answered.
            tool_call_id: String = "toolCallId",
            /// Text, or parts.
            content: Content = "content",
        }
        optional {
            /// Why the tool failed.
            error: String = "error",
            /// Opaque provider data, returned unchanged.
            encrypted_value: String = "encryptedValue",
        }
    }
}

message! {
    /// The model's reasoning.
    ReasoningMessage = "reasoning" {
        required {
            /// The text.
            content: String = "content",
        }
        optional {
            /// Opaque provider data, returned unchanged.
            encrypted_value: String = "encryptedValue",
        }
    }
}

message! {
    /// Progress shown to the person. It never travels to an agent.
    ActivityMessage = "activity" {
        required {
            /// What kind of progress, which decides how it is shown.
            activity_type: String = "activityType",
            /// What is shown.
            content: Map<String, Value> = "content",
        }
        optional {}
    }
}
