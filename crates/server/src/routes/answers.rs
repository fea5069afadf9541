//! `POST /approvals/{id}` and `POST /client-tools/{id}`: one answer to one open interaction.
//!
//! Where several are open, the others go on waiting: the receipt says what for. The `resume` of an AG-UI
//! request settles all of them at once.

use std::sync::Arc;

use antiphon_agent::store::{Interaction, InteractionKind};
use antiphon_agent::{BuiltAgent, History};
use antiphon_protocol::{Dialect, PROTOCOL_VERSION, ResumeEntry, ResumeStatus, RunAgentInput};
use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::{Map, Value, json};

use super::extract::Segment;
use super::responses::{answered, new_id, wait};
use super::{run, sessions};
use crate::app::App;
use crate::auth::Caller;
use crate::error::ApiError;
use crate::responses;
use crate::runs::Asked;

/// Takes `{"decision": "approve" | "deny", "reason"?: text}`.
pub(crate) async fn approve(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    Segment(id): Segment,
    request: Request,
) -> Result<Response, ApiError> {
    let decides = |open: &Interaction| {
        open.kind == InteractionKind::Approval || open.request["confirms"] == true
    };
    let open = find(&app, &user, &id, "approval", decides).await?;
    let body = sessions::object(&app, request, &["decision", "reason"]).await?;
    let (approved, payload) = decision(body)?;
    let taken = answer(&app, &user, &open, payload).await;
    let mut receipt = taken.map_err(|error| {
        as_sent(error, |within| match within {
            ".reason" => "reason".to_owned(),
            _ => "decision".to_owned(),
        })
    })?;
    if approved {
        receipt["approvalId"] = json!(id);
        return Ok(answered(receipt));
    }
    let denied = json!({
        "id": id,
        "status": "denied",
        "responseId": receipt["id"],
        "sessionId": receipt["sessionId"],
        "response": receipt,
    });
    Ok(Json(denied).into_response())
}

/// Takes `{"output": any}`: a tool's result, a private value, or the answer to a question.
pub(crate) async fn client_tool(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    Segment(id): Segment,
    request: Request,
) -> Result<Response, ApiError> {
    let takes_output = |open: &Interaction| {
        !matches!(
            open.kind,
            InteractionKind::Approval | InteractionKind::ExternalWait
        )
    };
    let open = find(&app, &user, &id, "client tool", takes_output).await?;
    let mut body = sessions::object(&app, request, &["output"]).await?;
    let Some(output) = body.remove("output") else {
        let message = "output is missing";
        return Err(ApiError::invalid("invalid_input", "output", message));
    };
    let taken = answer(&app, &user, &open, output).await;
    let mut receipt = taken.map_err(|error| as_sent(error, |within| format!("output{within}")))?;
    receipt["clientToolId"] = json!(id);
    Ok(answered(receipt))
}

/// A fault of the payload that was made of a body, named by the body's own member.
fn as_sent(error: ApiError, member: impl FnOnce(&str) -> String) -> ApiError {
    error.rename_field(|field| field.strip_prefix("resume[0].payload").map(member))
}

/// A user's interaction; another user's is none.
async fn find(
    app: &App,
    user: &str,
    id: &str,
    what: &'static str,
    fits: impl Fn(&Interaction) -> bool,
) -> Result<Interaction, ApiError> {
    let found = app.runtime.store().interaction(id).await?;
    found
        .filter(|open| open.key.user == user && fits(open))
        .ok_or_else(|| ApiError::not_found(what))
}

/// Whether the call may run, and the payload that says so.
fn decision(mut body: Map<String, Value>) -> Result<(bool, Value), ApiError> {
    let approved = match body.get("decision").and_then(Value::as_str) {
        Some("approve") => true,
        Some("deny") => false,
        _ => {
            let message = "decision must be \"approve\" or \"deny\"";
            return Err(ApiError::invalid("invalid_input", "decision", message));
        }
    };
    let mut payload = json!({ "approved": approved });
    if let Some(reason) = body.remove("reason") {
        payload["reason"] = reason;
    }
    Ok((approved, payload))
}

/// Gives the answer, as a resume would, and waits until the run that goes on with it has ended.
async fn answer(
    app: &Arc<App>,
    user: &str,
    open: &Interaction,
    payload: Value,
) -> Result<Value, ApiError> {
    let agent = asker(app, open)?;
    let folds = agent.history() == History::Client;
    let thread = &open.key.thread;
    let mut entry = ResumeEntry::new(&open.id, ResumeStatus::Resolved);
    entry.payload = Some(payload);
    let mut input = RunAgentInput::new(thread, new_id("run"), Vec::new());
    input.protocol_version = Some(PROTOCOL_VERSION.to_owned());
    input.resume = vec![entry];
    let asked = Asked::Answer(input);
    let mut reader = run::enter(app, agent, user.to_owned(), asked, Dialect::V1).await?;
    if let Some(receipt) = wait(app, user, thread, &mut reader, folds).await? {
        return Ok(receipt);
    }
    // The answer had been given before, and nothing was played: this is what came of it.
    let found = app
        .runtime
        .store()
        .response(user, &open.response_id)
        .await?;
    let run = found.ok_or_else(|| ApiError::not_found("response"))?;
    responses::receipt(app, &run, None).await
}

/// The agent that asked.
fn asker(app: &App, open: &Interaction) -> Result<Arc<BuiltAgent>, ApiError> {
    let name = open.request["agent"].as_str().unwrap_or_default();
    app.agents.get(name).map(Arc::clone).map_err(|_| {
        let message = format!("the agent {name:?} is no longer served");
        ApiError::new(StatusCode::CONFLICT, "agent_unavailable", message)
    })
}
