//! The push decoder.

use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};

use crate::{Error, SseEvent};

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Decodes an event stream from pieces of any size.
///
/// Give it bytes with [`push`](Self::push), take events with [`next_event`](Self::next_event)
/// until that returns `None`, and tell it the end of the body with [`finish`](Self::finish).
/// After an error it stays silent: nothing is held or returned any more.
#[derive(Debug)]
pub struct Decoder {
    limit: usize,
    /// Bytes of lines not read yet.
    buffer: BytesMut,
    /// How much of `buffer` is known to hold no line end.
    scanned: usize,
    /// The last line ended in CR: an LF that follows belongs to it.
    after_cr: bool,
    position: Position,
    deliver_unfinished: bool,
    event: Option<String>,
    data: Data,
    id: Option<String>,
    last_event_id: Option<String>,
    retry: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    /// A byte order mark may still come.
    Start,
    Inside,
    /// No more bytes will come; what is buffered is still to be read.
    Ending,
    /// Everything is read, or an error was returned.
    Over,
}

/// The data lines of the block being read.
#[derive(Debug, Default)]
enum Data {
    #[default]
    None,
    /// One line, a slice of the input.
    Line(Bytes),
    /// Several lines, joined.
    Lines(BytesMut),
}

impl Decoder {
    /// Makes a decoder that holds at most about `max_event_bytes` of one event: its data so far
    /// and the line in progress.
    #[must_use]
    pub fn new(max_event_bytes: usize) -> Self {
        Self {
            limit: max_event_bytes,
            buffer: BytesMut::new(),
            scanned: 0,
            after_cr: false,
            position: Position::Start,
            deliver_unfinished: true,
            event: None,
            data: Data::None,
            id: None,
            last_event_id: None,
            retry: None,
        }
    }

    /// Sets whether a last block that no blank line ends is delivered at the end.
    ///
    /// It is by default, as AG-UI clients do it and as some model providers need it. The
    /// WHATWG rule is to discard it.
    #[must_use]
    pub const fn deliver_unfinished(mut self, deliver: bool) -> Self {
        self.deliver_unfinished = deliver;
        self
    }

