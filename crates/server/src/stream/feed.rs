//! What one connection reads of a run, from its first byte to the end of the body.

use std::io;
use std::pin::Pin;
use std::time::Duration;

use antiphon_agent::{Batch, Frame, Joined, Reader};
use antiphon_protocol::EventType;
use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::unfold;
use tokio::time::{Instant, Sleep};

use super::encode::Encoder;
use crate::edge::accept::Binding;

/// A comment. Readers skip it, and everything on the way sees that the connection lives.
pub(crate) const HEARTBEAT: &[u8] = b": keep-alive\n\n";

/// The events of a run for one client: what is there at once, and the rest as it comes.
///
/// It ends right after the terminal event. A client that reads too slowly loses its place in the log:
/// its body is cut off, and it can join again.
#[derive(Debug)]
pub(crate) struct Feed {
    reader: Reader,
    /// What comes before the reader's first batch.
    prelude: Vec<Frame>,
    encoder: Encoder,
    heartbeat: Option<Heartbeat>,
    /// Whether the client was told anything yet.
    begun: bool,
    ended: bool,
}

impl Feed {
    /// Reads from where the reader stands.
    pub(crate) fn new(reader: Reader, encoder: Encoder, silence: Duration) -> Self {
        let prelude = Vec::new();
        Self::joined(Joined { prelude, reader }, encoder, silence)
    }

    /// Reads what a reader that joins has to be told, then what follows.
    pub(crate) fn joined(joined: Joined, encoder: Encoder, silence: Duration) -> Self {
        Self {
            reader: joined.reader,
            prelude: joined.prelude,
            encoder,
            // The protobuf binding has nothing that a reader skips.
            heartbeat: (encoder.binding == Binding::Sse).then(|| Heartbeat::new(silence)),
            begun: false,
            ended: false,
        }
    }

    pub(crate) fn into_stream(self) -> impl Stream<Item = io::Result<Bytes>> + Send {
        unfold(self, |mut feed| async move {
            let piece = feed.next().await?;
            Some((piece, feed))
        })
    }

    /// The next piece of the body; nothing after its end.
    pub(crate) async fn next(&mut self) -> Option<io::Result<Bytes>> {
        while !self.ended {
            let frames = if self.prelude.is_empty() {
                match self.batch().await {
                    Some(Batch::Frames(frames)) => frames,
                    Some(Batch::Ended) => return None,
                    Some(Batch::Lagged) if self.begun => {
                        self.ended = true;
                        let reason = "the client reads too slowly; it can join again";
                        return Some(Err(io::Error::new(io::ErrorKind::TimedOut, reason)));
                    }
                    Some(Batch::Lagged) => {
                        let joined = self.reader.log().join(None);
                        self.reader = joined.reader;
                        joined.prelude
                    }
                    None => return Some(Ok(Bytes::from_static(HEARTBEAT))),
                }
            } else {
                std::mem::take(&mut self.prelude)
            };
            self.ended = frames.last().is_some_and(is_terminal);
            let piece = self.encoder.encode(&frames);
            if !piece.is_empty() {
                self.begun = true;
                return Some(Ok(piece));
            }
        }
        None
    }

    /// The next batch, or nothing when it is time for a sign of life.
    async fn batch(&mut self) -> Option<Batch> {
        let Some(heartbeat) = &mut self.heartbeat else {
            return Some(self.reader.next().await);
        };
        tokio::select! {
            biased;
            batch = self.reader.next() => {
                heartbeat.last = Instant::now();
                Some(batch)
            }
            () = heartbeat.due() => None,
        }
    }
}

fn is_terminal(frame: &Frame) -> bool {
    matches!(frame.kind, EventType::RunFinished | EventType::RunError)
}

/// Watches for silence. The timer is not touched while events come; when it fires, it looks at how
/// long the silence really was.
#[derive(Debug)]
struct Heartbeat {
    silence: Duration,
    last: Instant,
    timer: Pin<Box<Sleep>>,
}

impl Heartbeat {
    fn new(silence: Duration) -> Self {
        let last = Instant::now();
        Self {
            silence,
            last,
            timer: Box::pin(tokio::time::sleep_until(last + silence)),
        }
    }

    async fn due(&mut self) {
        loop {
            self.timer.as_mut().await;
            let now = Instant::now();
            let due = self.last + self.silence;
            if now >= due {
                self.last = now;
                self.timer.as_mut().reset(now + self.silence);
                return;
            }
            self.timer.as_mut().reset(due);
        }
    }
}
