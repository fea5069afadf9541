//! What a crash left behind: runs that are recorded as running and that nobody plays.

use std::collections::HashMap;
use std::sync::Arc;

use antiphon_protocol::{Content, Event, RunAgentInput, RunError, RunFinished, ToolMessage};
use serde_json::{Value, json};

use super::accept::{Runtime, Start};
use super::answers;
use super::calls::failed_content;
use super::conversation::Conversation;
use super::decision::{Decision, Pending};
use super::question::Asker;
use super::shared::SharedState;
use super::{LEASE, Purpose, Run};
use crate::agent::{BuiltAgent, History};
use crate::error::Refusal;
use crate::store::{
    self, Call, CallPhase, Claim, Commit, Interaction, InteractionKind, InteractionStatus, Lease,
    Opened, RunRecord, RunStatus, Thread,
};
use crate::tool::Execution;

/// Why a call that a crash kept from running has failed.
const STOPPED: &str = "the server stopped before the call was done; do not assume that it ran";

/// How often a run goes on after a crash: one that brings the server down must not do so for ever.
const MOST_RECOVERIES: u64 = 3;

/// Why private input has failed whose delivery a crash cut: it is never repeated.
const CUT_DELIVERY: &str =
    "the delivery was cut off; ask for the input again if it is still needed";

/// What became of a run that a crash had cut.
#[derive(Debug)]
pub enum Recovered {
    /// It ended; its thread is free, or waits for a person's word on a call.
    Ended,
    /// It goes on, with calls that may run again. It has to be played.
    Continues(Box<Run>),
}

