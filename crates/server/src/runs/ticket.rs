//! The right to play a run, and those who wait for it to begin.

use std::sync::Arc;

use antiphon_agent::store::ThreadKey;
use antiphon_agent::{Reader, RunLog};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::active::{Active, Stage};
use super::{Entrance, Runs};
use crate::error::ApiError;

/// The place of a run that is to be started; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Ticket {
    pub(super) runs: Arc<Runs>,
    pub(super) key: ThreadKey,
    pub(super) serial: u64,
}

impl Ticket {
    /// The run was accepted: whoever waited gets a reader.
    ///
    /// A waiter that has left drops its reader with its channel, so a run that everybody left while
    /// it was being accepted is left like any other.
    pub(super) fn begin(&self, log: &Arc<RunLog>, cancel: &CancellationToken) {
        let mut inner = self.runs.inner();
        let active = inner.active.get_mut(&self.key);
        let Some(active) = active.filter(|active| active.serial == self.serial) else {
            return;
        };
        let playing = Stage::Playing {
            log: Arc::clone(log),
            cancel: cancel.clone(),
        };
        let Stage::Starting { waiting, cancelled } = std::mem::replace(&mut active.stage, playing)
        else {
            return;
        };
        drop(inner);
        if cancelled {
            cancel.cancel();
        }
        enter_all(waiting, log);
    }

    /// Nothing is played: whoever waited reads what was recorded before.
    pub(super) fn replay(self, log: &Arc<RunLog>) {
        enter_all(self.leave(), log);
    }

    /// Nothing is played: whoever waited is refused.
    pub(super) fn refuse(self, refusal: &ApiError) {
        refuse_all(self.leave(), refusal);
    }

    /// The run has ended: its log stays for a while.
    pub(super) fn end(self) {
        let ended = self.runs.inner().remove(&self.key, self.serial);
        if let Some(ended) = ended {
            self.runs.keep(self.key.clone(), ended);
        }
    }

    fn leave(&self) -> Vec<oneshot::Sender<Entrance>> {
        let left = self.runs.inner().remove(&self.key, self.serial);
        left.map(Active::into_waiting).unwrap_or_default()
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        // Whoever still waits hears that nothing comes.
        drop(self.leave());
    }
}

/// All enter before the first can leave: the run is left only when all have gone.
fn enter_all(waiting: Vec<oneshot::Sender<Entrance>>, log: &Arc<RunLog>) {
    let readers: Vec<Reader> = waiting.iter().map(|_| log.read()).collect();
    for (waiter, reader) in waiting.into_iter().zip(readers) {
        let _ = waiter.send(Ok(reader));
    }
}

pub(super) fn refuse_all(waiting: Vec<oneshot::Sender<Entrance>>, refusal: &ApiError) {
    for waiter in waiting {
        // A waiter may have left.
        let _ = waiter.send(Err(refusal.clone()));
    }
}
