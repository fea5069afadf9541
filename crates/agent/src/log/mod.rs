//! The log of one run: what it sent, encoded once, for any number of readers.
//!
//! A run writes here and nowhere else; it never waits for a reader. The log keeps a bounded window of
//! frames and, beside it, the [`Replica`] that the run's events fold into, so that a reader who comes
//! late or falls behind is given snapshots of the present and goes on from there.

mod join;
mod reader;

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use antiphon_protocol::{Event, EventType, Message, Replica, Verifier};
use bytes::{BufMut, Bytes, BytesMut};
use serde_json::Value;
use tokio::sync::Notify;

pub use join::Joined;
pub use reader::{Batch, Reader};

/// How many bytes of frames a log keeps for readers that are behind.
const WINDOW_BYTES: usize = 4 << 20;
/// How large the blocks are that frames are encoded into, in bytes.
const BLOCK: usize = 16 << 10;
/// A block with less room than this is given up for a new one.
const BLOCK_LEFT: usize = 256;
/// How far a crash moves the numbers of an attempt's events: beyond what attempts there may be.
const CRASHED: u64 = 1_000_000_000;
/// How many frames a log keeps for readers that are behind.
const WINDOW_FRAMES: usize = 16_384;

/// One event as it goes out.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Its number in the run, from 1; 0 for what only restates the present.
    pub sequence: u64,
    /// Its type.
    pub kind: EventType,
    sse: Bytes,
    json: (usize, usize),
}

impl Frame {
    /// The event as a server-sent event, with its `id:`.
    #[must_use]
    pub fn sse(&self) -> Bytes {
        self.sse.clone()
    }

    /// The event as JSON.
    #[must_use]
    pub fn json(&self) -> Bytes {
        self.sse.slice(self.json.0..self.json.1)
    }

    /// Encodes an event into the block that the log's frames share.
    fn encode(block: &mut BytesMut, run_id: &str, sequence: u64, event: &Event) -> Self {
        const PROOF: &str = "maps with string keys are always JSON";
        block.extend_from_slice(b"id: ");
        block.extend_from_slice(run_id.as_bytes());
        block.extend_from_slice(b":");
        serde_json::to_writer(block.writer(), &sequence).expect(PROOF);
        block.extend_from_slice(b"\ndata: ");
        let start = block.len();
        serde_json::to_writer(block.writer(), event).expect(PROOF);
        let json = (start, block.len());
        block.extend_from_slice(b"\n\n");
        Self {
            sequence,
            kind: event.kind(),
            sse: block.split().freeze(),
            json,
        }
    }
}

/// The log of one run.
pub struct RunLog {
    run_id: String,
    /// The number of its first event.
    first: u64,
    inner: Mutex<Inner>,
    news: Notify,
    readers: AtomicUsize,
    /// Woken when the last reader leaves.
    left: Notify,
}

struct Inner {
    /// Where frames are encoded: many share one allocation.
    block: BytesMut,
    frames: VecDeque<Frame>,
    bytes: usize,
    next: u64,
    replica: Replica,
    started: Option<Event>,
    ended: bool,
    verifier: Option<Verifier>,
    /// Whether code of the application stands before the log, so that an illegal event is not ours.
    guarded: bool,
    /// Whether the events only restate a run: none of them is a position to go on from.
    restates: bool,
}

impl RunLog {
    /// An empty log for the nth attempt of a run, from 1. Each attempt numbers its events from another
    /// million on, so that a position in one is never taken for a position in another.
    #[must_use]
    pub fn new(run_id: impl Into<String>, attempt: u32) -> Self {
        Self::after(run_id, attempt, 0)
    }

    /// A log for an attempt that goes on after so many crashes: nor are positions from before one.
    #[must_use]
    pub(crate) fn after(run_id: impl Into<String>, attempt: u32, crashes: u64) -> Self {
        let first = first_of(attempt) + crashes * CRASHED;
        let inner = Inner {
            block: BytesMut::new(),
            frames: VecDeque::new(),
            bytes: 0,
            next: first,
            replica: Replica::new(Vec::new(), Value::Object(serde_json::Map::new())),
            started: None,
            ended: false,
            verifier: cfg!(debug_assertions).then(Verifier::producer),
            guarded: false,
            restates: false,
        };
        Self {
            run_id: run_id.into(),
            first,
            inner: Mutex::new(inner),
            news: Notify::new(),
            readers: AtomicUsize::new(0),
            left: Notify::new(),
        }
    }

    /// A log for what was recorded before. It restates a run, so the order of a live run does not
    /// bind it, and its events bear the number 0: the run's own log may still be there, where the
    /// same numbers are other events.
    #[must_use]
    pub(crate) fn replay(run_id: impl Into<String>) -> Self {
        let log = Self::new(run_id, 1);
        let mut inner = log.inner();
        inner.verifier = None;
        inner.restates = true;
        drop(inner);
        log
    }

