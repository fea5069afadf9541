//! Frames off either wire.

use antiphon_protocol::{DecodeError, Event, Received, Warning, proto};
use serde_json::Value;

use super::thinking::Thinking;
use crate::http::Wire;
use crate::text::clean;
use crate::{Error, ErrorKind};

#[derive(Debug)]
pub(super) struct Frames {
    decoder: Decoder,
    /// The body is over: a frame that comes now was not ended by the server.
    finished: bool,
}

#[derive(Debug)]
enum Decoder {
    Sse(antiphon_sse::Decoder),
    Proto(proto::Decoder),
}

impl Frames {
    pub(super) fn new(wire: Wire, max_event_bytes: usize) -> Self {
        let decoder = match wire {
            Wire::Sse => Decoder::Sse(antiphon_sse::Decoder::new(max_event_bytes)),
            Wire::Proto => Decoder::Proto(proto::Decoder::new(max_event_bytes)),
        };
        Self {
            decoder,
            finished: false,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        match &mut self.decoder {
            Decoder::Sse(decoder) => decoder.push(bytes),
            Decoder::Proto(decoder) => decoder.push(bytes),
        }
    }

    pub(super) fn finish(&mut self) {
        self.finished = true;
        match &mut self.decoder {
            Decoder::Sse(decoder) => decoder.finish(),
            Decoder::Proto(decoder) => decoder.finish(),
        }
    }

    /// Returns the next event. One that the end of the body cut off is none at all: that the run
    /// is not over says the same.
    pub(super) fn next(&mut self, thinking: &mut Thinking) -> Option<Result<Received, Error>> {
        match &mut self.decoder {
            Decoder::Sse(decoder) => {
                let frame = match decoder.next_event()? {
                    Ok(frame) => frame,
                    Err(error) => return Some(Err(DecodeError::Sse(error).into())),
                };
                match serde_json::from_slice::<Value>(&frame.data) {
                    Ok(value) => {
                        let (value, retired) = thinking.translate(value);
                        Some(read(frame.id, value, retired))
                    }
                    Err(_) if self.finished => None,
                    Err(error) => Some(Err(DecodeError::Json(error).into())),
                }
            }
            Decoder::Proto(decoder) => match decoder.next_event()? {
                Err(DecodeError::Truncated) => None,
                received => Some(received.map_err(Error::from)),
            },
        }
    }
}

fn read(id: Option<String>, value: Value, retired: Option<Warning>) -> Result<Received, Error> {
    let kind = value.get("type").and_then(Value::as_str);
    let kind = kind.map_or_else(|| "event".to_owned(), |kind| clean(kind, 64));
    let read = Event::read(value)
        .map_err(|error| Error::new(ErrorKind::Malformed, format!("malformed {kind}: {error}")))?;
    Ok(Received {
        id,
        event: read.value,
        warnings: retired.into_iter().chain(read.warnings).collect(),
    })
}
