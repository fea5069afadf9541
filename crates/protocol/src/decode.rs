//! What the decoders of both wires return.

use serde_json::Value;

use crate::legacy::Thinking;
use crate::{Event, FieldError, Warning};

/// One event off the wire.
#[derive(Debug, Clone, PartialEq)]
pub struct Received {
    /// The id under which the stream can be joined again behind this event, where the wire has
    /// one.
    pub id: Option<String>,
    /// The event; `None` if its type is not known, which the warnings say.
    pub event: Option<Event>,
    /// What was dropped or mended.
    pub warnings: Vec<Warning>,
}

/// Why a stream cannot be read any further.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The body is not an event stream that may be held.
    #[error(transparent)]
    Sse(antiphon_sse::Error),
    /// A protobuf frame is larger than the decoder may hold.
    #[error("protobuf frame of {length} bytes exceeds {limit}")]
    TooLarge {
        /// The length that the frame declares, in bytes.
        length: usize,
        /// The limit that the decoder was made with, in bytes.
        limit: usize,
    },
    /// A frame does not hold JSON.
    #[error("frame is not JSON: {0}")]
    Json(#[source] serde_json::Error),
    /// A known member of an event is missing or malformed.
    #[error("malformed event: {0}")]
    Field(#[source] FieldError),
    /// A frame does not hold an event in the protobuf encoding.
    #[error("malformed protobuf frame: {0}")]
    Protobuf(String),
    /// The stream ended inside of a frame.
    #[error("the stream ended inside of an event")]
    Truncated,
}

/// Reads one event from its JSON text.
pub(crate) fn from_json(
    id: Option<String>,
    json: &[u8],
    thinking: &mut Thinking,
) -> Result<Received, DecodeError> {
    let mut value: Value = serde_json::from_slice(json).map_err(DecodeError::Json)?;
    let retired = thinking.translate(&mut value);
    let read = Event::read(value).map_err(DecodeError::Field)?;
    let mut warnings = read.warnings;
    warnings.extend(retired.map(|message| Warning {
        path: String::new(),
        message,
    }));
    Ok(Received {
        id,
        event: read.value,
        warnings,
    })
}
