//! How much of an answer is taken.

/// Bounds on one answer. An answer beyond them fails with [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one server-sent event, and of one line.
    pub event_bytes: usize,
    /// Bytes of the whole answer.
    pub turn_bytes: usize,
}

impl Default for Limits {
    /// 4 MiB for an event, which may carry a whole tool call, and 64 MiB for a turn.
    fn default() -> Self {
        Self {
            event_bytes: 4 << 20,
            turn_bytes: 64 << 20,
        }
    }
}
