//! What a response waits for, as its client reads it.

use antiphon_agent::store::{Interaction, InteractionKind};
use serde_json::{Value, json};

/// An open interaction as something that the client has to do, or another system.
///
/// `callId` is the response's id; the tool call has its own member.
pub(super) fn action(interaction: &Interaction) -> Value {
    let request = &interaction.request;
    let mut action = json!({
        "type": kind(interaction.kind),
        "id": interaction.id,
    });
    let mut put = |member: &str, value: Value| {
        if !value.is_null() {
            action[member] = value;
        }
    };
    if interaction.kind == InteractionKind::ExternalWait {
        put("capability", request["capability"].clone());
        return action;
    }
    put("callId", json!(interaction.response_id));
    put("toolCallId", json!(interaction.call_id));
    if interaction.kind == InteractionKind::Approval {
        let tool = request["name"].as_str().unwrap_or_default();
        put("action", json!(format!("tool:{tool}")));
    }
    put("message", request["message"].clone());
    put("name", request["name"].clone());
    put("arguments", request["arguments"].clone());
    put("expiresAt", json!(interaction.expires_at));
    match interaction.kind {
        InteractionKind::PrivateInput => {
            put("privateInput", json!(true));
            put("inputSchema", request["form"].clone());
        }
        InteractionKind::Question => put("inputSchema", request["schema"].clone()),
        InteractionKind::OutcomeUnknown => put("inputSchema", outcome_schema()),
        _ => {}
    }
    action
}

/// The event that announces an action in a stream, and the member that it stands in.
pub(super) fn announcement(action: &Value) -> (&'static str, &'static str) {
    match action["type"].as_str() {
        Some("human_approval") => ("approval.requested", "approval"),
        Some("client_tool") => ("client_tool.requested", "clientTool"),
        _ => ("question.requested", "question"),
    }
}

fn kind(kind: InteractionKind) -> &'static str {
    match kind {
        InteractionKind::Approval => "human_approval",
        InteractionKind::ClientTool | InteractionKind::PrivateInput => "client_tool",
        InteractionKind::Question => "question",
        InteractionKind::OutcomeUnknown => "outcome_unknown",
        InteractionKind::ExternalWait => "external_continuation",
    }
}

fn outcome_schema() -> Value {
    json!({
        "type": "object",
        "properties": { "outcome": { "enum": ["retry", "done", "failed"] } },
        "required": ["outcome"],
        "additionalProperties": false,
    })
}
