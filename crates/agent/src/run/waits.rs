//! Results that other systems deliver.

use antiphon_protocol::{Content, ToolMessage};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use std::sync::Arc;

use super::accept::{Runtime, Start};
use super::answers;
use super::conversation::Conversation;
use super::decision::{Decision, Pending};
use super::recover::{input_of, note};
use super::shared::SharedState;
use super::{LEASE, Purpose, Run};
use crate::agent::BuiltAgent;
use crate::canonical;
use crate::error::{Refusal, RefusalKind};
use crate::store::{
    self, Answer, Claim, Commit, Early, Interaction, InteractionKind, InteractionStatus, Opened,
    RunRecord, RunStatus, Thread,
};

/// What another system reports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// The work is done; this is its result.
    Complete(Value),
    /// The work failed.
    Fail {
        /// A stable code of that system.
        code: String,
        /// A sentence for the model and the person.
        message: String,
    },
}

/// What became of a delivery.
#[derive(Debug)]
pub enum Delivered {
    /// The thread goes on; the run has to be played.
    Continues(Box<Run>),
    /// The same was delivered before; nothing happens.
    Again,
    /// The thread is being written, by the run that began the work perhaps: the result is kept, and
    /// is to be [taken](Runtime::deliver_kept) when the thread is free.
    Kept,
}

impl Runtime {
    /// Takes the result of an external wait, as a service named `by`, and makes the run that goes on
    /// with it, under the run id and the response id of the run that waits.
    ///
    /// # Errors
    /// A [`Refusal`]: `interaction_unknown` (not found), `interaction_settled` (another result was
    /// taken), `interaction_expired`.
    pub async fn deliver(
        &self,
        agent: impl Fn(&str) -> Option<Arc<BuiltAgent>>,
        id: &str,
        delivery: Delivery,
        by: &str,
    ) -> Result<Delivered, Refusal> {
        let wait = self.wait(id).await?;
        if let Some(settled) = repeated(&wait, &delivery)? {
            return Ok(settled);
        }
        match self.take(agent, &wait, &delivery, by).await? {
            Some(run) => Ok(Delivered::Continues(run)),
            None if wait.early.is_some() => Ok(Delivered::Again),
            None => self.keep(&wait, delivery, by).await,
        }
    }

    /// Takes a result that was [kept](Delivered::Kept), now that its thread may be free.
    ///
    /// # Errors
    /// As [`deliver`](Self::deliver): the wait is over without it.
    pub async fn deliver_kept(
        &self,
        agent: impl Fn(&str) -> Option<Arc<BuiltAgent>>,
        id: &str,
    ) -> Result<Delivered, Refusal> {
        let wait = self.wait(id).await?;
        let Early { delivery, by } = wait.early.clone().ok_or_else(unknown)?;
        if let Some(settled) = repeated(&wait, &delivery)? {
            return Ok(settled);
        }
        let taken = self.take(agent, &wait, &delivery, &by).await?;
        Ok(taken.map_or(Delivered::Kept, Delivered::Continues))
    }

