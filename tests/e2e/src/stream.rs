//! A strict reader for the event stream of an AG-UI server.
//!
//! It takes what the wire rules allow a producer and nothing else: UTF-8, LF, one JSON object per
//! event on one data line, comments only between events. The events themselves are decoded with
//! `antiphon-sse`.

use std::fmt;

use antiphon_sse::Decoder;
use serde_json::Value;
use tokio::time::Instant;

use crate::json::{clip, text};

/// More than any event of a test.
const MAX_EVENT: usize = 64 << 20;

/// One event of a stream.
#[derive(Debug, Clone)]
pub struct Event {
    /// The JSON object.
    pub value: Value,
    /// The SSE id.
    pub id: Option<String>,
    /// When it came.
    pub at: Instant,
    /// Its bytes on the wire.
    pub size: usize,
}

impl Event {
    /// The event type.
    pub fn kind(&self) -> &str {
        text(&self.value, "type")
    }

    /// A text member, or the empty text.
    pub fn text(&self, member: &str) -> &str {
        text(&self.value, member)
    }
}

/// What a stream is made of.
#[derive(Debug, Clone)]
pub enum Item {
    /// An event.
    Event(Event),
    /// A comment line.
    Comment(String),
}

/// Reads a body piece by piece.
pub struct StreamReader {
    buffer: Vec<u8>,
    decoder: Decoder,
    /// What came, in order.
    pub items: Vec<Item>,
    /// What a producer must not send.
    pub problems: Vec<String>,
}

impl fmt::Debug for StreamReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamReader")
            .field("items", &self.items)
            .field("problems", &self.problems)
            .finish_non_exhaustive()
    }
}

impl Default for StreamReader {
    fn default() -> Self {
        Self {
            buffer: Vec::new(),
            decoder: Decoder::new(MAX_EVENT),
            items: Vec::new(),
            problems: Vec::new(),
        }
    }
}

impl StreamReader {
    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8], at: Instant) {
        if bytes.contains(&b'\r') {
            self.problem("a CR in the stream: line ends must be LF".to_owned());
        }
        let mut from = self.buffer.len().saturating_sub(1);
        self.buffer.extend_from_slice(bytes);
        while let Some(end) = self.buffer.get(from..).and_then(blank_line) {
            let rest = self.buffer.split_off(from + end);
            let block = std::mem::replace(&mut self.buffer, rest);
            self.block(&block, at);
            from = 0;
        }
    }

    /// Takes the end of the body.
    pub fn finish(&mut self) {
        if self.buffer.iter().any(|b| *b != b'\n') {
            let rest = clip(&String::from_utf8_lossy(&self.buffer), 60);
            self.problem(format!("the body ends inside an event: {rest:?}"));
        }
    }

    fn problem(&mut self, text: String) {
        if !self.problems.contains(&text) {
            self.problems.push(text);
        }
    }

    /// One block with the blank line that ends it.
    fn block(&mut self, raw: &[u8], at: Instant) {
        let Ok(text) = std::str::from_utf8(raw) else {
            self.problem("the stream is not UTF-8".to_owned());
            return;
        };
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        let comments = lines.iter().filter_map(|line| line.strip_prefix(':'));
        let comments: Vec<_> = comments
            .map(|c| Item::Comment(c.trim().to_owned()))
            .collect();
        if comments.len() == lines.len() {
            self.items.extend(comments);
            return;
        }
        if !comments.is_empty() {
            self.problem("a comment inside an event".to_owned());
        }
        let of = |name: &str| {
            lines
                .iter()
                .filter(|l| l.split(':').next() == Some(name))
                .count()
        };
        if of("data") != 1 {
            self.problem(format!("{} data lines in one event", of("data")));
        }
        if of("data") + of("id") + of("event") + of("retry") + comments.len() != lines.len() {
            self.problem(format!("an unknown field in {:?}", clip(text, 80)));
        }
        self.decode(raw, at);
    }

    fn decode(&mut self, raw: &[u8], at: Instant) {
        self.decoder.push(raw);
        let event = match self.decoder.next_event() {
            None => return,
            Some(Err(error)) => return self.problem(error.to_string()),
            Some(Ok(event)) => event,
        };
        let shown = || clip(&String::from_utf8_lossy(&event.data), 80);
        match serde_json::from_slice::<Value>(&event.data) {
            Ok(value) if value["type"].is_string() => self.items.push(Item::Event(Event {
                value,
                id: event.id,
                at,
                size: raw.len(),
            })),
            Ok(_) => self.problem(format!("data is not an event object: {:?}", shown())),
            Err(error) => self.problem(format!("data is not JSON ({error}): {:?}", shown())),
        }
    }
}

/// Where the first blank line ends.
fn blank_line(bytes: &[u8]) -> Option<usize> {
    bytes.windows(2).position(|w| w == b"\n\n").map(|at| at + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> StreamReader {
        let mut reader = StreamReader::default();
        for piece in pieces {
            reader.push(piece, Instant::now());
        }
        reader.finish();
        reader
    }

    #[test]
    fn events_and_comments_keep_their_order_however_they_are_cut() {
        let body = b": hi\n\nid: r:1\ndata: {\"type\":\"A\"}\n\n:\n\ndata: {\"type\":\"B\"}\n\n";
        let bytewise: Vec<&[u8]> = body.chunks(1).collect();
        for pieces in [vec![body.as_slice()], bytewise] {
            let reader = read(&pieces);
            assert!(reader.problems.is_empty(), "{:?}", reader.problems);
            let kinds: Vec<_> = reader
                .items
                .iter()
                .map(|item| match item {
                    Item::Event(e) => format!("{} {:?}", e.kind(), e.id.as_deref()),
                    Item::Comment(c) => format!("comment {c}"),
                })
                .collect();
            assert_eq!(
                kinds,
                ["comment hi", "A Some(\"r:1\")", "comment ", "B None"]
            );
        }
    }

    #[test]
    fn what_a_producer_must_not_send_is_found() {
        for wrong in [
            &b"data: {\"type\":\"A\"}\r\n\r\n"[..],
            b"data: {\"type\":\n\ndata: \"A\"}\n\n",
            b"data: {\"type\":\ndata: \"A\"}\n\n",
            b": note\ndata: {\"type\":\"A\"}\n\n",
            b"data: {\"kind\":\"A\"}\n\n",
            b"data: {\"type\":\"A\"}\n",
            b"data: {\"type\":\"\xff\"}\n\n",
            b"colour: red\ndata: {\"type\":\"A\"}\n\n",
            b"id: 1\n\n",
        ] {
            assert!(
                !read(&[wrong]).problems.is_empty(),
                "{:?}",
                String::from_utf8_lossy(wrong)
            );
        }
    }
}
