//! Frames of a log as bytes for one client.

use antiphon_agent::Frame;
use antiphon_protocol::{Dialect, Event, proto, sse};
use bytes::{Bytes, BytesMut};

use crate::edge::accept::Binding;

/// About as many bytes as a piece of text has as an event.
const USUAL: usize = 160;

/// Writes frames in one client's binding and dialect. In the usual case, SSE and 1.x, they are the
/// log's own bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Encoder {
    pub(crate) binding: Binding,
    pub(crate) dialect: Dialect,
}

impl Encoder {
    /// The frames as one piece; empty where the client can read none of them.
    pub(crate) fn encode(self, frames: &[Frame]) -> Bytes {
        if let [frame] = frames {
            return self.one(frame);
        }
        let mut whole = BytesMut::with_capacity(frames.len() * USUAL);
        for frame in frames {
            whole.extend_from_slice(&self.one(frame));
        }
        whole.freeze()
    }

    fn one(self, frame: &Frame) -> Bytes {
        if self.binding == Binding::Sse && !self.dialect.concerns(frame.kind) {
            return frame.sse();
        }
        let Some(event) = decode(frame) else {
            return Bytes::new();
        };
        let Some(event) = self.dialect.translate(event) else {
            return Bytes::new();
        };
        match self.binding {
            Binding::Protobuf => proto::frame(&event),
            Binding::Sse => sse::frame(id(&frame.sse()), &event.to_json()),
        }
    }
}

/// The `id` of an SSE frame, which stands in its first line if it has one.
fn id(frame: &[u8]) -> Option<&str> {
    let line = frame.split(|byte| *byte == b'\n').next()?;
    str::from_utf8(line.strip_prefix(b"id: ")?).ok()
}

/// The event of a frame.
pub(crate) fn decode(frame: &Frame) -> Option<Event> {
    let event = serde_json::from_slice(&frame.json())
        .ok()
        .and_then(|value| Event::read(value).ok()?.value);
    if event.is_none() {
        tracing::error!(
            kind = frame.kind.as_str(),
            "an event of ours can't be read back"
        );
    }
    event
}

#[cfg(test)]
mod tests {
    use super::id;

    #[test]
    fn a_frame_s_id_is_its_first_line() {
        assert_eq!(id(b"id: r:1:7\ndata: {}\n\n"), Some("r:1:7"));
        assert_eq!(id(b"data: id: x\n\n"), None);
    }
}
