//! What is counted of one agent.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use antiphon_agent::RunLog;
use antiphon_protocol::{self as protocol, Event, RunFinished};

use super::histogram::Histogram;
use crate::stream::decode;

/// The counters of one agent.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    agent: String,
    runs: [AtomicU64; Outcome::ALL.len()],
    pub(super) run_time: Histogram,
    pub(super) model_calls: AtomicU64,
    pub(super) model_failures: AtomicU64,
    pub(super) tool_calls: AtomicU64,
    pub(super) input_tokens: AtomicU64,
    pub(super) output_tokens: AtomicU64,
    pub(super) first_token: Histogram,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Finished,
    Waiting,
    Failed,
    Cancelled,
}

impl Outcome {
    pub(super) const ALL: [Self; 4] =
        [Self::Finished, Self::Waiting, Self::Failed, Self::Cancelled];

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Waiting => "waiting",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// How a run ended, by its log. One that a panic cut has no end there.
    pub(crate) fn of(log: &RunLog) -> Self {
        match log.ending().and_then(|frame| decode(&frame)) {
            Some(Event::RunFinished(finished)) => Self::of_finished(&finished),
            _ => Self::Failed,
        }
    }

    fn of_finished(finished: &RunFinished) -> Self {
        let elsewhere = finished.result.as_ref();
        match &finished.outcome {
            Some(protocol::Outcome::Cancelled) => Self::Cancelled,
            Some(
                protocol::Outcome::Interrupt { .. }
                | protocol::Outcome::Success {
                    pending_tool_call_ids: Some(_),
                },
            ) => Self::Waiting,
            _ if elsewhere.is_some_and(|result| result["status"] == "in_progress") => Self::Waiting,
            _ => Self::Finished,
        }
    }
}

impl Meter {
    pub(crate) fn new(agent: &str) -> Self {
        Self {
            agent: agent.to_owned(),
            ..Self::default()
        }
    }

    pub(crate) fn agent(&self) -> &str {
        &self.agent
    }

    /// Counts a run that has ended.
    pub(crate) fn ran(&self, outcome: Outcome, time: Duration) {
        let [finished, waiting, failed, cancelled] = &self.runs;
        let count = match outcome {
            Outcome::Finished => finished,
            Outcome::Waiting => waiting,
            Outcome::Failed => failed,
            Outcome::Cancelled => cancelled,
        };
        count.fetch_add(1, Ordering::Relaxed);
        self.run_time.observe(time);
    }

    /// How many runs ended in each way.
    pub(super) fn runs(&self) -> impl Iterator<Item = (Outcome, u64)> {
        let counts = self.runs.iter().map(|count| count.load(Ordering::Relaxed));
        Outcome::ALL.into_iter().zip(counts)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_run_that_stopped_for_someone_waits() {
        let ended = |outcome| RunFinished {
            outcome,
            ..RunFinished::new("t", "r")
        };
        let of = |finished: &RunFinished| Outcome::of_finished(finished);
        assert_eq!(of(&ended(None)), Outcome::Finished);
        assert_eq!(
            of(&ended(Some(protocol::Outcome::success()))),
            Outcome::Finished
        );
        assert_eq!(
            of(&ended(Some(protocol::Outcome::Cancelled))),
            Outcome::Cancelled
        );
        let pending_tool_call_ids = Some(vec!["c1".to_owned()]);
        let pending = protocol::Outcome::Success {
            pending_tool_call_ids,
        };
        assert_eq!(of(&ended(Some(pending))), Outcome::Waiting);
        let mut elsewhere = ended(Some(protocol::Outcome::success()));
        elsewhere.result = Some(json!({ "status": "in_progress" }));
        assert_eq!(of(&elsewhere), Outcome::Waiting);
    }
}
