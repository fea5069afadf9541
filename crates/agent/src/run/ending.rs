//! The ends of a run. Each closes what is open, stores the ending, gives the thread back and then
//! sends one terminal event.

use antiphon_protocol::{Event, MessagesSnapshot, Outcome, RunError, RunFinished, TokenUsage};
use serde_json::Value;

use super::Run;
use super::answers::outcome_audit;
use super::execute::Done;
use super::mapped::Settled;
use crate::error::Failure;
use crate::failpoint;
use crate::store::{Audit, Commit, InteractionStatus, RunStatus};

impl Run {
    /// The run did what it was asked.
    pub(super) async fn end_finished(&mut self) -> Result<(), Failure> {
        self.apply_middleware_changes()?;
        let mut finished = RunFinished::new(&self.record.key.thread, &self.record.run_id);
        finished.outcome = Some(Outcome::Success {
            pending_tool_call_ids: None,
        });
        finished.usage = self.usage_so_far();
        let finished = Event::from(finished);
        self.store_ending(RunStatus::Finished, &finished, Commit::default())
            .await?;
        self.restate(true);
        self.emitter.emit(finished);
        Ok(())
    }

    fn apply_middleware_changes(&mut self) -> Result<(), Failure> {
        let changes = self.emitter.take_changes();
        let rules = Self::rules(&self.agent);
        self.shared.change(changes, rules).map_err(|why| {
            tracing::error!(
                run = self.record.run_id,
                why,
                "a middleware's state change was refused"
            );
            Failure::new("state_invalid", "the shared state could not be changed")
        })
    }

    /// The run failed. Nothing of the cut turn stays in the thread, and every prediction is taken back.
    pub(super) async fn end_failed(&mut self, failure: Failure) {
        tracing::info!(
            run = self.record.run_id,
            code = failure.code,
            "the run failed: {failure}"
        );
        if let Some(mut writer) = self.writer.take() {
            writer.close();
        }
        let (settled, audit) = self.abandon("the run ended");
        let mut error = RunError::new(&failure.message);
        error.code = Some(failure.code.to_owned());
        error.usage = self.usage_so_far();
        let mut metadata = antiphon_protocol::Metadata::new();
        metadata.insert(
            "correlationId".to_owned(),
            self.record.response_id.clone().into(),
        );
        error.base.metadata = Some(metadata);
        self.end_early(RunStatus::Failed, settled, audit, error.into())
            .await;
    }

    /// The run was cancelled. What the model had said by then stays; its unfinished calls do not.
    pub(super) async fn end_cancelled(&mut self) {
        let mut cut_calls = false;
        if let Some(writer) = self.writer.take() {
            let written = writer.into_written();
            cut_calls = !written.calls.is_empty();
            written
                .spoken()
                .into_iter()
                .for_each(|message| self.conversation.push(message, None));
        }
        let (settled, audit) = self.abandon("the run was cancelled");
        let mut finished = RunFinished::new(&self.record.key.thread, &self.record.run_id);
        finished.outcome = Some(Outcome::Cancelled);
        finished.usage = self.usage_so_far();
        if cut_calls {
            self.emitter
                .emit(MessagesSnapshot::new(self.conversation.messages()));
        }
        self.end_early(RunStatus::Cancelled, settled, audit, finished.into())
            .await;
    }

    /// Settles every call that has no result yet, so that the thread stays one that a model can read.
    /// Nobody knows what became of one whose code was at work, and the record of an approved one says so.
    fn abandon(&mut self, why: &str) -> (Vec<Settled>, Vec<Audit>) {
        self.shared.forget_all();
        let (now, mut audit, mut settled) = (self.clock.now(), Vec::new(), Vec::new());
        for call in std::mem::take(&mut self.executing) {
            let approved = self.approved.iter().find(|i| i.call_id == call.id);
            audit.extend(approved.map(|i| outcome_audit(&call, i, "unknown", now)));
            let why = format!("{why} while the call was at work; nobody knows what became of it");
            settled.push(self.conclude(Done::new(call, Err(why))));
        }
        for pending in std::mem::take(&mut self.pending) {
            let why = format!("{why} before the call was made");
            settled.push(self.conclude(Done::new(pending.call, Err(why))));
        }
        (settled, audit)
    }

    async fn end_early(
        &mut self,
        status: RunStatus,
        settled: Vec<Settled>,
        audit: Vec<Audit>,
        ending: Event,
    ) {
        let mut commit = Commit {
            audit,
            ..Commit::default()
        };
        for one in &settled {
            commit.calls.push(one.call.clone());
            self.conversation.push_result(one.message.clone(), true);
        }
        for mut interaction in std::mem::take(&mut self.open) {
            interaction.status = InteractionStatus::Cancelled;
            commit.interactions.push(interaction);
        }
        match self.store_ending(status, &ending, commit).await {
            Ok(()) => settled.into_iter().for_each(|one| self.tell(one)),
            Err(failure) => {
                tracing::error!(
                    run = self.record.run_id,
                    code = failure.code,
                    "the end of a run could not be stored"
                );
                // The thread is given back where that is still possible; a lost lease is not ours to give.
                let _ = self.store.release(&self.lease).await;
            }
        }
        self.restate(true);
        self.emitter.emit(ending);
    }

    /// Stores the end of the run with everything that is not stored yet, and gives the thread back.
    pub(super) async fn store_ending(
        &mut self,
        status: RunStatus,
        ending: &Event,
        mut commit: Commit,
    ) -> Result<(), Failure> {
        self.record.status = status;
        self.record.ended_at = Some(self.clock.now());
        self.record.ending = serde_json::to_value(ending).ok();
        if let Value::Object(invocation) = &mut self.record.invocation {
            invocation.insert("last".to_owned(), self.conversation.last().into());
        }
        commit.run = Some(self.record.clone());
        commit.release = true;
        failpoint::reach("ending.before");
        self.commit(commit).await?;
        failpoint::reach("ending.stored");
        Ok(())
    }

    pub(super) fn usage_so_far(&self) -> Option<Vec<TokenUsage>> {
        (!self.usage.is_empty()).then(|| self.usage.clone())
    }
}

/// Adds what a model call cost to the sums, by provider and model.
pub(super) fn add_usage(sums: &mut Vec<TokenUsage>, usage: TokenUsage) {
    let same = |sum: &&mut TokenUsage| sum.provider == usage.provider && sum.model == usage.model;
    let Some(sum) = sums.iter_mut().find(same) else {
        return sums.push(usage);
    };
    add(&mut sum.input_tokens, usage.input_tokens);
    add(&mut sum.output_tokens, usage.output_tokens);
    add(&mut sum.total_tokens, usage.total_tokens);
    add(&mut sum.reasoning_tokens, usage.reasoning_tokens);
    add(&mut sum.cached_input_tokens, usage.cached_input_tokens);
    add(
        &mut sum.cache_write_input_tokens,
        usage.cache_write_input_tokens,
    );
}

fn add(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0).saturating_add(more));
    }
}
