//! A run, from its acceptance to its end. Read [`Run::play`] first: it is the story.

mod accept;
mod answers;
mod calls;
mod conversation;
mod decision;
mod echo;
mod ending;
mod execute;
mod intake;
mod mapped;
mod news;
mod opening;
mod pause;
mod prompt;
mod question;
mod recover;
mod shared;
mod turn;
mod waits;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use antiphon_model::{Request, ToolChoice, ToolSpec};
use antiphon_protocol::{Message, TokenUsage, ToolMessage};
use futures_util::{FutureExt, StreamExt};
use tokio_util::sync::CancellationToken;

pub use accept::{Accepted, Runtime};
pub(crate) use decision::needs_approval;
pub use recover::Recovered;
pub use waits::{Delivered, Delivery};

use crate::agent::{BuiltAgent, History, OnDisconnect};
use crate::ask::Code;
use crate::clock::{Clock, Ids};
use crate::context::{Facts, RunContext, Scope};
use crate::emitter::Emitter;
use crate::error::Failure;
use crate::failpoint;
use crate::log::RunLog;
use crate::store::{self, Call, Commit, Interaction, Lease, RunRecord, Store};
use conversation::Conversation;
use decision::Pending;
use shared::{Rules, SharedState};
use turn::{TurnWriter, Written};

/// How long a lease lasts without a renewal.
const LEASE: Duration = Duration::from_secs(30);
/// How long a run without readers waits for one to come back: a short cut of the connection heals.
const GRACE: Duration = Duration::from_millis(500);

/// A run that was accepted: its input is stored, its thread is ours, nothing was sent yet.
#[derive(Debug)]
pub struct Run {
    agent: Arc<BuiltAgent>,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    facts: Arc<Facts>,
    emitter: Arc<Emitter>,
    cancel: CancellationToken,
    lease: Lease,
    record: RunRecord,
    /// What this request is for.
    purpose: Purpose,
    conversation: Conversation,
    shared: SharedState,
    /// Calls that are not settled, in the order in which the model made them.
    pending: Vec<Pending>,
    /// Interactions that are open.
    open: Vec<Interaction>,
    /// Approvals that were given with this request, for the record of what came of them.
    approved: Vec<Interaction>,
    /// Results that were made for the thread since its last run; the page does not have them.
    told: Vec<ToolMessage>,
    /// Ids of the calls that the model made in this run.
    began: Vec<String>,
    /// Calls whose code runs right now.
    executing: Vec<Call>,
    /// The model call that streams right now.
    writer: Option<TurnWriter>,
    page_tools: PageTools,
    usage: Vec<TokenUsage>,
    turns: u32,
    calls: u32,
    /// Whether the model has said its last word: an answer without calls.
    answered: bool,
    /// Whether a person declined a call, for agents that stop then.
    declined: bool,
}

/// What a request asks of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To show it, without a model call.
    Open,
    /// To go on with it.
    Turn,
}

/// Tools that the page offers in this run.
#[derive(Debug, Default)]
pub(crate) struct PageTools {
    specs: Vec<ToolSpec>,
    names: Vec<String>,
}

/// How a drive of the loop came to its end.
enum Ended {
    Finished,
    Waiting,
}

/// Why a run stopped before the loop's own end.
enum Stopped {
    Cancelled,
    Failed(Failure),
}

impl Run {
    /// The log that the run writes and readers read.
    #[must_use]
    pub fn log(&self) -> Arc<RunLog> {
        self.emitter.shared_log()
    }

    /// Cancels the run when it is cancelled.
    #[must_use]
    pub fn cancel_token(&self) -> CancellationToken {
        self.cancel.clone()
    }

    /// The stored facts of this run.
    #[must_use]
    pub fn record(&self) -> &RunRecord {
        &self.record
    }