    /// Takes the next bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        if matches!(self.position, Position::Start | Position::Inside) {
            self.buffer.extend_from_slice(bytes);
        }
    }

    /// Marks the end of the stream. Events may be left to take afterwards.
    pub fn finish(&mut self) {
        if self.position == Position::Start {
            self.skip_byte_order_mark();
        }
        if self.position != Position::Over {
            self.position = Position::Ending;
        }
    }

    /// Returns the next complete event, or `None` if more bytes are needed (after
    /// [`finish`](Self::finish): if there are no more).
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] once, as the last thing the decoder returns.
    pub fn next_event(&mut self) -> Option<Result<SseEvent, Error>> {
        if self.position == Position::Start && !self.skip_byte_order_mark() {
            return None;
        }
        while self.position != Position::Over {
            let Some(line) = self.line_length() else {
                if self.exceeds(self.buffer.len()) {
                    return Some(Err(self.give_up()));
                }
                return self.last_event().map(Ok);
            };
            if self.exceeds(line) {
                return Some(Err(self.give_up()));
            }
            if line == 0 {
                self.skip_line_end();
                if let Some(event) = self.dispatch() {
                    return Some(Ok(event));
                }
            } else {
                self.read_line(line);
                self.skip_line_end();
            }
        }
        None
    }

    /// Returns the id that a reconnect has to send as `Last-Event-ID`: the last `id` field of
    /// any block so far.
    #[must_use]
    pub fn last_event_id(&self) -> Option<&str> {
        self.last_event_id.as_deref()
    }

    /// Returns the last reconnection time the stream asked for.
    #[must_use]
    pub const fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Skips the mark and returns whether the stream's start is decided.
    fn skip_byte_order_mark(&mut self) -> bool {
        if self.buffer.len() < BYTE_ORDER_MARK.len() && BYTE_ORDER_MARK.starts_with(&self.buffer) {
            return false;
        }
        if self.buffer.starts_with(BYTE_ORDER_MARK) {
            self.buffer.advance(BYTE_ORDER_MARK.len());
        }
        self.position = Position::Inside;
        true
    }

    /// Returns the length of the line at the front of the buffer, without its end, if the end
    /// is there.
    fn line_length(&mut self) -> Option<usize> {
        if self.after_cr && !self.buffer.is_empty() {
            self.after_cr = false;
            if self.buffer.starts_with(b"\n") {
                self.buffer.advance(1);
            }
        }
        let fresh = self.buffer.get(self.scanned..).unwrap_or_default();
        if let Some(end) = memchr::memchr2(b'\n', b'\r', fresh) {
            return Some(self.scanned + end);
        }
        self.scanned = self.buffer.len();
        None
    }

    /// Skips the line end at the front of the buffer. Of a CRLF only the CR is surely there.
    fn skip_line_end(&mut self) {
        self.after_cr = self.buffer.starts_with(b"\r");
        if !self.buffer.is_empty() {
            self.buffer.advance(1);
        }
        self.scanned = 0;
    }

    fn exceeds(&self, line: usize) -> bool {
        let data = match &self.data {
            Data::None => 0,
            Data::Line(line) => line.len(),
            Data::Lines(lines) => lines.len(),
        };
        data.saturating_add(line) > self.limit
    }

    fn give_up(&mut self) -> Error {
        self.position = Position::Over;
        self.buffer = BytesMut::new();
        self.data = Data::None;
        Error::TooLarge { limit: self.limit }
    }

    /// Reads the line of this length at the front of the buffer and removes it.
    fn read_line(&mut self, length: usize) {
        let line = self.buffer.split_to(length);
        let (name, value_at) = match memchr::memchr(b':', &line) {
            Some(colon) => {
                let space = usize::from(line.get(colon + 1) == Some(&b' '));
                (line.get(..colon).unwrap_or_default(), colon + 1 + space)
            }
            None => (&*line, length),
        };
        match name {
            b"data" => {
                let value = line.freeze().slice(value_at..);
                self.append_data(value);
            }
            b"event" => {
                let value = text(&line, value_at);
                self.event = (!value.is_empty()).then_some(value);
            }
            b"id" => {
                let value = text(&line, value_at);
                if !value.contains('\0') {
                    self.last_event_id = Some(value.clone());
                    self.id = Some(value);
                }
            }
            b"retry" => {
                let value = text(&line, value_at);
                if value.bytes().all(|byte| byte.is_ascii_digit()) {
                    self.retry = value.parse().map(Duration::from_millis).ok().or(self.retry);
                }
            }
            // A comment (an empty name) or a field of a later standard.
            _ => {}
        }
    }

    fn append_data(&mut self, value: Bytes) {
        self.data = match std::mem::take(&mut self.data) {
            Data::None => Data::Line(value),
            Data::Line(first) => {
                let mut lines = BytesMut::with_capacity(first.len() + 1 + value.len());
                lines.extend_from_slice(&first);
                lines.extend_from_slice(b"\n");
                lines.extend_from_slice(&value);
                Data::Lines(lines)
            }
            Data::Lines(mut lines) => {
                lines.extend_from_slice(b"\n");
                lines.extend_from_slice(&value);
                Data::Lines(lines)
            }
        };
    }

    /// Ends the block; a block without data is no event.
    fn dispatch(&mut self) -> Option<SseEvent> {
        let event = self.event.take();
        let id = self.id.take();
        let data = match std::mem::take(&mut self.data) {
            Data::None => return None,
            Data::Line(line) => line,
            Data::Lines(lines) => lines.freeze(),
        };
        Some(SseEvent { event, data, id })
    }

    /// Reads what is left once the stream has ended.
    fn last_event(&mut self) -> Option<SseEvent> {
        if self.position != Position::Ending {
            return None;
        }
        self.position = Position::Over;
        let rest = self.buffer.len();
        if !self.deliver_unfinished {
            return None;
        }
        if rest > 0 {
            self.read_line(rest);
        }
        self.dispatch()
    }
}

fn text(line: &[u8], from: usize) -> String {
    String::from_utf8_lossy(line.get(from..).unwrap_or_default()).into_owned()
}
