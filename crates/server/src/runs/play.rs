//! The task of one run.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use antiphon_agent::{Accepted, BuiltAgent, Run};
use antiphon_protocol::RunAgentInput;
use futures_util::FutureExt;
use tokio::time::Instant;

use super::Ticket;
use crate::app::App;
use crate::error::ApiError;
use crate::metrics::Outcome;

/// What a request asks for.
pub(crate) enum Asked {
    /// A run that settles all questions that are open.
    Run(RunAgentInput),
    /// A run with the answer to one of them.
    Answer(RunAgentInput),
}

impl Asked {
    pub(crate) fn input(&self) -> &RunAgentInput {
        match self {
            Self::Run(input) | Self::Answer(input) => input,
        }
    }
}

/// Has a request accepted and plays what comes of it. It goes on whether anybody waits or not.
pub(crate) async fn carry(
    app: Arc<App>,
    ticket: Ticket,
    agent: Arc<BuiltAgent>,
    user: String,
    asked: Asked,
) {
    let accept = async {
        match asked {
            Asked::Run(input) => app.runtime.accept(agent, &user, input).await,
            Asked::Answer(input) => app.runtime.accept_some(agent, &user, input).await,
        }
    };
    match AssertUnwindSafe(Box::pin(accept)).catch_unwind().await {
        Ok(Ok(Accepted::Run(run))) => {
            ticket.begin(&run.log(), &run.cancel_token());
            play(ticket, run).await;
        }
        Ok(Ok(Accepted::Replay(log))) => ticket.replay(&log),
        Ok(Err(refusal)) => ticket.refuse(&refusal.into()),
        Err(_) => {
            tracing::error!("a request could not be accepted: a bug made it panic");
            ticket.refuse(&ApiError::internal());
        }
    }
}

/// Plays a run to its end and gives its thread's place back.
pub(super) async fn play(ticket: Ticket, run: Box<Run>) {
    let log = run.log();
    let (agent, since) = (run.record().agent.clone(), Instant::now());
    let played = AssertUnwindSafe(Box::pin(run.play())).catch_unwind().await;
    if played.is_err() {
        tracing::error!(run = log.run_id(), "a run was cut by a panic");
    }
    if let Some(meter) = ticket.runs.metrics.agent(&agent) {
        meter.ran(Outcome::of(&log), since.elapsed());
    }
    ticket.end();
}
