//! What outlives a run: threads, runs, calls and interactions, behind one trait.
//!
//! A thread has one writer at a time. [`Store::open`] claims the thread's lease and loads it; every
//! [`Commit`] carries the lease's fencing token and is applied whole or not at all, so a writer that
//! lost its lease can change nothing. Reads need no lease.

mod commit;
mod memory;
mod record;

use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;

pub use commit::{Commit, Cut};
pub use memory::MemoryStore;
pub use record::{
    Answer, Audit, Call, CallPhase, Early, Entry, Interaction, InteractionKind, InteractionStatus,
    Journal, RunRecord, RunStatus, StoredMessage, Thread, ThreadKey, ThreadSummary,
};

/// The result of a store's operation.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The lease was taken over or has lapsed; nothing was written.
    #[error("thread {thread:?}: the lease is lost")]
    LeaseLost {
        /// The thread.
        thread: String,
    },
    /// The store itself failed (disk, connection); nothing was written.
    #[error("the store is not available: {0}")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A stored row can't be read.
    #[error("stored {what} is damaged: {why}")]
    Damaged {
        /// The kind of row.
        what: &'static str,
        /// What is wrong with it.
        why: String,
    },
}

/// The right to write one thread, until it is released or lapses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The thread.
    pub key: ThreadKey,
    /// The run that holds the lease.
    pub run_id: String,
    /// Fencing token: grows with each claim of the thread.
    pub token: u64,
}

/// A request for a thread's lease.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The thread; created when it does not exist.
    pub key: ThreadKey,
    /// The process that asks; two processes never share a name.
    pub owner: String,
    /// The run that will write.
    pub run_id: String,
    /// How long the lease lasts without a renewal.
    pub ttl: Duration,
}

/// The answer to a [`Claim`].
#[derive(Debug)]
pub enum Opened {
    /// The lease is ours; here is the thread, and the newest attempt under the claim's run id. A
    /// thread that did not exist comes back empty and is stored with the first commit.
    Ours(Lease, Box<Thread>, Option<Box<RunRecord>>),
    /// Another run holds the lease.
    Busy {
        /// That run's id.
        run_id: String,
    },
}

/// Durable threads, runs, calls and interactions, each within its user's own namespace.
///
/// Implementations are safe to use from many tasks at once. A missing row and another user's row
/// are the same thing: `None`.
pub trait Store: Send + Sync + fmt::Debug + 'static {
    /// Claims the lease of a thread and loads the thread.
    fn open(&self, claim: Claim) -> BoxFuture<'_, Result<Opened>>;

    /// Prolongs a lease by `ttl` from now; [`Error::LeaseLost`] when it is no longer ours.
    fn renew<'a>(&'a self, lease: &'a Lease, ttl: Duration) -> BoxFuture<'a, Result<()>>;

    /// Applies all of a commit in one transaction; [`Error::LeaseLost`] when the lease is gone.
    fn commit<'a>(&'a self, lease: &'a Lease, commit: Commit) -> BoxFuture<'a, Result<()>>;

    /// Gives a lease back without writing; a lease that is already gone is no error.
    fn release<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<()>>;

    /// Reads a thread.
    fn thread<'a>(&'a self, key: &'a ThreadKey) -> BoxFuture<'a, Result<Option<Thread>>>;

    /// Lists a user's threads, the one changed last first; `after` is the last one of the page before.
    fn threads<'a>(
        &'a self,
        user: &'a str,
        after: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<ThreadSummary>>>;

    /// Deletes a thread with all that belongs to it; false when there was none. A thread whose lease
    /// is held is refused with [`Error::LeaseLost`].
    fn delete_thread<'a>(&'a self, key: &'a ThreadKey) -> BoxFuture<'a, Result<bool>>;

    /// Reads the newest run of a user with this run id, in one thread or in any.
    fn run<'a>(
        &'a self,
        user: &'a str,
        run_id: &'a str,
        thread: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Option<RunRecord>>>;

    /// Reads the run that a response id names.
    fn response<'a>(
        &'a self,
        user: &'a str,
        response_id: &'a str,
    ) -> BoxFuture<'a, Result<Option<RunRecord>>>;

    /// Reads an interaction of any user. The caller decides who may see it.
    fn interaction<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<Interaction>>>;

    /// Keeps what was delivered for an open interaction whose thread somebody else writes. It needs no
    /// lease; the first delivery stays. Returns the interaction as it is then.
    fn keep_early<'a>(
        &'a self,
        id: &'a str,
        early: Early,
    ) -> BoxFuture<'a, Result<Option<Interaction>>>;

    /// Lists open interactions for which something is kept, oldest first.
    fn kept_early(&self) -> BoxFuture<'_, Result<Vec<Interaction>>>;

    /// Lists a thread's decisions and interactions, oldest first.
    fn audit<'a>(&'a self, key: &'a ThreadKey) -> BoxFuture<'a, Result<Vec<Audit>>>;

    /// Lists runs that are recorded as running although nobody holds their thread's lease: what a
    /// crash left behind.
    fn orphans(&self) -> BoxFuture<'_, Result<Vec<RunRecord>>>;

    /// Whether the store answers.
    fn ping(&self) -> BoxFuture<'_, Result<()>>;
}
