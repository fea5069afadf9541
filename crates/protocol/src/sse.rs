//! Events as server-sent events: frames for the wire, and a decoder for clients.

use bytes::{BufMut as _, Bytes, BytesMut};

use crate::decode;
use crate::legacy::Thinking;
use crate::{DecodeError, Received};

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

/// Decodes events from an event stream, cut anywhere. The `THINKING_*` events of 0.x agents are
/// read as the `REASONING_*` events that they have become.
///
/// ```
/// use antiphon_protocol::{EventType, sse};
///
/// let mut decoder = sse::Decoder::new(1 << 20);
/// decoder.push(b"id: r1:0\ndata: {\"type\":\"RUN_STARTED\",\"threadId\":\"t1\",");
/// assert!(decoder.next_event().is_none());
/// decoder.push(b"\"runId\":\"r1\"}\n\n");
/// let received = decoder.next_event().unwrap()?;
/// assert_eq!(received.id.as_deref(), Some("r1:0"));
/// assert_eq!(received.event.unwrap().kind(), EventType::RunStarted);
/// # Ok::<(), antiphon_protocol::DecodeError>(())
/// ```
#[derive(Debug)]
pub struct Decoder {
    stream: antiphon_sse::Decoder,
    thinking: Thinking,
}

impl Decoder {
    /// Makes a decoder that holds at most about `max_event_bytes` of one event.
    #[must_use]
    pub fn new(max_event_bytes: usize) -> Self {
        Self {
            stream: antiphon_sse::Decoder::new(max_event_bytes),
            thinking: Thinking::default(),
        }
    }

    /// Takes the next bytes of the body.
    pub fn push(&mut self, bytes: &[u8]) {
        self.stream.push(bytes);
    }

    /// Marks the end of the body. Events may be left to take afterwards.
    pub fn finish(&mut self) {
        self.stream.finish();
    }

    /// Returns the next complete event, or `None` if more bytes are needed.
    ///
    /// # Errors
    ///
    /// A frame is too large, not JSON, or not an event. The run is lost then, even though more
    /// frames may be left.
    pub fn next_event(&mut self) -> Option<Result<Received, DecodeError>> {
        let event = match self.stream.next_event()? {
            Ok(event) => event,
            Err(error) => return Some(Err(DecodeError::Sse(error))),
        };
        Some(decode::from_json(event.id, &event.data, &mut self.thinking))
    }

    /// Returns the id that a reconnect has to send as `Last-Event-ID`.
    #[must_use]
    pub fn last_event_id(&self) -> Option<&str> {
        self.stream.last_event_id()
    }
}
