//! From a request to a run: everything that may refuse it happens here, before the first event and
//! before anything executes.

use std::sync::{Arc, OnceLock};

use antiphon_protocol::{
    Event, Message, MessagesSnapshot, RunAgentInput, RunFinished, StateSnapshot, ToolMessage,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::conversation::Conversation;
use super::decision::Pending;
use super::intake::{Coverage, Intake, Plan};
use super::opening::run_started;
use super::recover::recoveries;
use super::shared::SharedState;
use super::{LEASE, PageTools, Purpose, Run};
use crate::agent::{BuiltAgent, History};
use crate::canonical;
use crate::clock::{Clock, Ids, SystemClock, UniqueIds};
use crate::context::Facts;
use crate::emitter::Emitter;
use crate::error::Refusal;
use crate::failpoint;
use crate::log::RunLog;
use crate::store::{
    self, Claim, Commit, Interaction, Lease, Opened, RunRecord, RunStatus, Store, Thread, ThreadKey,
};

/// What runs need beside their agent.
#[derive(Debug, Clone)]
pub struct Runtime {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    owner: String,
}

/// The answer to an accepted request.
#[derive(Debug)]
pub enum Accepted {
    /// A run to play.
    Run(Box<Run>),
    /// What was recorded before: snapshots and the ending. Nothing executes.
    Replay(Arc<RunLog>),
}

/// A thread with a request taken into it, and what has to be stored of that.
pub(super) struct Start {
    pub(super) purpose: Purpose,
    pub(super) conversation: Conversation,
    pub(super) shared: SharedState,
    pub(super) pending: Vec<Pending>,
    pub(super) open: Vec<Interaction>,
    /// Approvals that were given with this request.
    pub(super) approved: Vec<Interaction>,
    /// Results that were made for the thread since its last run.
    pub(super) told: Vec<ToolMessage>,
    pub(super) commit: Commit,
    /// What the page holds before the first event.
    pub(super) held_messages: Vec<Message>,
    pub(super) held_state: Value,
    /// The response that this run continues.
    pub(super) response_id: Option<String>,
    /// Whether a person declined a call.
    pub(super) declined: bool,
}

impl Runtime {
    /// A runtime on a store, with the system's clock.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        let ids = Arc::new(UniqueIds);
        let owner = ids.next("server");
        Self {
            store,
            clock: Arc::new(SystemClock),
            ids,
            owner,
        }
    }

    /// The same with another clock and other ids, for tests.
    #[must_use]
    pub fn with(mut self, clock: Arc<dyn Clock>, ids: Arc<dyn Ids>) -> Self {
        self.clock = clock;
        self.ids = ids;
        self
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    pub(super) fn owner(&self) -> String {
        self.owner.clone()
    }

    /// The clock.
    #[must_use]
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Accepts a request: checks it against the thread, stores its input, and makes it a run.
    ///
    /// Do not drop the future half-way: the thread would stay claimed until its lease lapses.
    ///
    /// # Errors
    /// A [`Refusal`]; then nothing of the request was stored and nothing of it executes.
    pub async fn accept(
        &self,
        agent: Arc<BuiltAgent>,
        user: &str,
        input: RunAgentInput,
    ) -> Result<Accepted, Refusal> {
        self.accept_with(agent, user, input, Coverage::All).await
    }

    /// Accepts a request whose answers may leave other questions of the thread open: it is for clients
    /// that answer one at a time. Otherwise as [`accept`](Self::accept).
    ///
    /// # Errors
    /// As [`accept`](Self::accept).
    pub async fn accept_some(
        &self,
        agent: Arc<BuiltAgent>,
        user: &str,
        input: RunAgentInput,
    ) -> Result<Accepted, Refusal> {
        self.accept_with(agent, user, input, Coverage::Some).await
    }

    async fn accept_with(
        &self,
        agent: Arc<BuiltAgent>,
        user: &str,
        input: RunAgentInput,
        coverage: Coverage,
    ) -> Result<Accepted, Refusal> {
        super::intake::check(&agent, &input)?;
        let key = ThreadKey::new(user, &input.thread_id);
        let claim = Claim {
            key,
            owner: self.owner.clone(),
            run_id: input.run_id.clone(),
            ttl: LEASE,
        };
        let (lease, thread, earlier) = match self.store.open(claim).await? {
            Opened::Ours(lease, thread, earlier) => (lease, thread, earlier),
            Opened::Busy { run_id } => return Err(Refusal::busy(&run_id)),
        };
        let intake = Intake {
            agent: &agent,
            clock: &*self.clock,
            ids: &*self.ids,
            store: &*self.store,
            coverage,
        };
        let earlier = earlier.map(|run| *run);
        let accepted = self
            .accept_on(&agent, intake, &lease, *thread, earlier, input)
            .await;
        if !matches!(accepted, Ok(Accepted::Run(_))) {
            self.store.release(&lease).await?;
        }
        accepted
    }

    /// What a run that has ended sent last, with the thread as it stands now; `None` when the run has
    /// no ending, or its thread is gone.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn recorded(
        &self,
        agent: Option<&BuiltAgent>,
        run: &RunRecord,
    ) -> store::Result<Option<Arc<RunLog>>> {
        if run.ending.is_none() {
            return Ok(None);
        }
        let thread = self.store.thread(&run.key).await?;
        Ok(thread.map(|thread| {
            let thread = thread.at(self.clock.now());
            let ending = ending_of(agent, &thread, run);
            replay(agent, &thread, &run.run_id, ending)
        }))
    }

    /// A thread as it stands: its snapshots, and what of it is still open as the outcome. A thread that
    /// is not there is an empty one.
    ///
    /// It only looks. Nothing is claimed or written, so it never stands in the way of a run.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn shown(
        &self,
        agent: &BuiltAgent,
        key: &ThreadKey,
        run_id: &str,
    ) -> store::Result<Arc<RunLog>> {
        let now = self.clock.now();
        let stored = self.store.thread(key).await?;
        let thread = stored.unwrap_or_else(|| Thread::new(key.clone(), now));
        let thread = thread.at(now);
        let ending = super::pause::standing(agent, &thread, run_id);
        Ok(replay(Some(agent), &thread, run_id, ending))
    }

    async fn accept_on(
        &self,
        agent: &Arc<BuiltAgent>,
        intake: Intake<'_>,
        lease: &Lease,
        thread: Thread,
        earlier: Option<RunRecord>,
        mut input: RunAgentInput,
    ) -> Result<Accepted, Refusal> {
        let input_hash = input_hash(&input);
        if let Some(ended) = earlier
            .as_ref()
            .filter(|run| repeats(run, &input, &input_hash))
        {
            let thread = thread.at(self.clock.now());
            let ending = ending_of(Some(agent), &thread, ended);
            return Ok(Accepted::Replay(replay(
                Some(agent),
                &thread,
                &input.run_id,
                ending,
            )));
        }
        let before = thread.calls.clone();
        let (thread, told) = self.expire(agent, lease, thread).await?;
        let plan = match intake.plan(thread, told, &before, &mut input).await? {
            Plan::Run(plan) => plan,
            Plan::Replay(thread) => {
                let ending = super::pause::standing(agent, &thread, &input.run_id);
                return Ok(Accepted::Replay(replay(
                    Some(agent),
                    &thread,
                    &input.run_id,
                    ending,
                )));
            }
        };
        let attempt = earlier.map_or(1, |run| run.attempt + 1);
        let record = RunRecord {
            key: lease.key.clone(),
            run_id: input.run_id.clone(),
            attempt,
            agent: agent.name.clone(),
            response_id: plan
                .response_id
                .clone()
                .unwrap_or_else(|| self.ids.next("resp")),
            status: RunStatus::Running,
            input_hash,
            invocation: json!({
                "tools": input.tools,
                "context": input.context,
                "forwardedProps": input.forwarded_props,
                "turn": plan.conversation.turn(),
            }),
            ending: None,
            started_at: self.clock.now(),
            ended_at: None,
        };
        let agent = Arc::clone(agent);
        let run = self.start(agent, lease, record, *plan, input).await?;
        Ok(Accepted::Run(Box::new(run)))
    }

    /// Stores the input and makes the run.
    pub(super) async fn start(
        &self,
        agent: Arc<BuiltAgent>,
        lease: &Lease,
        record: RunRecord,
        plan: Start,
        input: RunAgentInput,
    ) -> store::Result<Run> {
        let cancel = CancellationToken::new();
        let log = RunLog::after(&record.run_id, record.attempt, recoveries(&record));
        let log = Arc::new(log);
        log.begin_with(plan.held_messages, plan.held_state);
        let page_tools = PageTools::new(&input.tools);
        let facts = Facts {
            agent: agent.name.clone(),
            key: record.key.clone(),
            run_id: record.run_id.clone(),
            response_id: record.response_id.clone(),
            resources: agent.settings.resources.clone(),
            input: Arc::new(input),
            metadata: OnceLock::new(),
        };
        let mut run = Run {
            store: Arc::clone(&self.store),
            clock: Arc::clone(&self.clock),
            ids: Arc::clone(&self.ids),
            facts: Arc::new(facts),
            emitter: Arc::new(Emitter::new(log)),
            cancel,
            lease: lease.clone(),
            record,
            purpose: plan.purpose,
            conversation: plan.conversation,
            shared: plan.shared,
            pending: plan.pending,
            open: plan.open,
            approved: plan.approved,
            told: plan.told,
            began: Vec::new(),
            executing: Vec::new(),
            writer: None,
            page_tools,
            usage: Vec::new(),
            turns: 0,
            calls: 0,
            answered: false,
            declined: plan.declined,
            agent,
        };
        run.show_pending();
        if run.purpose == Purpose::Turn {
            let mut commit = plan.commit;
            commit.run = Some(run.record.clone());
            failpoint::reach("accept.before");
            run.commit(commit).await?;
            failpoint::reach("accept.stored");
        }
        Ok(run)
    }
}