impl Runtime {
    /// Decides every run that a crash cut. Call it once, before requests are taken.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn recover(
        &self,
        agents: &HashMap<String, Arc<BuiltAgent>>,
    ) -> store::Result<Vec<Box<Run>>> {
        let mut continued = Vec::new();
        for record in self.store.orphans().await? {
            let claim = Claim {
                key: record.key.clone(),
                owner: self.owner(),
                run_id: record.run_id.clone(),
                ttl: LEASE,
            };
            let Opened::Ours(lease, thread, _) = self.store.open(claim).await? else {
                continue;
            };
            tracing::warn!(run = record.run_id, "a run that a crash cut is recovered");
            match self
                .recover_one(agents.get(&record.agent), lease, *thread, record)
                .await?
            {
                Recovered::Ended => {}
                Recovered::Continues(run) => continued.push(run),
            }
        }
        Ok(continued)
    }

    async fn recover_one(
        &self,
        agent: Option<&Arc<BuiltAgent>>,
        lease: Lease,
        thread: Thread,
        record: RunRecord,
    ) -> store::Result<Recovered> {
        let goes_on = |agent: &Arc<BuiltAgent>| {
            let mut calls = thread.calls.iter();
            // Nobody sends again what another system delivered.
            record.invocation.get("delivered").is_some()
                || calls.any(|call| goes_on(agent, call, &thread.interactions))
        };
        if let Some(agent) = agent
            && recoveries(&record) < MOST_RECOVERIES
            && goes_on(agent)
        {
            return self
                .continue_run(Arc::clone(agent), &lease, thread, record)
                .await;
        }
        let commit = self.end_cut(agent, &thread, record);
        self.store.commit(&lease, commit).await?;
        Ok(Recovered::Ended)
    }

    /// Goes on where the crash cut: answers that were taken are acted on, and calls that may be made
    /// again are, under the keys that they had before.
    async fn continue_run(
        &self,
        agent: Arc<BuiltAgent>,
        lease: &Lease,
        thread: Thread,
        mut record: RunRecord,
    ) -> store::Result<Recovered> {
        let count = recoveries(&record) + 1;
        note(&mut record, "recoveries", json!(count));
        let input = input_of(&record);
        let initial = || agent.initial.clone().into();
        let state = thread.state.unwrap_or_else(initial);
        let (mut commit, mut open) = (Commit::default(), thread.interactions);
        let mut pending = Vec::with_capacity(thread.calls.len());
        for call in thread.calls {
            let asked = open.iter().any(|i| i.call_id == call.id);
            let cut = call.phase == CallPhase::Executing;
            let mut one = Pending::new(Call {
                phase: CallPhase::Proposed,
                ..call
            });
            one.asked = asked;
            let begins_anew =
                !cut && !asked && one.decision.is_none() && is_private(&agent, &one.call);
            if (cut && may_repeat(&agent, &one.call)) || begins_anew {
                one.decision = Some(Decision::Approved { edited: None });
            } else if cut && is_private(&agent, &one.call) {
                one.refused = Some(CUT_DELIVERY.to_owned());
            } else if cut {
                let question = self.outcome_unknown(&agent, &record, &one.call);
                commit.interactions.push(question.clone());
                commit.calls.push(one.call.clone());
                open.push(question);
                one.asked = true;
            } else if !asked && one.decision.is_none() {
                one.refused = Some(STOPPED.to_owned());
            }
            pending.push(one);
        }
        let conversation = Conversation::new(thread.messages);
        let start = Start {
            purpose: Purpose::Turn,
            held_messages: conversation.messages(),
            held_state: state.clone(),
            shared: SharedState::new(state),
            pending,
            open,
            approved: Vec::new(),
            told: Vec::new(),
            commit,
            response_id: Some(record.response_id.clone()),
            declined: false,
            conversation,
        };
        let run = self.start(agent, lease, record, start, input).await?;
        Ok(Recovered::Continues(Box::new(run)))
    }

    /// The question what became of a call that a crash cut in the middle.
    fn outcome_unknown(&self, agent: &BuiltAgent, record: &RunRecord, call: &Call) -> Interaction {
        let asker = Asker {
            agent,
            key: &record.key,
            run_id: &record.run_id,
            response_id: &record.response_id,
            now: self.clock.now(),
        };
        let arguments = agent
            .tools
            .arguments(&call.tool, &call.arguments)
            .unwrap_or_default();
        asker.ask(
            self.ids.next("outcome"),
            InteractionKind::OutcomeUnknown,
            call,
            &arguments,
        )
    }

    /// Ends a run that can't go on. A call whose outcome nobody knows becomes a question.
    fn end_cut(
        &self,
        agent: Option<&Arc<BuiltAgent>>,
        thread: &Thread,
        mut record: RunRecord,
    ) -> Commit {
        let mut commit = Commit {
            release: true,
            ..Commit::default()
        };
        let is_client = agent.is_some_and(|agent| agent.settings.history == History::Client);
        let mut conversation = Conversation::new(thread.messages.clone());
        for call in &thread.calls {
            let asked = thread.interactions.iter().any(|i| i.call_id == call.id);
            match (call.phase, agent) {
                (CallPhase::Executing, Some(agent)) => {
                    commit
                        .interactions
                        .push(self.outcome_unknown(agent, &record, call));
                    commit.calls.push(Call {
                        phase: CallPhase::Proposed,
                        ..call.clone()
                    });
                }
                (CallPhase::Proposed, Some(_)) if asked => {}
                _ => {
                    let content = failed_content(&call.tool, STOPPED);
                    conversation.push_result(
                        ToolMessage::new(self.ids.next("res"), &call.id, content),
                        true,
                    );
                    commit.calls.push(Call {
                        phase: CallPhase::Settled,
                        ..call.clone()
                    });
                }
            }
        }
        let waits = !commit.interactions.is_empty() || !thread.interactions.is_empty();
        if !is_client {
            commit.messages = conversation.fresh();
        }
        record.status = if waits {
            RunStatus::Waiting
        } else {
            RunStatus::Failed
        };
        record.ended_at = Some(self.clock.now());
        record.ending = serde_json::to_value(cut_ending(&record, waits)).ok();
        commit.run = Some(record);
        commit
    }

    /// Settles what nobody answered in time: the calls have failed, and the thread is free of them.
    pub(super) async fn expire(
        &self,
        agent: &BuiltAgent,
        lease: &Lease,
        mut thread: Thread,
    ) -> Result<(Thread, Vec<ToolMessage>), Refusal> {
        let now = self.clock.now();
        let (expired, open): (Vec<_>, Vec<_>) = thread
            .interactions
            .into_iter()
            .partition(|i| i.has_expired(now));
        thread.interactions = open;
        if expired.is_empty() {
            return Ok((thread, Vec::new()));
        }
        let mut conversation = Conversation::new(std::mem::take(&mut thread.messages));
        let mut commit = Commit::default();
        let mut told = Vec::new();
        for mut interaction in expired {
            commit
                .audit
                .push(answers::audit(&interaction, &Decision::Expired, "", now));
            interaction.status = InteractionStatus::Expired;
            if let Some(index) = thread
                .calls
                .iter()
                .position(|call| call.id == interaction.call_id)
            {
                let call = thread.calls.remove(index);
                let content: Content = failed_content(&call.tool, "nobody answered in time");
                let message = ToolMessage::new(self.ids.next("res"), &call.id, content);
                conversation.push_result(message.clone(), true);
                told.push(message);
                commit.calls.push(Call {
                    phase: CallPhase::Settled,
                    ..call
                });
            }
            commit.interactions.push(interaction);
        }
        if agent.settings.history != History::Client {
            commit.messages = conversation.fresh();
        }
        self.store.commit(lease, commit).await?;
        thread.messages = conversation.into_stored();
        Ok((thread, told))
    }
}