    /// Plays the run to its end. Whatever happens, the log ends with one terminal event and the
    /// thread is given back.
    pub async fn play(mut self) {
        self.announce();
        let cancel = self.cancel.clone();
        let renewal = keep_lease(Arc::clone(&self.store), self.lease.clone());
        let abandonment = abandoned(self.log(), self.agent.on_disconnect());
        let deadline = tokio::time::sleep(self.agent.settings.limits.time);
        let stopped = tokio::select! {
            biased;
            () = cancel.cancelled() => Some(Stopped::Cancelled),
            () = abandonment => Some(Stopped::Cancelled),
            ended = AssertUnwindSafe(Box::pin(self.drive())).catch_unwind() => match ended {
                Ok(Ok(Ended::Finished | Ended::Waiting)) => None,
                Ok(Err(failure)) => Some(Stopped::Failed(failure)),
                Err(_) => Some(Stopped::Failed(Failure::new("internal", "the run failed unexpectedly"))),
            },
            () = deadline => Some(Stopped::Failed(Failure::new("timeout", "the run took too long"))),
            lost = renewal => Some(Stopped::Failed(lost.into())),
        };
        match stopped {
            None => {}
            Some(Stopped::Cancelled) => self.end_cancelled().await,
            Some(Stopped::Failed(failure)) => self.end_failed(failure).await,
        }
    }

    /// The loop: decide the calls that are there, call the model when none waits, and again, until
    /// it has nothing more to call, or someone has to be asked.
    async fn drive(&mut self) -> Result<Ended, Failure> {
        self.begin();
        if self.purpose == Purpose::Open {
            return self.end_opened().await.map(|()| Ended::Finished);
        }
        loop {
            self.settle_calls().await?;
            if !self.open.is_empty() {
                return self.end_waiting().await.map(|()| Ended::Waiting);
            }
            if self.answered {
                return self.end_finished().await.map(|()| Ended::Finished);
            }
            self.call_model().await?;
        }
    }

    /// Calls the model once and takes what it says into the thread. Its calls wait to be decided.
    async fn call_model(&mut self) -> Result<(), Failure> {
        self.turns += 1;
        if self.turns > self.agent.settings.limits.turns {
            return Err(Failure::new(
                "turn_limit",
                "the run made too many model calls",
            ));
        }
        let request = self.request().await;
        let mut stream = self.agent.model.stream(&request);
        drop(request);
        self.writer = Some(TurnWriter::new(
            Arc::clone(&self.agent),
            Arc::clone(&self.emitter),
            Arc::clone(&self.ids),
            self.conversation.call_ids(),
        ));
        while let Some(event) = stream.next().await {
            let event = event.map_err(|error| self.model_failure(&error))?;
            if let Some(writer) = &mut self.writer {
                writer.take(event);
            }
        }
        let Some(writer) = self.writer.take() else {
            return Ok(());
        };
        failpoint::reach("turn.streamed");
        self.take_turn(writer.into_written())
    }

    fn model_failure(&self, error: &antiphon_model::Error) -> Failure {
        tracing::warn!(
            run = self.record.run_id,
            code = error.code(),
            detail = error.detail(),
            "the model call failed: {error}"
        );
        Failure::new(error.code(), error.to_string())
    }

    /// Takes a whole turn into the thread; it is stored with the next commit.
    fn take_turn(&mut self, mut written: Written) -> Result<(), Failure> {
        written.settle();
        if let Some(usage) = written.usage.take() {
            ending::add_usage(&mut self.usage, usage);
        }
        let complete = written.is_complete();
        if written.messages.is_empty() && !complete {
            return Err(Failure::new("upstream_refused", "the model gave no answer"));
        }
        self.answered = written.calls.is_empty();
        let origin = written.origin();
        for (index, call) in std::mem::take(&mut written.calls).into_iter().enumerate() {
            self.propose(call, index, complete);
        }
        if !self.agent.settings.mappings.calls.is_empty() {
            self.restate(false);
        }
        let last_assistant = written
            .messages
            .iter()
            .rposition(|m| matches!(m, Message::Assistant(_)));
        for (index, message) in written.messages.into_iter().enumerate() {
            let origin = if Some(index) == last_assistant {
                origin.clone()
            } else {
                None
            };
            self.conversation.push(message, origin);
        }
        Ok(())
    }

