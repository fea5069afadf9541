//! Tool calls: proposed by the model, decided, run or asked about, and settled.

use std::sync::Arc;

use antiphon_protocol::{Content, ToolCallResult, ToolMessage};
use futures_util::StreamExt;
use futures_util::stream;
use serde_json::{Map, Value};

use super::Run;
use super::answers::outcome_audit;
use super::decision::{Pending, Step};
use super::execute::{Came, Done, Job, Work};
use super::mapped::{self, Settled};
use super::question::Asker;
use super::turn::WrittenCall;
use crate::agent::OnDecline;
use crate::ask::{Asks, Code, Records};
use crate::error::Failure;
use crate::failpoint;
use crate::store::{
    Call, CallPhase, Commit, Interaction, InteractionKind, InteractionStatus, Journal,
};
use crate::tool::ToolOutput;

impl Run {
    /// Takes a call of the model into the run. Its prediction shows until it is settled.
    pub(super) fn propose(&mut self, written: WrittenCall, index: usize, complete: bool) {
        self.calls += 1;
        let millis = self.clock.now().as_millisecond();
        let call = Call {
            id: written.id,
            run_id: self.record.run_id.clone(),
            place: (millis << 10) + i64::try_from(index).unwrap_or(i64::MAX >> 20),
            message_id: written.message_id,
            tool: written.tool,
            arguments: written.arguments,
            phase: CallPhase::Proposed,
            journal: Journal::default(),
        };
        self.began.push(call.id.clone());
        let mut pending = Pending::new(call);
        if !complete {
            pending.refused =
                Some("the model's answer was cut off, so the call was not made".to_owned());
        } else if self.calls > self.agent.settings.limits.calls {
            pending.refused = Some("the run made too many tool calls".to_owned());
        } else {
            self.show(&pending.call);
        }
        self.pending.push(pending);
    }

    /// Shows what the unsettled calls of earlier runs would make of the state.
    pub(super) fn show_pending(&mut self) {
        let calls: Vec<Call> = self
            .pending
            .iter()
            .map(|pending| pending.call.clone())
            .collect();
        for call in calls {
            let (keys, _) = self.overlay(&call);
            self.shared.predict(&call.id, keys);
        }
    }

    /// Shows what a call would make of the state, until it is settled.
    fn show(&mut self, call: &Call) {
        let (keys, events) = self.overlay(call);
        self.shared.predict(&call.id, keys);
        events
            .into_iter()
            .for_each(|event| self.emitter.emit(event));
    }

    /// Decides every call that is not settled, runs what may run, and settles what has a result.
    /// Afterwards only calls are left that wait for someone.
    pub(super) async fn settle_calls(&mut self) -> Result<(), Failure> {
        while self
            .pending
            .iter()
            .any(|pending| !pending.asked || pending.decision.is_some())
        {
            let (settled, jobs, running, commit) = self.decide();
            let settled: Vec<Settled> = settled
                .into_iter()
                .map(|done| self.conclude(done))
                .collect();
            self.store_and_tell(settled, commit).await?;
            self.run_jobs(jobs, running).await?;
        }
        if std::mem::take(&mut self.declined) && self.agent.settings.on_decline == OnDecline::Stop {
            return Err(Failure::new(
                "approval_declined",
                "a person declined the call",
            ));
        }
        Ok(())
    }