/// Whether a request only repeats one whose run has ended.
fn repeats(run: &RunRecord, input: &RunAgentInput, input_hash: &str) -> bool {
    run.status != RunStatus::Running && input.resume.is_empty() && run.input_hash == input_hash
}

/// What tells a repeated request from a new attempt. The answers of a resume are not part of it: a
/// resume is never a repetition, and a private value leaves no trace.
fn input_hash(input: &RunAgentInput) -> String {
    canonical::hash(&json!({
        "messages": input.messages,
        "state": input.state,
        "tools": input.tools,
        "context": input.context,
        "forwardedProps": input.forwarded_props,
    }))
}

/// How a run that has ended is ended again. What it waited for counts as it stands now: only what is
/// still open may look open.
fn ending_of(agent: Option<&BuiltAgent>, thread: &Thread, run: &RunRecord) -> Vec<Event> {
    let recorded = run
        .ending
        .as_ref()
        .and_then(|ending| serde_json::from_value(ending.clone()).ok());
    match (agent, recorded) {
        (Some(agent), _) if run.status == RunStatus::Waiting => {
            super::pause::standing(agent, thread, &run.run_id)
        }
        (Some(agent), None) => super::pause::standing(agent, thread, &run.run_id),
        (_, Some(ending)) => vec![ending],
        (None, None) => vec![RunFinished::new(&run.key.thread, &run.run_id).into()],
    }
}

/// A log that shows the thread as it stands and ends as it is told.
fn replay(
    agent: Option<&BuiltAgent>,
    thread: &Thread,
    run_id: &str,
    ending: Vec<Event>,
) -> Arc<RunLog> {
    let log = RunLog::replay(run_id);
    log.push(run_started(&thread.key.thread, run_id));
    let initial = || {
        agent
            .map(|agent| agent.initial.clone())
            .unwrap_or_default()
            .into()
    };
    let state = thread.state.clone().unwrap_or_else(initial);
    let shown = match agent {
        Some(agent) => SharedState::shown(agent, state, &thread.calls),
        None => state,
    };
    log.push(StateSnapshot::new(shown).into());
    if agent.is_none_or(|agent| agent.settings.history != History::Client) {
        let messages: Vec<Message> = thread
            .messages
            .iter()
            .map(|stored| stored.message.clone())
            .collect();
        log.push(MessagesSnapshot::new(messages).into());
    }
    ending.into_iter().for_each(|event| log.push(event));
    Arc::new(log)
}