    /// What the model is asked now.
    async fn request(&self) -> Request {
        let mut messages =
            prompt::conversation(self.conversation.stored(), self.agent.settings.history);
        if let Some(data) = self.data_block().await {
            prompt::insert_data(&mut messages, &data);
        }
        Request {
            instructions: self.agent.settings.instructions.clone(),
            messages,
            tools: self.page_tools.offered(&self.agent),
            tool_choice: ToolChoice::Auto,
            parameters: self.agent.settings.parameters.clone(),
        }
    }

    async fn data_block(&self) -> Option<String> {
        let state = self.agent.inject_state.then(|| self.shared.committed());
        let context = match self.agent.settings.inject_context {
            true => self.facts.input.context.as_slice(),
            false => &[],
        };
        let mut provided = Vec::new();
        if !self.agent.settings.providers.is_empty() {
            let scope = self.scope(
                None,
                String::new(),
                Arc::new(self.shared.committed().clone()),
            );
            for provider in &self.agent.settings.providers {
                match provider.provide(RunContext::new(&scope)).await {
                    Ok(text) => provided.extend(text),
                    Err(error) => {
                        tracing::warn!(run = self.record.run_id, %error, "a context provider failed");
                    }
                }
            }
        }
        prompt::data_block(state, context, &provided)
    }

    fn scope(&self, code: Option<Code>, call_id: String, state: Arc<serde_json::Value>) -> Scope {
        Scope::new(
            Arc::clone(&self.facts),
            Arc::clone(&self.emitter),
            code,
            call_id,
            state,
        )
    }

    fn rules(agent: &BuiltAgent) -> Rules<'_> {
        Rules {
            schema: agent.state_schema.as_ref(),
            max_bytes: agent.settings.limits.state_bytes,
        }
    }

    /// Stores what changed, together with what the caller adds, in one transaction.
    async fn commit(&mut self, mut commit: Commit) -> Result<(), store::Error> {
        if self.agent.settings.history != History::Client {
            commit.messages.extend(self.conversation.fresh());
            commit.state = self.shared.fresh();
        }
        if commit.is_empty() {
            return Ok(());
        }
        self.store.commit(&self.lease, commit).await?;
        self.conversation.is_stored();
        self.shared.is_stored();
        Ok(())
    }

    /// Brings what the page shows in line with the thread: the committed state under the predictions
    /// that still stand. `whole` asks for a snapshot where a delta would do.
    fn restate(&self, whole: bool) {
        let view = self.shared.view();
        let change = self
            .emitter
            .log()
            .with_state(|held| mapped::difference(held, &view, whole));
        if let Some(event) = change {
            self.emitter.emit(event);
        }
    }
}

impl PageTools {
    fn new(tools: &[antiphon_protocol::Tool]) -> Self {
        let spec = |tool: &antiphon_protocol::Tool| ToolSpec {
            name: tool.name.clone(),
            description: tool.description.clone(),
            parameters: tool
                .parameters
                .clone()
                .unwrap_or_else(|| serde_json::json!({ "type": "object", "properties": {} })),
        };
        Self {
            specs: tools.iter().map(spec).collect(),
            names: tools.iter().map(|tool| tool.name.clone()).collect(),
        }
    }

    fn offered(&self, agent: &BuiltAgent) -> Arc<[ToolSpec]> {
        match self.specs.is_empty() {
            true => Arc::clone(&agent.specs),
            false => agent.specs.iter().chain(&self.specs).cloned().collect(),
        }
    }
}

/// Ends when nobody reads the run any more and its agent does not want it to go on then.
async fn abandoned(log: Arc<RunLog>, policy: OnDisconnect) {
    match policy {
        OnDisconnect::Cancel => log.abandoned(GRACE).await,
        OnDisconnect::Detach => std::future::pending().await,
    }
}

/// Renews a lease for as long as it is polled; ends when the lease is lost.
async fn keep_lease(store: Arc<dyn Store>, lease: Lease) -> store::Error {
    loop {
        tokio::time::sleep(LEASE / 3).await;
        match store.renew(&lease, LEASE).await {
            Err(lost @ store::Error::LeaseLost { .. }) => return lost,
            Err(error) => tracing::warn!(%error, "a lease could not be renewed; trying again"),
            Ok(()) => {}
        }
    }
}