/// Notes something beside the input that a run began with.
pub(super) fn note(record: &mut RunRecord, name: &str, value: Value) {
    if let Some(notes) = record.invocation.as_object_mut() {
        notes.insert(name.to_owned(), value);
    }
}

/// How often a run went on after a crash.
pub(super) fn recoveries(record: &RunRecord) -> u64 {
    let noted = record.invocation.get("recoveries");
    noted.and_then(Value::as_u64).unwrap_or(0)
}

/// Whether a call has something to do without anybody's word: an answer that it has not acted on, work
/// that may be done again, or private input to begin anew.
fn goes_on(agent: &BuiltAgent, call: &Call, open: &[Interaction]) -> bool {
    match call.phase {
        CallPhase::Executing => may_repeat(agent, call) || is_private(agent, call),
        CallPhase::Proposed | CallPhase::Settled => {
            let asked = open.iter().any(|i| i.call_id == call.id);
            call.journal.decided.is_some() || (!asked && is_private(agent, call))
        }
    }
}

fn may_repeat(agent: &BuiltAgent, call: &Call) -> bool {
    agent
        .tools
        .get(&call.tool)
        .is_some_and(|tool| tool.idempotent)
}

fn is_private(agent: &BuiltAgent, call: &Call) -> bool {
    let execution = agent.tools.get(&call.tool).map(|tool| &tool.execution);
    matches!(execution, Some(Execution::PrivateInput { .. }))
}

/// The input of a run that goes on by itself: what was stored of the one that began it.
pub(super) fn input_of(record: &RunRecord) -> RunAgentInput {
    let member = |name: &str| record.invocation.get(name).cloned().unwrap_or_default();
    let mut input = RunAgentInput::new(&record.key.thread, &record.run_id, Vec::new());
    input.tools = serde_json::from_value(member("tools")).unwrap_or_default();
    input.context = serde_json::from_value(member("context")).unwrap_or_default();
    input.forwarded_props = Some(member("forwardedProps")).filter(|props| !props.is_null());
    input
}

fn cut_ending(record: &RunRecord, waits: bool) -> Event {
    if waits {
        return RunFinished::new(&record.key.thread, &record.run_id).into();
    }
    let mut error = RunError::new("the server stopped while the run was at work");
    error.code = Some("interrupted".to_owned());
    let metadata = json!({ "correlationId": record.response_id });
    error.base.metadata = metadata.as_object().cloned();
    error.into()
}
