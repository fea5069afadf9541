//! Logs of runs that ended a moment ago, for readers whose connection was cut before they had it all.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use antiphon_agent::RunLog;
use antiphon_agent::store::ThreadKey;
use antiphon_protocol::Dialect;
use tokio::time::Instant;

use crate::limits::Limits;

/// A bounded number of logs, for a bounded time.
#[derive(Debug)]
pub(super) struct Ended {
    runs: VecDeque<EndedRun>,
    bytes: usize,
    max_time: Duration,
    max_runs: usize,
    max_bytes: usize,
}

/// A run that has ended.
#[derive(Debug)]
pub(super) struct EndedRun {
    pub(super) key: ThreadKey,
    pub(super) run_id: String,
    pub(super) dialect: Dialect,
    pub(super) log: Arc<RunLog>,
    at: Instant,
    bytes: usize,
}

impl EndedRun {
    pub(super) fn new(key: ThreadKey, run_id: String, dialect: Dialect, log: Arc<RunLog>) -> Self {
        Self {
            bytes: log.bytes(),
            key,
            run_id,
            dialect,
            log,
            at: Instant::now(),
        }
    }
}

impl Ended {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            runs: VecDeque::new(),
            bytes: 0,
            max_time: limits.kept_time,
            max_runs: limits.kept_runs,
            max_bytes: limits.kept_bytes,
        }
    }

    pub(super) fn push(&mut self, run: EndedRun) {
        self.bytes += run.bytes;
        self.runs.push_back(run);
        while self.runs.len() > self.max_runs || self.bytes > self.max_bytes {
            if self.drop_oldest().is_none() {
                return;
            }
        }
    }

    /// Finds the newest one that fits.
    pub(super) fn find(&mut self, fits: impl Fn(&EndedRun) -> bool) -> Option<&EndedRun> {
        self.sweep();
        self.runs.iter().rev().find(|run| fits(run))
    }

    /// Drops what was kept long enough; says when the next one will have been.
    pub(super) fn sweep(&mut self) -> Option<Instant> {
        let now = Instant::now();
        loop {
            let until = self.runs.front()?.at + self.max_time;
            if until > now {
                return Some(until);
            }
            self.drop_oldest();
        }
    }

    pub(super) fn forget(&mut self, key: &ThreadKey) {
        self.runs.retain(|run| run.key != *key);
        self.bytes = self.runs.iter().map(|run| run.bytes).sum();
    }

    fn drop_oldest(&mut self) -> Option<()> {
        let dropped = self.runs.pop_front()?;
        self.bytes -= dropped.bytes;
        Some(())
    }
}
