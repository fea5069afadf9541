//! What an answer means, however it is written: that tells a repeated answer from another one.

use antiphon_protocol::{Content, ResumeEntry, ResumeStatus};
use serde_json::{Value, json};

use super::{Context, payload};
use crate::canonical;
use crate::run::decision::Decision;
use crate::store::{Interaction, InteractionKind};

impl Context<'_> {
    /// The hash of what an entry would mean for an interaction; `None` when it means nothing.
    pub(super) fn meaning(&self, interaction: &Interaction, entry: &ResumeEntry) -> Option<String> {
        let decision = match (entry.status, interaction.kind) {
            (ResumeStatus::Cancelled, _) => Decision::Cancelled,
            // That it was given is all that may be known of it.
            (ResumeStatus::Resolved, InteractionKind::PrivateInput) => {
                return Some(canonical::hash(&private()));
            }
            (ResumeStatus::Resolved, _) => self.decision(interaction, entry, "").ok()?,
        };
        Some(hash(interaction, &decision))
    }
}

/// The hash of what a decision means. Of private input only that it was given counts: a hash of a short
/// secret would give it away.
pub(super) fn hash(interaction: &Interaction, decision: &Decision) -> String {
    canonical::hash(&match decision {
        // Arguments that a person left as they were are not edited.
        Decision::Approved { edited } => match edited {
            Some(edited) => json!(["approved", edited]),
            None => json!(["approved", interaction.request["arguments"]]),
        },
        Decision::Declined { reason } => json!(["declined", reason]),
        Decision::Cancelled => json!(["cancelled"]),
        Decision::Expired => json!(["expired"]),
        Decision::Result {
            message, failed, ..
        } => json!(["result", found(&message.content), failed]),
        Decision::Private(_) => private(),
        Decision::Answer(answer) => json!(["answer", answer]),
        Decision::Outcome(outcome) => json!(["outcome", outcome]),
    })
}

fn private() -> Value {
    json!(["private"])
}

/// What a result says: text that holds JSON says that JSON.
pub(super) fn found(content: &Content) -> Value {
    match content {
        Content::Parts(parts) if parts.iter().any(|part| part.text().is_none()) => json!(parts),
        text => payload::decoded(Value::String(text.text().into_owned())),
    }
}
