//! Tool calls and their results.

use super::base::event;
use crate::Content;

event! {
    /// A tool call begins.
    attributable ToolCallStart = "TOOL_CALL_START" {
        required {
            /// The call.
            tool_call_id: String = "toolCallId",
            /// The tool.
            tool_call_name: String = "toolCallName",
        }
        optional {
            /// The assistant message that the call belongs to; absent stands for a new one.
            parent_message_id: String = "parentMessageId",
        }
    }
}

event! {
    /// A piece of a call's arguments.
    attributable ToolCallArgs = "TOOL_CALL_ARGS" {
        required {
            /// The open call.
            tool_call_id: String = "toolCallId",
            /// What is appended to the arguments' JSON text.
            delta: String = "delta",
        }
    }
}

event! {
    /// A call's arguments are complete.
    attributable ToolCallEnd = "TOOL_CALL_END" {
        required {
            /// The open call.
            tool_call_id: String = "toolCallId",
        }
    }
}

event! {
    /// A call's start and arguments in one; the end follows from what comes next.
    #[derive(Default)]
    attributable ToolCallChunk = "TOOL_CALL_CHUNK" {
        optional {
            /// The call; the first chunk has to name it.
            tool_call_id: String = "toolCallId",
            /// The tool; the first chunk has to name it.
            tool_call_name: String = "toolCallName",
            /// The assistant message that the call belongs to.
            parent_message_id: String = "parentMessageId",
            /// What is appended to the arguments' JSON text.
            delta: String = "delta",
        }
    }
}

event! {
    /// The answer to a call, which is a new tool message.
    attributable ToolCallResult = "TOOL_CALL_RESULT" {
        constants { "role" = "tool" Optional, }
        required {
            /// The new message.
            message_id: String = "messageId",
            /// The call that is answered.
            tool_call_id: String = "toolCallId",
            /// Text, or parts.
            content: Content = "content",
        }
    }
}
