//! Runs and their steps.

use serde_json::Value;

use super::base::event;
use crate::{Outcome, RunAgentInput, TokenUsage};

event! {
    /// A run begins. The first event of every run.
    RunStarted = "RUN_STARTED" {
        required {
            /// The thread of the request.
            thread_id: String = "threadId",
            /// The run of the request.
            run_id: String = "runId",
        }
        optional {
            /// The version the agent speaks, never an echo of the client's.
            protocol_version: String = "protocolVersion",
            /// The run that this one comes from.
            parent_run_id: String = "parentRunId",
            /// The request, echoed.
            input: Box<RunAgentInput> = "input",
        }
    }
}

event! {
    /// A run ended without failing.
    RunFinished = "RUN_FINISHED" {
        required {
            /// The thread of the run.
            thread_id: String = "threadId",
            /// The run.
            run_id: String = "runId",
        }
        optional {
            /// What the run returns, anything but null.
            result: Value = "result",
            /// How it ended; absent stands for success.
            outcome: Outcome = "outcome",
            /// What it used, one entry per model.
            usage: Vec<TokenUsage> = "usage",
        }
    }
}

event! {
    /// A run failed.
    RunError = "RUN_ERROR" {
        required {
            /// What went wrong, for the person.
            message: String = "message",
        }
        optional {
            /// What went wrong, for programs. The vocabulary is open.
            code: String = "code",
            /// What the run used, one entry per model.
            usage: Vec<TokenUsage> = "usage",
        }
    }
}

event! {
    /// A step of the run begins.
    attributable StepStarted = "STEP_STARTED" {
        required {
            /// Unique among the open steps.
            step_name: String = "stepName",
        }
    }
}

event! {
    /// A step of the run ended.
    attributable StepFinished = "STEP_FINISHED" {
        required {
            /// The open step.
            step_name: String = "stepName",
        }
    }
}
