//! What comes out of the decoder: an event, or the reason why there will be no more.

use bytes::Bytes;

/// One dispatched event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// The `event` field; `None` if it was absent or empty, which stands for `message`.
    pub event: Option<String>,
    /// The `data` lines, joined by LF. They are as they came: whoever reads them decides what
    /// invalid UTF-8 means (a JSON reader refuses it).
    pub data: Bytes,
    /// The `id` field of this event's own block. The id that a reconnect has to name may be
    /// older, see [`Decoder::last_event_id`](crate::Decoder::last_event_id).
    pub id: Option<String>,
}

/// Why a stream cannot be decoded any further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An event, or a single line, is larger than the decoder may hold.
    #[error("server-sent event exceeds {limit} bytes")]
    TooLarge {
        /// The limit that the decoder was made with, in bytes.
        limit: usize,
    },
}
