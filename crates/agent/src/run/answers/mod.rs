//! Answers to open interactions: checked whole, before anything is delivered.

mod meaning;
mod payload;
mod record;
mod results;

use antiphon_protocol::{ResumeEntry, ResumeStatus};
use jiff::Timestamp;

use super::decision::Decision;
use super::intake::pending_refusal;
use crate::agent::BuiltAgent;
use crate::clock::Ids;
use crate::error::Refusal;
use crate::store::{Answer, Audit, Interaction, InteractionKind, InteractionStatus, Store, Thread};

pub(super) use record::{audit, outcome_audit};

/// What the answers are checked against.
pub(super) struct Context<'a> {
    pub(super) agent: &'a BuiltAgent,
    pub(super) store: &'a dyn Store,
    pub(super) ids: &'a dyn Ids,
    pub(super) thread: &'a Thread,
    pub(super) now: Timestamp,
}

/// The answers of a request.
#[derive(Default)]
pub(super) struct Taken {
    pub(super) answered: Vec<Answered>,
    /// Whether an answer repeats one that was taken before.
    pub(super) repeats: bool,
}

/// One answer that was taken.
pub(super) struct Answered {
    /// The interaction, settled.
    pub(super) interaction: Interaction,
    pub(super) decision: Decision,
    pub(super) audit: Audit,
    /// Whether the result is part of the client's own history already.
    pub(super) in_history: bool,
}

impl Context<'_> {
    /// Checks the entries of a resume. `bare` says that the request has neither messages nor state.
    pub(super) async fn resume(
        &self,
        entries: &[ResumeEntry],
        bare: bool,
    ) -> Result<Taken, Refusal> {
        let mut taken = Taken::default();
        for (index, entry) in entries.iter().enumerate() {
            let field = format!("resume[{index}]");
            if entries
                .iter()
                .take(index)
                .any(|other| other.interrupt_id == entry.interrupt_id)
            {
                let field = format!("{field}.interruptId");
                return Err(Refusal::invalid(
                    "invalid_resume",
                    field,
                    "an interaction is answered twice",
                ));
            }
            payload::check_cancelled(entry, &field)?;
            let open = self
                .thread
                .interactions
                .iter()
                .find(|i| i.id == entry.interrupt_id);
            match open.filter(|i| self.may_answer(i)) {
                Some(interaction) => {
                    taken
                        .answered
                        .push(self.check(interaction, entry, &field, bare)?);
                }
                None => {
                    self.check_repeat(entry).await?;
                    taken.repeats = true;
                }
            }
        }
        Ok(taken)
    }

    /// Whether a client may answer an interaction: it is not another system's to answer, and the agent
    /// is the one that asked.
    fn may_answer(&self, interaction: &Interaction) -> bool {
        let asker = interaction.request["agent"].as_str();
        interaction.kind != InteractionKind::ExternalWait && asker == Some(&self.agent.name)
    }

    /// An entry for something that is not open: either it says again what was said, or it is refused.
    async fn check_repeat(&self, entry: &ResumeEntry) -> Result<(), Refusal> {
        let found = self.store.interaction(&entry.interrupt_id).await?;
        let settled =
            found.filter(|i| i.key == self.thread.key && i.status != InteractionStatus::Open);
        let Some(settled) = settled else {
            return Err(self.unknown());
        };
        if settled.status == InteractionStatus::Expired {
            return Err(expired(&settled.id));
        }
        let same = settled
            .answer
            .as_ref()
            .is_some_and(|answer| Some(&answer.hash) == self.meaning(&settled, entry).as_ref());
        if same && self.agent.settings.replay_answers {
            return Ok(());
        }
        Err(already_settled(&settled.id))
    }

    fn unknown(&self) -> Refusal {
        match self.thread.interactions.is_empty() {
            true => Refusal::conflict(
                "interaction_unknown",
                "the thread does not wait for this answer",
            ),
            false => pending_refusal(self.agent, &self.thread.interactions),
        }
    }

    fn check(
        &self,
        interaction: &Interaction,
        entry: &ResumeEntry,
        field: &str,
        bare: bool,
    ) -> Result<Answered, Refusal> {
        if interaction.kind == InteractionKind::PrivateInput && !bare {
            let message = "an answer with private input comes alone: messages and state must be absent or empty";
            return Err(Refusal::invalid(
                "private_input_not_alone",
                "messages",
                message,
            ));
        }
        let decision = match entry.status {
            ResumeStatus::Cancelled => Decision::Cancelled,
            ResumeStatus::Resolved => {
                self.decision(interaction, entry, &format!("{field}.payload"))?
            }
        };
        Ok(self.answered(interaction, decision, Some(entry)))
    }

    fn answered(
        &self,
        interaction: &Interaction,
        decision: Decision,
        entry: Option<&ResumeEntry>,
    ) -> Answered {
        let by = self.thread.key.user.clone();
        let entry = entry
            .filter(|_| interaction.kind != InteractionKind::PrivateInput)
            .cloned();
        let status = match decision {
            Decision::Cancelled => InteractionStatus::Cancelled,
            _ => InteractionStatus::Answered,
        };
        let audit = audit(interaction, &decision, &by, self.now);
        let answer = Answer {
            hash: meaning::hash(interaction, &decision),
            entry,
            at: self.now,
            by,
        };
        let interaction = Interaction {
            status,
            answer: Some(answer),
            ..interaction.clone()
        };
        Answered {
            interaction,
            decision,
            audit,
            in_history: false,
        }
    }
}

fn expired(id: &str) -> Refusal {
    Refusal::conflict("interaction_expired", format!("{id:?} has expired"))
}

pub(super) fn already_settled(id: &str) -> Refusal {
    Refusal::conflict("interaction_settled", format!("{id:?} was answered before"))
}