    /// The ids of waits whose results are kept, oldest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn kept(&self) -> store::Result<Vec<String>> {
        let kept = self.store.kept_early().await?;
        Ok(kept.into_iter().map(|wait| wait.id).collect())
    }

    async fn wait(&self, id: &str) -> Result<Interaction, Refusal> {
        let found = self.store.interaction(id).await?;
        found
            .filter(|i| i.kind == InteractionKind::ExternalWait)
            .ok_or_else(unknown)
    }

    /// Claims the thread and makes the run that goes on; `None` when somebody else writes it.
    async fn take(
        &self,
        agent: impl Fn(&str) -> Option<Arc<BuiltAgent>>,
        wait: &Interaction,
        delivery: &Delivery,
        by: &str,
    ) -> Result<Option<Box<Run>>, Refusal> {
        let key = wait.key.clone();
        let Some(record) = self
            .store
            .run(&key.user, &wait.run_id, Some(&key.thread))
            .await?
        else {
            return Err(unknown());
        };
        let agent = agent(&record.agent).ok_or_else(|| {
            Refusal::conflict(
                "agent_unavailable",
                format!("the agent {:?} is no longer served", record.agent),
            )
        })?;
        let claim = Claim {
            key,
            owner: self.owner(),
            run_id: wait.run_id.clone(),
            ttl: LEASE,
        };
        let (lease, thread) = match self.store.open(claim).await? {
            Opened::Ours(lease, thread, _) => (lease, thread),
            Opened::Busy { .. } => return Ok(None),
        };
        let started = match self.expire(&agent, &lease, *thread).await {
            Ok((thread, told)) => match self.continuation(&agent, thread, wait, delivery, by) {
                Ok(start) => {
                    let input = input_of(&record);
                    let record = self.next_attempt(record, wait);
                    self.start(agent, &lease, record, Start { told, ..start }, input)
                        .await
                        .map_err(Refusal::from)
                }
                Err(refusal) => Err(refusal),
            },
            Err(refusal) => Err(refusal),
        };
        match started {
            Ok(run) => Ok(Some(Box::new(run))),
            Err(refusal) => {
                self.store.release(&lease).await?;
                Err(refusal)
            }
        }
    }

    /// Keeps a result that came while the thread is being written.
    async fn keep(
        &self,
        wait: &Interaction,
        delivery: Delivery,
        by: &str,
    ) -> Result<Delivered, Refusal> {
        let early = Early {
            delivery: delivery.clone(),
            by: by.to_owned(),
        };
        let kept = self.store.keep_early(&wait.id, early).await?;
        let settled = repeated(&kept.ok_or_else(unknown)?, &delivery)?;
        Ok(settled.unwrap_or(Delivered::Kept))
    }

    fn next_attempt(&self, mut before: RunRecord, wait: &Interaction) -> RunRecord {
        note(&mut before, "delivered", json!(true));
        note(&mut before, "recoveries", json!(0));
        RunRecord {
            attempt: before.attempt + 1,
            response_id: wait.response_id.clone(),
            status: RunStatus::Running,
            ending: None,
            started_at: self.clock.now(),
            ended_at: None,
            ..before
        }
    }

    /// The thread with the delivered result on its way to the call that waits for it.
    fn continuation(
        &self,
        agent: &BuiltAgent,
        thread: Thread,
        wait: &Interaction,
        delivery: &Delivery,
        by: &str,
    ) -> Result<Start, Refusal> {
        let now = self.clock.now();
        let Some(index) = thread.interactions.iter().position(|i| i.id == wait.id) else {
            return Err(Refusal::conflict(
                "interaction_expired",
                format!("the wait {:?} is over", wait.id),
            ));
        };
        let mut open = thread.interactions;
        let mut wait = open.remove(index);
        let decision = self.delivered(&wait, delivery);
        let audit = answers::audit(&wait, &decision, by, now);
        wait.status = InteractionStatus::Answered;
        wait.answer = Some(Answer {
            hash: delivery_hash(delivery),
            entry: None,
            at: now,
            by: by.to_owned(),
        });
        let mut pending: Vec<Pending> = thread.calls.into_iter().map(Pending::new).collect();
        for one in &mut pending {
            one.asked = open.iter().any(|i| i.call_id == one.call.id);
        }
        if let Some(one) = pending.iter_mut().find(|one| one.call.id == wait.call_id) {
            one.decide(decision);
        }
        let decided = pending.iter().filter(|one| one.decision.is_some());
        let decided = decided.map(|one| one.call.clone()).collect();
        let state = thread
            .state
            .unwrap_or_else(|| Value::Object(agent.initial.clone()));
        let conversation = Conversation::new(thread.messages);
        let response_id = Some(wait.response_id.clone());
        Ok(Start {
            purpose: Purpose::Turn,
            held_messages: conversation.messages(),
            held_state: state.clone(),
            conversation,
            shared: SharedState::new(state),
            pending,
            open,
            approved: Vec::new(),
            told: Vec::new(),
            commit: Commit {
                audit: vec![audit],
                interactions: vec![wait],
                calls: decided,
                ..Commit::default()
            },
            response_id,
            declined: false,
        })
    }

    fn delivered(&self, wait: &Interaction, delivery: &Delivery) -> Decision {
        let (text, failed) = match delivery {
            Delivery::Complete(Value::String(text)) => (text.clone(), false),
            Delivery::Complete(result) => (result.to_string(), false),
            Delivery::Fail { code, message } => (format!("Error: {message} ({code})"), true),
        };
        let message = ToolMessage::new(self.ids.next("res"), &wait.call_id, Content::Text(text));
        Decision::Result {
            message,
            failed,
            from_page: false,
            held: false,
        }
    }
}

/// Whether the same was delivered before; another delivery for a settled wait is refused.
fn repeated(wait: &Interaction, delivery: &Delivery) -> Result<Option<Delivered>, Refusal> {
    match (wait.status, &wait.answer) {
        (InteractionStatus::Open, _) => match &wait.early {
            Some(early) if early.delivery != *delivery => Err(settled(&wait.id)),
            _ => Ok(None),
        },
        (_, Some(answer)) if answer.hash == delivery_hash(delivery) => Ok(Some(Delivered::Again)),
        (InteractionStatus::Expired, _) => Err(Refusal::conflict(
            "interaction_expired",
            format!("the wait {:?} has expired", wait.id),
        )),
        _ => Err(settled(&wait.id)),
    }
}

fn settled(id: &str) -> Refusal {
    Refusal::conflict(
        "interaction_settled",
        format!("the wait {id:?} was settled before"),
    )
}

fn delivery_hash(delivery: &Delivery) -> String {
    canonical::hash(&match delivery {
        Delivery::Complete(result) => json!(["complete", result]),
        Delivery::Fail { code, message } => json!(["fail", code, message]),
    })
}

fn unknown() -> Refusal {
    let message = "there is no such external wait".to_owned();
    Refusal {
        kind: RefusalKind::NotFound,
        code: "interaction_unknown",
        message,
        field: None,
        extra: None,
    }
}
