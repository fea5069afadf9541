//! Server-sent events as a push decoder, without I/O.
//!
//! Bytes go in as they arrive, cut anywhere; events come out. The whole grammar of the
//! [WHATWG event stream] is read: LF, CRLF and CR line ends, a byte order mark, comments, the
//! optional space, several `data` lines, `event`, `id` and `retry`. Every byte is looked at
//! once, a single `data` line is handed on without copying, and what is held is bounded.
//!
//! ```
//! use antiphon_sse::Decoder;
//!
//! let mut decoder = Decoder::new(64 * 1024);
//! decoder.push(b"event: greeting\ndata: hel");
//! assert!(decoder.next_event().is_none());
//! decoder.push(b"lo\n\n");
//! let event = decoder.next_event().unwrap()?;
//! assert_eq!(event.event.as_deref(), Some("greeting"));
//! assert_eq!(event.data, "hello");
//! # Ok::<(), antiphon_sse::Error>(())
//! ```
//!
//! [WHATWG event stream]: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream

mod decoder;
mod event;

pub use decoder::Decoder;
pub use event::{Error, SseEvent};
