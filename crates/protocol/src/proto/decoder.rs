//! Decodes frames from a body that is cut anywhere.

use bytes::{Buf as _, Bytes, BytesMut};
use prost::Message as _;
use prost::encoding::{DecodeContext, WireType, decode_key, skip_field};

use super::event::Event;
use crate::wire::{Fault, Manners, Reader};
use crate::{DecodeError, Received};

const HEADER: usize = 4;
/// The arms of the event that 1.0 knows.
const KNOWN_ARMS: std::ops::RangeInclusive<u32> = 1..=31;

/// Decodes length-prefixed frames.
///
/// ```
/// use antiphon_protocol::{Event, StepStarted, proto};
///
/// let event = Event::from(StepStarted::new("plan"));
/// let mut decoder = proto::Decoder::new(1 << 20);
/// decoder.push(&proto::frame(&event));
/// assert_eq!(decoder.next_event().unwrap()?.event, Some(event));
/// assert!(decoder.next_event().is_none());
/// # Ok::<(), antiphon_protocol::DecodeError>(())
/// ```
#[derive(Debug)]
pub struct Decoder {
    limit: usize,
    buffer: BytesMut,
    finished: bool,
    failed: bool,
}

impl Decoder {
    /// Makes a decoder that takes frames of at most this many bytes.
    #[must_use]
    pub fn new(max_event_bytes: usize) -> Self {
        Self {
            limit: max_event_bytes,
            buffer: BytesMut::new(),
            finished: false,
            failed: false,
        }
    }

    /// Takes the next bytes of the body.
    pub fn push(&mut self, bytes: &[u8]) {
        if !self.failed && !self.finished {
            self.buffer.extend_from_slice(bytes);
        }
    }

    /// Marks the end of the body. Events may be left to take afterwards.
    pub const fn finish(&mut self) {
        self.finished = true;
    }

    /// Returns the next complete event, or `None` if more bytes are needed.
    ///
    /// # Errors
    ///
    /// A frame is too large, not an event, or cut off by the end of the body. It is the last
    /// thing that the decoder returns.
    pub fn next_event(&mut self) -> Option<Result<Received, DecodeError>> {
        if self.failed {
            return None;
        }
        let received = self
            .next_frame()
            .transpose()?
            .and_then(|frame| read(&frame));
        if received.is_err() {
            self.failed = true;
            self.buffer = BytesMut::new();
        }
        Some(received)
    }

    fn next_frame(&mut self) -> Result<Option<Bytes>, DecodeError> {
        let incomplete = match self.buffer.first_chunk::<HEADER>() {
            None => self.buffer.len(),
            Some(header) => {
                let length = usize::try_from(u32::from_be_bytes(*header)).unwrap_or(usize::MAX);
                if length > self.limit {
                    return Err(DecodeError::TooLarge {
                        length,
                        limit: self.limit,
                    });
                }
                if self.buffer.len() >= HEADER + length {
                    self.buffer.advance(HEADER);
                    return Ok(Some(self.buffer.split_to(length).freeze()));
                }
                self.buffer.len()
            }
        };
        if self.finished && incomplete > 0 {
            return Err(DecodeError::Truncated);
        }
        Ok(None)
    }
}

fn read(frame: &Bytes) -> Result<Received, DecodeError> {
    let protobuf = |error: prost::DecodeError| DecodeError::Protobuf(error.to_string());
    let mut reader = Reader::new(Manners::Event);
    let event = if known_arm(frame).map_err(protobuf)? {
        let event = Event::decode(frame.clone()).map_err(protobuf)?;
        match event.read(&mut reader) {
            Ok(event) => event,
            Err(Fault::Unknown) => None,
            Err(Fault::Malformed(error)) => return Err(DecodeError::Field(error)),
        }
    } else {
        reader.warn("is an event of an unknown type and dropped");
        None
    };
    Ok(Received {
        id: None,
        event,
        warnings: reader.warnings,
    })
}

/// Returns whether the frame holds an arm that is known. It has to hold exactly one then, and
/// otherwise something that may be the arm of a later version.
fn known_arm(frame: &Bytes) -> Result<bool, prost::DecodeError> {
    let mut rest = frame.clone();
    let mut known = None;
    let mut is_later_event = false;
    while rest.has_remaining() {
        let (tag, wire_type) = decode_key(&mut rest)?;
        skip_field(wire_type, tag, &mut rest, DecodeContext::default())?;
        if !KNOWN_ARMS.contains(&tag) {
            is_later_event |= wire_type == WireType::LengthDelimited;
        } else if *known.get_or_insert(tag) != tag {
            return Err(malformed("frame holds two events"));
        }
    }
    match known {
        Some(_) => Ok(true),
        None if is_later_event => Ok(false),
        None => Err(malformed("frame holds no event")),
    }
}

#[expect(deprecated, reason = "prost offers no other way to make its error")]
fn malformed(message: &'static str) -> prost::DecodeError {
    prost::DecodeError::new(message)
}
