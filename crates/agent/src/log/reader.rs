//! One reader of a run's log.

use std::sync::Arc;

use super::{Frame, RunLog};

/// How many frames one batch hands over at most: one write of a response.
const BATCH: usize = 256;

/// Reads a run's log from some position to its end.
///
/// Dropping it leaves the run; an agent may cancel a run that nobody reads any more.
#[derive(Debug)]
pub struct Reader {
    log: Arc<RunLog>,
    next: u64,
}

/// What a reader is given at a time.
#[derive(Debug)]
pub enum Batch {
    /// The next frames, at least one.
    Frames(Vec<Frame>),
    /// The reader fell behind the window; it has to join again.
    Lagged,
    /// The run has ended and everything was read.
    Ended,
}

impl Reader {
    pub(super) fn new(log: Arc<RunLog>, next: u64) -> Self {
        Self { log, next }
    }

    /// The log it reads.
    #[must_use]
    pub fn log(&self) -> &Arc<RunLog> {
        &self.log
    }

    /// Waits for more and takes all there is, up to a bound. Safe to cancel: nothing is lost.
    pub async fn next(&mut self) -> Batch {
        loop {
            let log = Arc::clone(&self.log);
            let news = log.news.notified();
            tokio::pin!(news);
            news.as_mut().enable();
            if let Some(batch) = self.take() {
                return batch;
            }
            news.await;
        }
    }

    fn take(&mut self) -> Option<Batch> {
        let inner = self.log.inner();
        let first = inner.first();
        if self.next < first {
            return Some(Batch::Lagged);
        }
        let skip = usize::try_from(self.next - first).unwrap_or(usize::MAX);
        let frames: Vec<Frame> = inner
            .frames
            .iter()
            .skip(skip)
            .take(BATCH)
            .cloned()
            .collect();
        if frames.is_empty() {
            return inner.ended.then_some(Batch::Ended);
        }
        self.next += frames.len() as u64;
        Some(Batch::Frames(frames))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.log.leave();
    }
}