    /// The next step of every call. What is about to run counts as executing from the commit on
    /// that goes with it.
    fn decide(&mut self) -> (Vec<Done>, Vec<Job>, Vec<Call>, Commit) {
        let (mut settled, mut jobs, mut running) = (Vec::new(), Vec::new(), Vec::new());
        let mut commit = Commit::default();
        let base = Arc::new(self.shared.committed().clone());
        for mut pending in std::mem::take(&mut self.pending) {
            let step = pending.step(&self.agent, &self.page_tools.names);
            match step {
                Step::Settle(result) => {
                    let result = result.map(|text| ToolOutput::new(text.into()));
                    settled.push(Done::new(pending.call, result));
                    continue;
                }
                Step::Take {
                    message,
                    failed,
                    from_page,
                    held,
                } => {
                    let done = Done::delivered(pending.call, message, failed);
                    settled.push(Done {
                        from_page,
                        held,
                        ..done
                    });
                    continue;
                }
                Step::Execute { arguments } => {
                    jobs.push(self.job(&mut pending.call, Work::Execute(arguments), &base));
                }
                Step::Deliver { value } => {
                    jobs.push(self.job(&mut pending.call, Work::Deliver(value), &base));
                }
                Step::Begin { arguments } => {
                    // The wait is open before the work begins: its result may be faster than we are.
                    let kind = InteractionKind::ExternalWait;
                    if self.wait_of(&pending.call.id).is_none() {
                        let interaction = self.open_wait(&pending.call, kind, &arguments);
                        commit.interactions.push(interaction);
                    }
                    jobs.push(self.job(&mut pending.call, Work::Begin(arguments), &base));
                }
                Step::Ask { kind, arguments } => {
                    let interaction = self.open_wait(&pending.call, kind, &arguments);
                    commit.interactions.push(interaction);
                    pending.asked = true;
                }
                Step::Wait => {}
            }
            commit.calls.push(pending.call.clone());
            match pending.call.phase {
                CallPhase::Executing => running.push(pending.call),
                _ => self.pending.push(pending),
            }
        }
        (settled, jobs, running, commit)
    }

