//! The run that has a thread's place.

use std::sync::Arc;

use antiphon_agent::RunLog;
use antiphon_protocol::Dialect;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::{Entrance, Gist, Order, too_many_runs};
use crate::error::ApiError;

/// How many requests may wait for one run to be accepted.
const WAITING: usize = 64;

/// The run of one thread.
#[derive(Debug)]
pub(super) struct Active {
    pub(super) serial: u64,
    pub(super) run_id: String,
    pub(super) agent: String,
    pub(super) dialect: Dialect,
    /// What was asked for; nothing where no request started the run.
    pub(super) gist: Option<Gist>,
    pub(super) stage: Stage,
}

#[derive(Debug)]
pub(super) enum Stage {
    /// The request is being checked against its thread.
    Starting {
        waiting: Vec<oneshot::Sender<Entrance>>,
        cancelled: bool,
    },
    /// It plays.
    Playing {
        log: Arc<RunLog>,
        cancel: CancellationToken,
    },
}

impl Active {
    /// Whether a request only asks once more for this run, or only wants to see it.
    pub(super) fn is_asked_again(&self, order: &Order) -> bool {
        let is_same = match (order.gist, self.gist) {
            (None, _) => true,
            // It goes on by itself: whoever asked for it before comes back to it.
            (Some(asked), None) => !asked.answers,
            (asked, begun) => asked == begun,
        };
        self.run_id == order.run_id && self.agent == order.agent && is_same
    }

    /// Whether its terminal event is there. Its thread is free then, even if its task has not ended.
    pub(super) fn has_ended(&self) -> bool {
        matches!(&self.stage, Stage::Playing { log, .. } if log.has_ended())
    }

    pub(super) fn into_waiting(self) -> Vec<oneshot::Sender<Entrance>> {
        match self.stage {
            Stage::Starting { waiting, .. } => waiting,
            Stage::Playing { .. } => Vec::new(),
        }
    }

    /// A reader from the first event on, now or as soon as there is a log.
    pub(super) fn reader(&mut self) -> Result<oneshot::Receiver<Entrance>, ApiError> {
        let (sender, receiver) = oneshot::channel();
        match &mut self.stage {
            // The receiver is right here.
            Stage::Playing { log, .. } => drop(sender.send(Ok(log.read()))),
            Stage::Starting { waiting, .. } if waiting.len() < WAITING => waiting.push(sender),
            Stage::Starting { .. } => return Err(too_many_runs()),
        }
        Ok(receiver)
    }

    pub(super) fn cancel(&mut self) {
        match &mut self.stage {
            Stage::Starting { cancelled, .. } => *cancelled = true,
            Stage::Playing { cancel, .. } => cancel.cancel(),
        }
    }
}
