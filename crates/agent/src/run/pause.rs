//! What a run says when it stops for someone outside.

use antiphon_protocol::{Custom, Event, MessagesSnapshot, Outcome, RunFinished, StateSnapshot};
use serde_json::json;

use super::{Run, question};
use crate::agent::BuiltAgent;
use crate::error::Failure;
use crate::store::{Commit, Interaction, InteractionKind, RunStatus, Thread};

/// The end of a run whose thread waits.
pub(super) struct Waits {
    customs: Vec<Custom>,
    finished: RunFinished,
    /// Whether the page needs the whole thread to show the question.
    snapshots: bool,
}

/// Whose thread waits, and for what.
pub(super) struct Standing<'a> {
    pub(super) agent: &'a BuiltAgent,
    pub(super) thread_id: &'a str,
    pub(super) run_id: &'a str,
    pub(super) response_id: Option<&'a str>,
    pub(super) open: &'a [Interaction],
    /// Unsettled calls that the stream in question began.
    pub(super) began: Vec<String>,
}

impl Standing<'_> {
    /// How the open interactions are told to the page.
    ///
    /// Where anybody has to answer through `resume`, all open interactions that the page can answer
    /// are interrupts. Where only tools of the page are open, the run is a success with calls that
    /// are pending, so that standard clients run them by themselves.
    pub(super) fn waits(&self) -> Waits {
        let namespace = self.agent.settings.namespace.as_str();
        let open = self.open;
        let (external, of_page): (Vec<&Interaction>, Vec<&Interaction>) = open
            .iter()
            .partition(|i| i.kind == InteractionKind::ExternalWait);
        let mut customs: Vec<Custom> = external
            .iter()
            .map(|i| question::external_wait(i, namespace))
            .collect();
        let mut finished = RunFinished::new(self.thread_id, self.run_id);
        if of_page
            .iter()
            .any(|i| i.kind != InteractionKind::ClientTool)
        {
            let interrupts = of_page
                .iter()
                .map(|i| question::interrupt(i, namespace))
                .collect();
            finished.outcome = Some(Outcome::Interrupt { interrupts });
            return Waits {
                customs,
                finished,
                snapshots: true,
            };
        }
        // What the page itself offered needs no further announcement.
        let declared = of_page
            .iter()
            .filter(|i| self.agent.tools.get(question::tool_name(i)).is_some());
        let announced = customs.len();
        customs.extend(declared.map(|i| question::client_tool(i, namespace)));
        let snapshots = customs.len() > announced;
        if of_page.is_empty() && !external.is_empty() {
            let response = self
                .response_id
                .or(external.first().map(|i| i.response_id.as_str()));
            finished.result = Some(json!({ "status": "in_progress", "responseId": response }));
        }
        finished.outcome = Some(Outcome::Success {
            pending_tool_call_ids: self.pending_ids(&external),
        });
        Waits {
            customs,
            finished,
            snapshots,
        }
    }

    /// The calls of this stream that the page has to answer, where these are all that are unanswered.
    fn pending_ids(&self, external: &[&Interaction]) -> Option<Vec<String>> {
        if self.began.is_empty() || external.iter().any(|i| self.began.contains(&i.call_id)) {
            return None;
        }
        Some(self.began.clone())
    }
}

impl Run {
    fn standing(&self) -> Standing<'_> {
        let began = self
            .pending
            .iter()
            .map(|p| &p.call.id)
            .filter(|id| self.began.contains(id))
            .cloned()
            .collect();
        Standing {
            agent: &self.agent,
            thread_id: &self.record.key.thread,
            run_id: &self.record.run_id,
            response_id: Some(&self.record.response_id),
            open: &self.open,
            began,
        }
    }

    /// Stores that the thread waits, then tells the page what for.
    pub(super) async fn end_waiting(&mut self) -> Result<(), Failure> {
        let Waits {
            customs,
            mut finished,
            snapshots,
        } = self.standing().waits();
        finished.usage = self.usage_so_far();
        self.store_ending(
            RunStatus::Waiting,
            &finished.clone().into(),
            Commit::default(),
        )
        .await?;
        if snapshots {
            self.emitter.emit(StateSnapshot::new(self.shared.view()));
            self.emitter
                .emit(MessagesSnapshot::new(self.conversation.messages()));
        }
        customs
            .into_iter()
            .for_each(|custom| self.emitter.emit(custom));
        self.emitter.emit(finished);
        Ok(())
    }

    /// Ends a run that only opened the thread: what is still open is its outcome.
    pub(super) async fn end_opened(&mut self) -> Result<(), Failure> {
        self.store.release(&self.lease).await?;
        // The response is that of the run that waits, not of this one, which is recorded nowhere.
        let standing = Standing {
            response_id: None,
            ..self.standing()
        };
        let Waits {
            customs, finished, ..
        } = standing.waits();
        customs
            .into_iter()
            .for_each(|custom| self.emitter.emit(custom));
        self.emitter.emit(finished);
        Ok(())
    }
}

/// The end of a stream that only shows where a thread stands: what it waits for, and RUN_FINISHED.
pub(super) fn standing(agent: &BuiltAgent, thread: &Thread, run_id: &str) -> Vec<Event> {
    let standing = Standing {
        agent,
        thread_id: &thread.key.thread,
        run_id,
        response_id: None,
        open: &thread.interactions,
        began: Vec::new(),
    };
    let Waits {
        customs, finished, ..
    } = standing.waits();
    customs
        .into_iter()
        .map(Event::from)
        .chain([finished.into()])
        .collect()
}
