//! Events as server-sent events: frames for the wire, and a decoder for clients.

use bytes::{BufMut as _, Bytes, BytesMut};

/// The media type.
pub const MEDIA_TYPE: &str = "text/event-stream";

/// Returns the frame of one event: `id` if given, one `data` line, LF line ends.
///
/// `json` has to be one line, as [`Event::to_json`](crate::Event::to_json) makes it, and the id
/// must hold no line break. The frame can be kept and sent to any number of readers.
///
/// ```
/// use antiphon_protocol::{Event, RunError, sse};
///
/// let event = Event::from(RunError::new("the model is away"));
/// let frame = sse::frame(Some("r1:7"), &event.to_json());
/// assert_eq!(frame, "id: r1:7\ndata: {\"type\":\"RUN_ERROR\",\"message\":\"the model is away\"}\n\n");
/// ```
#[must_use]
pub fn frame(id: Option<&str>, json: &[u8]) -> Bytes {
    debug_assert!(
        !json.contains(&b'\n') && !json.contains(&b'\r'),
        "an event is one line"
    );
    let mut frame = BytesMut::with_capacity(json.len() + id.map_or(0, |id| id.len() + 5) + 8);
    if let Some(id) = id {
        debug_assert!(!id.contains(['\n', '\r', '\0']), "an id is one line");
        frame.put_slice(b"id: ");
        frame.put_slice(id.as_bytes());
        frame.put_slice(b"\n");
    }
    frame.put_slice(b"data: ");
    frame.put_slice(json);
    frame.put_slice(b"\n\n");
    frame.freeze()
}
