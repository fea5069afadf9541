//! Text messages.

use super::base::event;
use crate::Role;
use crate::wire::object::names;

names! {
    /// Whose words a streamed text message holds.
    pub enum TextRole {
        /// The application's developer.
        Developer = "developer",
        /// The application.
        System = "system",
        /// The model.
        Assistant = "assistant",
        /// The person.
        User = "user",
    }
}

impl From<TextRole> for Role {
    fn from(role: TextRole) -> Self {
        match role {
            TextRole::Developer => Self::Developer,
            TextRole::System => Self::System,
            TextRole::Assistant => Self::Assistant,
            TextRole::User => Self::User,
        }
    }
}

event! {
    /// A text message begins. A message that was closed may begin again and is continued.
    attributable TextMessageStart = "TEXT_MESSAGE_START" {
        required {
            /// The message.
            message_id: String = "messageId",
        }
        optional {
            /// Whose words; absent stands for the assistant's.
            role: TextRole = "role",
            /// Who speaks, where several do.
            name: String = "name",
        }
    }
}

event! {
    /// A piece of a text message.
    attributable TextMessageContent = "TEXT_MESSAGE_CONTENT" {
        required {
            /// The open message.
            message_id: String = "messageId",
            /// What is appended.
            delta: String = "delta",
        }
    }
}

event! {
    /// A text message is complete.
    attributable TextMessageEnd = "TEXT_MESSAGE_END" {
        required {
            /// The open message.
            message_id: String = "messageId",
        }
    }
}

event! {
    /// A text message's start and content in one; the end follows from what comes next.
    #[derive(Default)]
    attributable TextMessageChunk = "TEXT_MESSAGE_CHUNK" {
        optional {
            /// The message; the first chunk has to name it.
            message_id: String = "messageId",
            /// Whose words; absent stands for the assistant's.
            role: TextRole = "role",
            /// What is appended.
            delta: String = "delta",
            /// Who speaks, where several do.
            name: String = "name",
        }
    }
}
