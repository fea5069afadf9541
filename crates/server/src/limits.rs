//! What a server takes before it refuses.

use std::time::Duration;

/// Bounds on what clients may send and hold. All of them count for one process.
///
/// ```
/// use antiphon_server::Limits;
///
/// let limits = Limits { body: 1 << 20, ..Limits::default() };
/// assert_eq!(limits.messages, 2000);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a request's body.
    pub body: usize,
    /// Time for a request's body to arrive.
    pub body_time: Duration,
    /// Time for a request's head to arrive, and for a connection to stay open without a request.
    pub header_time: Duration,
    /// Time that a client may leave a response unread before its connection is closed.
    pub write_time: Duration,
    /// Connections. Further ones wait until one is closed.
    pub connections: usize,
    /// Runs at the same time.
    pub concurrent_runs: usize,
    /// Runs of one user at the same time.
    pub runs_per_user: usize,
    /// Messages of a request.
    pub messages: usize,
    /// Tools that a page offers in a request.
    pub tools: usize,
    /// Context entries of a request.
    pub context: usize,
    /// Answers in a request's `resume`.
    pub answers: usize,
    /// How deep a request's JSON may be nested, 128 at most.
    pub json_depth: usize,
    /// How long the log of an ended run is kept for readers that come back.
    pub kept_time: Duration,
    /// How many such logs are kept.
    pub kept_runs: usize,
    /// How many bytes of events they may hold together.
    pub kept_bytes: usize,
}

/// Deeper JSON than this is not parsed, whatever the limit says.
pub(crate) const MAX_JSON_DEPTH: usize = 128;

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 4 << 20,
            body_time: Duration::from_secs(30),
            header_time: Duration::from_secs(30),
            write_time: Duration::from_secs(60),
            connections: 16_384,
            concurrent_runs: 1024,
            runs_per_user: 64,
            messages: 2000,
            tools: 256,
            context: 256,
            answers: 256,
            json_depth: MAX_JSON_DEPTH,
            kept_time: Duration::from_secs(60),
            kept_runs: 256,
            kept_bytes: 64 << 20,
        }
    }
}