    /// The run's id.
    #[must_use]
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// Sets what the reader of this run holds before its first event.
    pub(crate) fn begin_with(&self, messages: Vec<Message>, state: Value) {
        self.inner().replica = Replica::new(messages, state);
    }

    /// Adds an event. After the terminal event nothing is taken any more.
    pub(crate) fn push(&self, event: Event) {
        let mut inner = self.inner();
        if inner.ended {
            return;
        }
        if !inner.admits(&event) {
            return;
        }
        for warning in inner.replica.apply(&event) {
            tracing::error!(run = self.run_id, %warning, "an event does not apply to what the readers hold");
        }
        if inner.block.capacity() < BLOCK_LEFT {
            inner.block = BytesMut::with_capacity(BLOCK);
        }
        let sequence = if inner.restates { 0 } else { inner.next };
        let frame = Frame::encode(&mut inner.block, &self.run_id, sequence, &event);
        inner.next += 1;
        inner.bytes += frame.sse.len();
        inner.frames.push_back(frame);
        while inner.frames.len() > 1
            && (inner.bytes > WINDOW_BYTES || inner.frames.len() > WINDOW_FRAMES)
        {
            let dropped = inner.frames.pop_front().map_or(0, |frame| frame.sse.len());
            inner.bytes -= dropped;
        }
        match event.kind() {
            EventType::RunStarted => inner.started = Some(event),
            EventType::RunFinished | EventType::RunError => inner.ended = true,
            _ => {}
        }
        drop(inner);
        self.news.notify_waiters();
    }

    /// Leaves out illegal events instead of taking them for a fault of the run itself.
    pub(crate) fn guard(&self) {
        let mut inner = self.inner();
        inner.guarded = true;
        inner.verifier.get_or_insert_with(Verifier::producer);
    }

    /// Whether the terminal event is there.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.inner().ended
    }

    /// The terminal event, once it is there.
    #[must_use]
    pub fn ending(&self) -> Option<Frame> {
        let inner = self.inner();
        inner.frames.back().filter(|_| inner.ended).cloned()
    }

    /// Whether the run has ended and the frame with this number was its last.
    #[must_use]
    pub fn ends_at(&self, sequence: u64) -> bool {
        let inner = self.inner();
        inner.ended && sequence + 1 == inner.next
    }

    /// How many readers there are.
    #[must_use]
    pub fn readers(&self) -> usize {
        self.readers.load(Ordering::Acquire)
    }

    /// How many bytes of frames the log keeps.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.inner().bytes
    }

    /// Looks at the state that readers hold.
    pub(crate) fn with_state<R>(&self, look: impl FnOnce(&Value) -> R) -> R {
        look(self.inner().replica.state())
    }

    /// Whether a patch applies to the state that readers hold.
    pub(crate) fn accepts(&self, patch: &antiphon_state::Patch) -> bool {
        let inner = self.inner();
        let mut state = inner.replica.state().clone();
        drop(inner);
        patch.apply(&mut state).is_ok()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // A panic while the lock was held leaves the log as of the last whole event.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave(&self) {
        if self.readers.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.left.notify_one();
        }
    }

    /// Ends once the last reader has left and none has come back within `grace`.
    pub(crate) async fn abandoned(&self, grace: Duration) {
        loop {
            self.left.notified().await;
            tokio::time::sleep(grace).await;
            if self.readers() == 0 {
                return;
            }
        }
    }

    fn enter(self: &Arc<Self>, next: u64) -> Reader {
        self.readers.fetch_add(1, Ordering::AcqRel);
        Reader::new(Arc::clone(self), next)
    }
}

/// The number of an attempt's first event.
fn first_of(attempt: u32) -> u64 {
    u64::from(attempt.saturating_sub(1)) * 1_000_000 + 1
}

impl Inner {
    /// Whether an event may follow what was sent. In debug builds an illegal event of the run itself
    /// is a bug of ours and ends the test that made it; one that middleware made is left out.
    fn admits(&mut self, event: &Event) -> bool {
        let Some(verifier) = &mut self.verifier else {
            return true;
        };
        let Err(violation) = verifier.check(event) else {
            return true;
        };
        assert!(
            self.guarded,
            "the run sent an illegal event: {violation} ({event:?})"
        );
        tracing::error!(%violation, event = event.kind().as_str(), "an event of the middleware is illegal and left out");
        false
    }

    /// The place of the oldest frame that is kept.
    fn first(&self) -> u64 {
        self.next - self.frames.len() as u64
    }
}

impl fmt::Debug for RunLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunLog")
            .field("run_id", &self.run_id)
            .finish_non_exhaustive()
    }
}
