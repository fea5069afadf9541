//! One transaction's worth of changes to a thread.

use serde_json::Value;

use super::record::{Audit, Call, Interaction, RunRecord, StoredMessage};

/// Changes to one thread that become durable together.
///
/// Rows are upserted by their id: a message, call or interaction that exists is replaced, one that
/// does not is added.
#[derive(Debug, Default)]
pub struct Commit {
    /// Cuts the thread before anything else is applied.
    pub cut: Option<Cut>,
    /// Messages to add or replace.
    pub messages: Vec<StoredMessage>,
    /// The thread's state from now on; `None` leaves it.
    pub state: Option<Value>,
    /// The thread's title; `None` leaves it.
    pub title: Option<String>,
    /// The run to add or replace, by thread, run id and attempt.
    pub run: Option<RunRecord>,
    /// Calls to add or replace.
    pub calls: Vec<Call>,
    /// Interactions to add or replace.
    pub interactions: Vec<Interaction>,
    /// Decisions to record.
    pub audit: Vec<Audit>,
    /// Gives the lease back in the same transaction.
    pub release: bool,
}

/// Where a thread is cut, for a regeneration or an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// Messages at this place and later leave the thread; they stay stored as a branch.
    pub from_place: i64,
    /// The name of that branch in the thread's lineage: the run that cut it.
    pub branch: String,
}

impl Commit {
    /// Whether there is nothing to write.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cut.is_none()
            && self.messages.is_empty()
            && self.state.is_none()
            && self.title.is_none()
            && self.run.is_none()
            && self.calls.is_empty()
            && self.interactions.is_empty()
            && self.audit.is_empty()
            && !self.release
    }
}
