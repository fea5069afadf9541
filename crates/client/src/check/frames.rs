//! Frames, read to the letter.

use antiphon_protocol::{DecodeError, Event, Warning, proto};
use serde_json::Value;

use crate::text::clean;

/// What a body holds.
#[derive(Debug, Default)]
pub(super) struct Frames {
    pub(super) told: Vec<Told>,
    /// What the encoding forbids.
    pub(super) problems: Vec<String>,
}

/// One event, as far as it could be read.
#[derive(Debug)]
pub(super) struct Told {
    /// Its type, as it stands there.
    pub(super) kind: String,
    /// The event, `None` if its type is unknown; or why it cannot be read.
    pub(super) event: Result<Option<Event>, String>,
    pub(super) warnings: Vec<Warning>,
}

/// Reads server-sent events as AG-UI has them: LF only, one JSON object in each frame.
pub(super) fn sse(body: &[u8]) -> Frames {
    let mut frames = Frames::default();
    let text = String::from_utf8_lossy(body);
    let mut problem = |what: &str| frames.problems.push(what.to_owned());
    if std::str::from_utf8(body).is_err() {
        problem("the body is not UTF-8");
    }
    if text.starts_with('\u{feff}') {
        problem("the body begins with a byte order mark");
    }
    if text.contains('\r') {
        problem("lines end with CR LF, not with LF alone");
    }
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut blocks: Vec<&str> = text.trim_start_matches('\u{feff}').split("\n\n").collect();
    // What follows the last blank line is nothing, or a frame that was not ended.
    let rest = blocks.pop().unwrap_or_default();
    for block in blocks {
        frames.read_block(block);
    }
    if rest.lines().any(|line| line.starts_with("data:")) {
        let what = "the body ends in the middle of a frame";
        frames.problems.push(what.to_owned());
        frames.read_block(rest);
    }
    frames
}

impl Frames {
    fn read_block(&mut self, block: &str) {
        let mut data: Vec<&str> = Vec::new();
        for line in block.lines().filter(|line| !line.starts_with(':')) {
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            match field {
                "data" => data.push(value.strip_prefix(' ').unwrap_or(value)),
                "event" | "id" | "retry" | "" => {}
                other => {
                    let other = clean(other, 40);
                    self.problems
                        .push(format!("there is an unknown field {other:?}"));
                }
            }
        }
        if data.is_empty() {
            return;
        }
        let data = data.join("\n");
        match serde_json::from_str::<Value>(&data) {
            Ok(value) if value.is_object() => self.told.push(told(value)),
            Ok(_) => self.problems.push(format!(
                "a frame holds no JSON object: {}",
                clean(&data, 80)
            )),
            Err(error) => self.problems.push(format!(
                "a frame holds no JSON: {error}: {}",
                clean(&data, 80)
            )),
        }
    }
}

fn told(value: Value) -> Told {
    let kind = value.get("type").and_then(Value::as_str);
    let kind = kind.map_or_else(
        || "an event without a type".to_owned(),
        |kind| clean(kind, 64),
    );
    match Event::read(value) {
        Ok(read) => Told {
            kind,
            event: Ok(read.value),
            warnings: read.warnings,
        },
        Err(error) => Told {
            kind,
            event: Err(error.to_string()),
            warnings: Vec::new(),
        },
    }
}

/// Reads length-prefixed protobuf.
pub(super) fn proto(body: &[u8]) -> Frames {
    let mut frames = Frames::default();
    let mut decoder = proto::Decoder::new(body.len().max(1));
    decoder.push(body);
    decoder.finish();
    while let Some(received) = decoder.next_event() {
        match received {
            Ok(received) => frames.told.push(Told {
                kind: received.event.as_ref().map_or_else(
                    || "an event of an unknown type".to_owned(),
                    |event| event.kind().as_str().to_owned(),
                ),
                event: Ok(received.event),
                warnings: received.warnings,
            }),
            Err(DecodeError::Field(error)) => frames.told.push(Told {
                kind: "a frame".to_owned(),
                event: Err(error.to_string()),
                warnings: Vec::new(),
            }),
            Err(error) => frames.problems.push(error.to_string()),
        }
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(body: &str) -> usize {
        sse(body.as_bytes()).problems.len()
    }

    #[test]
    fn the_letter_of_the_encoding_is_kept_or_not() {
        let event = r#"{"type":"STEP_STARTED","stepName":"s"}"#;
        assert_eq!(problems(&format!(": hi\n\nid: 1\ndata: {event}\n\n")), 0);
        assert_eq!(problems(&format!("data: {event}\r\n\r\n")), 1);
        assert_eq!(problems(&format!("data: {event}\n")), 1);
        assert_eq!(problems("data: nope\n\n"), 1);
        assert_eq!(problems(&format!("data: [{event}]\n\n")), 1);
        assert_eq!(problems(&format!("data: {event}\nfoo: x\n\n")), 1);
        assert_eq!(sse(b"data: \xff\n\n").problems.len(), 2);
    }

    #[test]
    fn a_frame_that_is_cut_is_a_problem_in_either_encoding() {
        assert_eq!(problems("data: {\"type\":\"RUN_FIN"), 2);
        let event = Event::from(antiphon_protocol::StepStarted::new("s"));
        let frame = antiphon_protocol::proto::frame(&event);
        assert_eq!(proto(&frame).problems.len(), 0);
        assert_eq!(proto(&frame[..frame.len() - 1]).problems.len(), 1);
    }
}
