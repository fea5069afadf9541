//! How a run ended.

use antiphon_protocol::{Outcome, ToolCall};
use serde_json::Value;

use crate::Question;
use crate::intake::Terminal;

/// How a run ended that did not fail. A failure is an [`Error`](crate::Error).
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    /// It did what it could, and may have returned something.
    Done(Option<Value>),
    /// It stopped to ask. [`Thread::answer`](crate::Thread::answer) goes on, with an answer to
    /// each question.
    Asked(Vec<Question>),
    /// It made calls that are to be answered here, in call order.
    /// [`Thread::tool_result`](crate::Thread::tool_result) answers one,
    /// [`Thread::proceed`](crate::Thread::proceed) goes on after the last.
    Waiting(Vec<ToolCall>),
    /// It waits for another system, whose answer this client is no part of.
    InProgress {
        /// Under which the server tells how far it is, if it says so.
        response_id: Option<String>,
    },
    /// It was stopped on request, which is neither a success nor a failure.
    Cancelled,
}

/// Returns how a stream's terminal event ends a run, given what is open in its thread.
pub(crate) fn ended(
    terminal: &Terminal,
    questions: Vec<Question>,
    calls: Vec<ToolCall>,
) -> Result<Ended, crate::Error> {
    let (outcome, result) = match terminal {
        Terminal::Failed { error, .. } => return Err(error.clone()),
        Terminal::Finished {
            outcome, result, ..
        } => (outcome, result),
    };
    Ok(match outcome {
        Some(Outcome::Cancelled) => Ended::Cancelled,
        Some(Outcome::Interrupt { .. }) => Ended::Asked(questions),
        Some(Outcome::Success { .. }) | None => match result {
            Some(result)
                if result
                    .get("status")
                    .is_some_and(|status| status == "in_progress") =>
            {
                Ended::InProgress {
                    response_id: result
                        .get("responseId")
                        .and_then(Value::as_str)
                        .map(str::to_owned),
                }
            }
            _ if !calls.is_empty() => Ended::Waiting(calls),
            result => Ended::Done(result.clone()),
        },
    })
}
