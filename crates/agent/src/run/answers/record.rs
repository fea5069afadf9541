//! The record of decisions, and of what came of them.

use jiff::Timestamp;
use serde_json::Value;

use crate::canonical;
use crate::run::decision::Decision;
use crate::run::question;
use crate::store::{Audit, Call, Interaction};

/// The record of what came of an approved call.
pub(in crate::run) fn outcome_audit(
    call: &Call,
    approved: &Interaction,
    outcome: &str,
    at: Timestamp,
) -> Audit {
    Audit {
        interaction_id: approved.id.clone(),
        tool_call_id: call.id.clone(),
        tool: call.tool.clone(),
        decision: "executed".to_owned(),
        by: String::new(),
        at,
        arguments_hash: canonical::hash(
            &serde_json::from_str(&call.arguments).unwrap_or(Value::Null),
        ),
        edited_arguments: None,
        outcome: Some(outcome.to_owned()),
    }
}

/// The record of a decision.
pub(in crate::run) fn audit(
    interaction: &Interaction,
    decision: &Decision,
    by: &str,
    at: Timestamp,
) -> Audit {
    let (word, edited) = match decision {
        Decision::Approved { edited } => ("approved", edited.clone().map(Value::Object)),
        Decision::Declined { .. } => ("declined", None),
        Decision::Cancelled => ("cancelled", None),
        Decision::Expired => ("expired", None),
        Decision::Result { failed: true, .. } => ("failed", None),
        Decision::Result { .. }
        | Decision::Private(_)
        | Decision::Answer(_)
        | Decision::Outcome(_) => ("answered", None),
    };
    Audit {
        interaction_id: interaction.id.clone(),
        tool_call_id: interaction.call_id.clone(),
        tool: question::tool_name(interaction).to_owned(),
        decision: word.to_owned(),
        by: by.to_owned(),
        at,
        arguments_hash: canonical::hash(&interaction.request["arguments"]),
        edited_arguments: edited,
        outcome: None,
    }
}
