//! From bytes to events that may be believed. No I/O.
//!
//! Frames are decoded, chunks expanded and every event checked before anybody sees it. What
//! survives a cut connection (what is open, which position was reached) is kept here.

mod frames;
pub(crate) mod judge;
mod thinking;
mod warnings;

use std::collections::VecDeque;

use antiphon_protocol::{Chunks, Event};

pub(crate) use judge::{Judge, Terminal};
pub(crate) use warnings::Warnings;

use crate::Error;
use crate::http::Wire;
use frames::Frames;
use thinking::Thinking;

/// Turns the bytes of one run's stream into checked events.
#[derive(Debug)]
pub(crate) struct Intake {
    frames: Frames,
    max_event_bytes: usize,
    thinking: Thinking,
    chunks: Chunks,
    judge: Judge,
    /// Expanded, not yet checked.
    ready: VecDeque<Event>,
    /// The buffer that chunks are expanded into.
    expanded: Vec<Event>,
    warnings: Warnings,
    /// The position behind the last frame.
    last_event_id: Option<String>,
    /// The next event is the first one of another connection.
    rejoined: bool,
}

impl Intake {
    pub(crate) fn new(wire: Wire, max_event_bytes: usize, judge: Judge) -> Self {
        Self {
            frames: Frames::new(wire, max_event_bytes),
            max_event_bytes,
            thinking: Thinking::new(judge.run_id()),
            chunks: Chunks::default(),
            judge,
            ready: VecDeque::new(),
            expanded: Vec::new(),
            warnings: Warnings::default(),
            last_event_id: None,
            rejoined: false,
        }
    }

    /// Takes the next bytes of the body.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.frames.push(bytes);
    }

    /// Marks the end of the body. Events may be left to take afterwards.
    pub(crate) fn finish(&mut self) {
        self.frames.finish();
    }

    /// Goes on with another connection. What the old one left unfinished is dropped.
    pub(crate) fn reconnect(&mut self, wire: Wire) {
        self.frames = Frames::new(wire, self.max_event_bytes);
        self.rejoined = true;
    }

    /// Returns the next event, `None` if it takes more bytes.
    pub(crate) fn next(&mut self) -> Option<Result<Event, Error>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(self.check(event));
            }
            let received = match self.frames.next(&mut self.thinking)? {
                Ok(received) => received,
                Err(error) => return Some(Err(error)),
            };
            if received.id.is_some() {
                self.last_event_id = received.id;
            }
            if let Err(error) = self.judge.dropped(&received.warnings) {
                return Some(Err(error));
            }
            self.warnings.extend(received.warnings);
            if let Some(event) = received.event
                && let Err(error) = self.expand(event)
            {
                return Some(Err(error));
            }
        }
    }

    fn expand(&mut self, event: Event) -> Result<(), Error> {
        if std::mem::take(&mut self.rejoined) && self.judge.restarts(&event) {
            self.chunks = Chunks::default();
            self.judge.restart();
        }
        let result = self.chunks.expand(event, &mut self.expanded);
        self.ready.extend(self.expanded.drain(..));
        Ok(result?)
    }

    fn check(&mut self, event: Event) -> Result<Event, Error> {
        if let Some(warning) = self.judge.check(&event)? {
            self.warnings.push(warning);
        }
        Ok(event)
    }

    pub(crate) fn judge(&self) -> &Judge {
        &self.judge
    }

    pub(crate) fn warnings(&mut self) -> &mut Warnings {
        &mut self.warnings
    }

    pub(crate) fn shown_warnings(&self) -> &Warnings {
        &self.warnings
    }

    pub(crate) fn last_event_id(&self) -> Option<&str> {
        self.last_event_id.as_deref()
    }
}
