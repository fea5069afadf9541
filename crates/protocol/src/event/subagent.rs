//! The lives of subagents.

use serde_json::Value;

use super::base::event;
use crate::SubagentOutcome;

event! {
    /// A subagent begins.
    SubagentStarted = "SUBAGENT_STARTED" {
        required {
            /// Names this life of the subagent; its events are tagged with it.
            subagent_run_id: String = "subagentRunId",
            /// The subagent's name.
            name: String = "name",
        }
        optional {
            /// What it is to do.
            description: String = "description",
            /// The subagent that started it.
            parent_subagent_run_id: String = "parentSubagentRunId",
            /// The call that started it.
            parent_tool_call_id: String = "parentToolCallId",
            /// The message that started it.
            parent_message_id: String = "parentMessageId",
        }
    }
    owned by subagent_run_id
}

event! {
    /// A subagent ended without failing.
    SubagentFinished = "SUBAGENT_FINISHED" {
        required {
            /// The subagent.
            subagent_run_id: String = "subagentRunId",
        }
        optional {
            /// What it returns, anything but null.
            result: Value = "result",
            /// How it ended; absent stands for success.
            outcome: SubagentOutcome = "outcome",
        }
    }
    owned by subagent_run_id
}

event! {
    /// A subagent failed. The run may go on.
    SubagentError = "SUBAGENT_ERROR" {
        required {
            /// The subagent.
            subagent_run_id: String = "subagentRunId",
            /// What went wrong, for the person.
            message: String = "message",
        }
        optional {
            /// What went wrong, for programs.
            code: String = "code",
        }
    }
    owned by subagent_run_id
}
