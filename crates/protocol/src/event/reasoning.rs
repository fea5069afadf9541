//! Reasoning: spans, messages inside them, and opaque provider data.

use super::base::event;
use crate::wire::object::names;

event! {
    /// A span of reasoning begins.
    attributable ReasoningStart = "REASONING_START" {
        required {
            /// The span's id.
            message_id: String = "messageId",
        }
    }
}

event! {
    /// A reasoning message begins.
    attributable ReasoningMessageStart = "REASONING_MESSAGE_START" {
        constants { "role" = "reasoning" Required, }
        required {
            /// The message.
            message_id: String = "messageId",
        }
    }
}

event! {
    /// A piece of a reasoning message.
    attributable ReasoningMessageContent = "REASONING_MESSAGE_CONTENT" {
        required {
            /// The open message.
            message_id: String = "messageId",
            /// What is appended.
            delta: String = "delta",
        }
    }
}

event! {
    /// A reasoning message is complete.
    attributable ReasoningMessageEnd = "REASONING_MESSAGE_END" {
        required {
            /// The open message.
            message_id: String = "messageId",
        }
    }
}

event! {
    /// A reasoning message's start and content in one; the end follows from what comes next.
    #[derive(Default)]
    attributable ReasoningMessageChunk = "REASONING_MESSAGE_CHUNK" {
        optional {
            /// The message; the first chunk has to name it.
            message_id: String = "messageId",
            /// What is appended.
            delta: String = "delta",
        }
    }
}

event! {
    /// A span of reasoning ended.
    attributable ReasoningEnd = "REASONING_END" {
        required {
            /// The open span.
            message_id: String = "messageId",
        }
    }
}

names! {
    /// What an encrypted value belongs to.
    pub enum EncryptedValueSubtype {
        /// A tool call.
        ToolCall = "tool-call",
        /// A message.
        Message = "message",
    }
}

event! {
    /// Opaque reasoning data, to be kept with a message or call and returned unchanged.
    attributable ReasoningEncryptedValue = "REASONING_ENCRYPTED_VALUE" {
        required {
            /// What `entity_id` names.
            subtype: EncryptedValueSubtype = "subtype",
            /// The message or call.
            entity_id: String = "entityId",
            /// The data.
            encrypted_value: String = "encryptedValue",
        }
    }
}
