//! The protobuf binding: events as length-prefixed frames of `ag_ui.Event`.
//!
//! A frame is the length as a big-endian `u32` and that many bytes of one event. The messages
//! are declared by hand after the published field numbers, so no compiler for them is needed.
//!
//! Not everything that JSON can say survives: numbers inside of free JSON are doubles, an empty
//! list is an absent one, and JSON nested deeper than some thirty levels cannot be decoded.

mod convert;
mod decoder;
mod event;
mod input;
mod message;
mod value;

use bytes::{BufMut as _, Bytes, BytesMut};
use prost::Message as _;

use crate::Event;

pub use decoder::Decoder;

/// The media type, without any parameter: clients compare it as a whole.
pub const MEDIA_TYPE: &str = "application/vnd.ag-ui.event+proto";

/// Returns the event in the protobuf encoding, without a frame.
///
/// ```
/// use antiphon_protocol::{StepStarted, proto};
///
/// let bytes = proto::encode(&StepStarted::new("plan").into());
/// // Arm 15 holds a base event of type 14 and the name as field 2.
/// assert_eq!(bytes, b"\x7a\x0a\x0a\x02\x08\x0e\x12\x04plan");
/// ```
#[must_use]
pub fn encode(event: &Event) -> Vec<u8> {
    event::Event::from(event).encode_to_vec()
}

/// Returns the frame of one event: its length and its bytes.
///
/// ```
/// use antiphon_protocol::{StepStarted, proto};
///
/// let frame = proto::frame(&StepStarted::new("plan").into());
/// assert_eq!(&frame[..4], [0, 0, 0, 12]);
/// ```
#[must_use]
pub fn frame(event: &Event) -> Bytes {
    let event = event::Event::from(event);
    let length = event.encoded_len();
    let mut frame = BytesMut::with_capacity(4 + length);
    // An event of 4 GiB is far beyond every limit above this layer.
    frame.put_u32(u32::try_from(length).unwrap_or(u32::MAX));
    event
        .encode(&mut frame)
        .expect("the buffer grows as needed");
    frame.freeze()
}