    pub(super) fn asker(&self) -> Asker<'_> {
        Asker {
            agent: &self.agent,
            key: &self.record.key,
            run_id: &self.record.run_id,
            response_id: &self.record.response_id,
            now: self.clock.now(),
        }
    }

    /// Opens an interaction for a call; it has to be stored by the caller.
    fn open_wait(
        &mut self,
        call: &Call,
        kind: InteractionKind,
        arguments: &Map<String, Value>,
    ) -> Interaction {
        let id = self.ids.next(prefix(kind));
        let interaction = self.asker().ask(id, kind, call, arguments);
        self.open.push(interaction.clone());
        interaction
    }

    /// The open wait for another system that a call has.
    fn wait_of(&self, call_id: &str) -> Option<&Interaction> {
        let of_call =
            |i: &&Interaction| i.call_id == call_id && i.kind == InteractionKind::ExternalWait;
        self.open.iter().find(of_call)
    }

    fn job(&self, call: &mut Call, work: Work, base: &Arc<Value>) -> Job {
        call.phase = CallPhase::Executing;
        let records = Records {
            store: Arc::clone(&self.store),
            lease: self.lease.clone(),
        };
        let code = Code::new(call.clone(), Some(records));
        let wait_id = self.wait_of(&call.id).map(|wait| wait.id.clone());
        let scope = self
            .scope(Some(code), call.id.clone(), Arc::clone(base))
            .waiting(wait_id);
        Job {
            call: call.clone(),
            work,
            scope,
            agent: Arc::clone(&self.agent),
        }
    }

    /// Runs jobs side by side and settles each as it ends.
    async fn run_jobs(&mut self, jobs: Vec<Job>, calls: Vec<Call>) -> Result<(), Failure> {
        self.executing = calls;
        let width = self.agent.settings.limits.parallel_calls.max(1);
        let mut running = stream::iter(jobs.into_iter().map(Job::run)).buffer_unordered(width);
        while let Some(mut done) = running.next().await {
            let mut commit = Commit::default();
            match std::mem::replace(&mut done.came, Came::Began) {
                Came::Began => self.wait_for(done.call, commit).await?,
                Came::Asks(asks) => {
                    let interaction = self.question(&done.call, &asks);
                    commit.interactions.push(interaction);
                    self.wait_for(done.call, commit).await?;
                }
                Came::Result(result) => {
                    done.came = Came::Result(result);
                    let settled = self.conclude(done);
                    self.store_and_tell(vec![settled], commit).await?;
                }
            }
        }
        Ok(())
    }

    /// Opens the question that a call's code stopped at.
    fn question(&mut self, call: &Call, asks: &Asks) -> Interaction {
        let interaction = self.asker().question(self.ids.next("question"), call, asks);
        self.open.push(interaction.clone());
        interaction
    }

    /// From here on somebody else has the word.
    async fn wait_for(&mut self, mut call: Call, mut commit: Commit) -> Result<(), Failure> {
        call.phase = CallPhase::Proposed;
        commit.calls.push(call.clone());
        self.commit(commit).await?;
        self.executing.retain(|executing| executing.id != call.id);
        self.pending.push(Pending {
            asked: true,
            ..Pending::new(call)
        });
        Ok(())
    }

    /// Closes what is still open for a call that has its result.
    fn close_waits(&mut self, call_id: &str) -> Vec<Interaction> {
        let closed = self.open.extract_if(.., |i| i.call_id == call_id);
        closed
            .map(|interaction| Interaction {
                status: InteractionStatus::Cancelled,
                ..interaction
            })
            .collect()
    }

    /// Stores results with the state they make, then sends them.
    async fn store_and_tell(
        &mut self,
        settled: Vec<Settled>,
        mut commit: Commit,
    ) -> Result<(), Failure> {
        for one in &settled {
            commit.calls.push(one.call.clone());
            commit.interactions.extend(self.close_waits(&one.call.id));
            let approved = self.approved.iter().find(|i| i.call_id == one.call.id);
            let now = self.clock.now();
            let outcome = if one.failed { "failed" } else { "done" };
            let audit = approved.map(|i| outcome_audit(&one.call, i, outcome, now));
            commit.audit.extend(audit);
            match &one.unusable {
                Some(why) => self.conversation.push_unusable(one.message.clone(), why),
                None => self
                    .conversation
                    .push_result(one.message.clone(), one.failed),
            }
        }
        failpoint::reach("call.before");
        self.commit(commit).await?;
        failpoint::reach("call.stored");
        for one in settled {
            self.executing
                .retain(|executing| executing.id != one.call.id);
            self.tell(one);
        }
        Ok(())
    }

    pub(super) fn tell(&self, settled: Settled) {
        if !settled.held {
            let ToolMessage {
                id,
                tool_call_id,
                content,
                ..
            } = settled.message;
            self.emitter
                .emit(ToolCallResult::new(id, tool_call_id, content));
        }
        for event in settled.events {
            self.tell_mapped(event);
        }
        self.restate(settled.predicted);
    }

    /// A call's result with all that follows from it for the state.
    pub(super) fn conclude(&mut self, done: Done) -> Settled {
        self.shared.forget(&done.call.id);
        let predicted = self.agent.settings.mappings.predicts(&done.call.tool);
        let mut call = done.call;
        let result = match done.came {
            Came::Result(result) => result,
            Came::Began | Came::Asks(_) => Err("it never came to a result".to_owned()),
        };
        let came_well = result.is_ok();
        let applied = result.and_then(|output| {
            let events = self.apply(&call, &output, done.changes, done.from_page)?;
            Ok((
                mapped::content(&output, self.agent.settings.limits.result_bytes),
                events,
            ))
        });
        let failed = applied.is_err();
        let (content, events) =
            applied.unwrap_or_else(|why| (failed_content(&call.tool, &why), Vec::new()));
        call.phase = CallPhase::Settled;
        let (message, unusable) = match done.message {
            // Its own words stay, also where the state could not take them: who sent it holds them.
            Some(message) => {
                let unusable = failed && came_well;
                (message, unusable.then(|| content.text().into_owned()))
            }
            None => {
                let message = ToolMessage::new(self.ids.next("res"), &call.id, content);
                (message, None)
            }
        };
        Settled {
            call,
            message,
            failed,
            unusable,
            events,
            predicted,
            held: done.held,
        }
    }
}

/// How a failed call reads for the model and the page.
pub(super) fn failed_content(tool: &str, why: &str) -> Content {
    Content::Text(format!("Error: tool {tool:?}: {why}"))
}

fn prefix(kind: InteractionKind) -> &'static str {
    match kind {
        InteractionKind::Approval => "approval",
        InteractionKind::Question => "question",
        InteractionKind::ClientTool | InteractionKind::PrivateInput => "client_tool",
        InteractionKind::ExternalWait => "wait",
        InteractionKind::OutcomeUnknown => "outcome",
    }
}
