//! Following a run across its wait for another system.
//!
//! Such a run ends its stream and goes on later by itself, under the same id. A client that has read all
//! of it and asks for what follows is kept until then.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use antiphon_agent::RunLog;
use antiphon_agent::store::RunStatus;
use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::unfold;
use tokio::time::{Instant, sleep};

use crate::app::App;
use crate::edge::accept::Binding;
use crate::runs::FoundLog;
use crate::stream::{Encoder, Feed, HEARTBEAT};

/// How often it is looked whether the run goes on.
const LOOK: Duration = Duration::from_millis(200);
/// After so many looks the store is asked whether the run still waits.
const LOOKS: u32 = 10;
/// How long a client is kept; it may ask again.
const PATIENCE: Duration = Duration::from_secs(600);

/// A client that waits for its run to go on.
pub(super) struct Follower {
    pub(super) app: Arc<App>,
    pub(super) user: String,
    pub(super) thread: String,
    /// What the client has read.
    pub(super) read: Arc<RunLog>,
    pub(super) encoder: Encoder,
}

/// Where it stands.
struct Place {
    until: Instant,
    spoke: Instant,
    looks: u32,
    feed: Option<Feed>,
}

impl Follower {
    /// Whether a run has ended for now, to go on when another system reports.
    pub(super) async fn is_awaited(&self) -> bool {
        let run = self.run().await;
        run.is_some_and(|run| {
            run.status == RunStatus::Waiting
                && run.ending.is_some_and(|ending| {
                    ending.pointer("/result/status") == Some(&"in_progress".into())
                })
        })
    }

    pub(super) fn into_stream(self) -> impl Stream<Item = io::Result<Bytes>> + Send {
        let now = Instant::now();
        let place = Place {
            until: now + PATIENCE,
            spoke: now,
            looks: 0,
            feed: None,
        };
        unfold((self, place), |(follower, mut place)| async move {
            let piece = follower.next(&mut place).await?;
            Some((piece, (follower, place)))
        })
    }

    async fn next(&self, place: &mut Place) -> Option<io::Result<Bytes>> {
        loop {
            if let Some(feed) = &mut place.feed {
                return feed.next().await;
            }
            if let Some(log) = self.goes_on() {
                let feed = Feed::new(log.read(), self.encoder, self.app.heartbeat);
                place.feed = Some(feed);
                continue;
            }
            place.looks += 1;
            let is_due = place.looks.is_multiple_of(LOOKS);
            let is_over = Instant::now() >= place.until || self.app.runs.is_draining();
            if is_over || (is_due && !self.is_awaited().await) {
                return None;
            }
            if self.encoder.binding == Binding::Sse && place.spoke.elapsed() >= self.app.heartbeat {
                place.spoke = Instant::now();
                return Some(Ok(Bytes::from_static(HEARTBEAT)));
            }
            sleep(LOOK).await;
        }
    }

    /// The log of the run's next attempt, once it is at work.
    fn goes_on(&self) -> Option<Arc<RunLog>> {
        let run_id = self.read.run_id();
        let found = self.app.runs.find(&self.user, run_id, Some(&self.thread))?;
        match found.log {
            FoundLog::Here(log) if !Arc::ptr_eq(&log, &self.read) => Some(log),
            _ => None,
        }
    }

    async fn run(&self) -> Option<antiphon_agent::store::RunRecord> {
        let store = self.app.runtime.store();
        let run = store.run(&self.user, self.read.run_id(), Some(&self.thread));
        // Where the store is away, the client is kept until it is back.
        run.await.ok().flatten()
    }
}
