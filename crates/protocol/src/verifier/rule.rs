//! The rules by name.

use crate::wire::object::names;

names! {
    /// A rule of the protocol.
    ///
    /// The first group is what clients check; the second what servers must do besides.
    #[non_exhaustive]
    pub enum Rule {
        /// The first event is `RUN_STARTED` or `RUN_ERROR`.
        FirstEvent = "first-event",
        /// A run ends before the next one begins.
        RunActive = "run-active",
        /// After `RUN_FINISHED` comes a new run or `RUN_ERROR`; from a server nothing.
        AfterFinish = "after-finish",
        /// After `RUN_ERROR` comes a new run or nothing.
        AfterError = "after-error",
        /// What is open is not opened again.
        AlreadyOpen = "already-open",
        /// Only what is open is continued or closed.
        NotOpen = "not-open",
        /// What one subagent opened no other continues.
        Owner = "owner",
        /// A subagent begins once, under a parent that has begun.
        Subagent = "subagent",
        /// A chunk names what it begins and does not contradict what it continues.
        Chunk = "chunk",
        /// Everything is closed before `RUN_FINISHED`, from a server also before `RUN_ERROR`.
        StillOpen = "still-open",
        /// A stream ends with `RUN_FINISHED` or `RUN_ERROR`.
        Terminal = "terminal",

        /// The thread is the request's.
        ThreadId = "thread-id",
        /// The run is the request's, and the same at both ends.
        RunId = "run-id",
        /// `RUN_STARTED` says which version the server speaks.
        ProtocolVersion = "protocol-version",
        /// An optional member without a value is left out.
        NullOptional = "null-optional",
        /// A message id names one message of the thread.
        MessageIdReused = "message-id-reused",
        /// A snapshot names each message once.
        SnapshotDuplicateId = "snapshot-duplicate-id",
        /// A result answers a call that was made.
        ResultUnknownCall = "result-unknown-call",
        /// A call is answered once.
        ResultTwice = "result-twice",
        /// The client's tools are the client's to answer.
        FrontendAnswered = "frontend-answered",
        /// `pendingToolCallIds` names the unanswered calls, in call order.
        PendingToolCalls = "pending-tool-calls",
        /// Interrupt ids are there and unique in the run.
        InterruptId = "interrupt-id",
        /// An interrupt names a call that was made.
        InterruptToolCall = "interrupt-tool-call",
        /// A cancelled run has no result.
        CancelledResult = "cancelled-result",
        /// An activity changes after its snapshot.
        ActivityBaseline = "activity-baseline",
        /// Total tokens are input and output.
        UsageTotal = "usage-total",
        /// A part of the tokens is not more than the whole.
        UsagePart = "usage-part",
        /// A 0.x peer is sent nothing it cannot read.
        OldPeer = "pre-1.0-peer",
    }
}

/// A rule that an event violates, and how.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// What the stream did, as a sentence without a full stop.
    pub message: String,
}

pub(super) fn violation(rule: Rule, message: impl Into<String>) -> Result<(), Violation> {
    Err(Violation {
        rule,
        message: message.into(),
    })
}
