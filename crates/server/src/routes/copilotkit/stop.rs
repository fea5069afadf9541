//! `POST /copilotkit/agent/{id}/stop/{threadId}`: a person has had enough of an answer.

use std::sync::Arc;

use antiphon_agent::store::ThreadKey;
use axum::Json;
use axum::body::HttpBody as _;
use axum::extract::{RawPathParams, Request, State};
use serde_json::{Value, json};

use super::{agent, segment};
use crate::app::App;
use crate::auth::Caller;
use crate::edge::body;
use crate::error::ApiError;

/// Stops the run that is at work on a thread: any, or only the one that the body names.
pub(crate) async fn stop(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    segments: RawPathParams,
    request: Request,
) -> Result<Json<Value>, ApiError> {
    agent(&app, &segment(&segments, "id"))?;
    let (head, body) = request.into_parts();
    let scope = if body.is_end_stream() {
        Value::Null
    } else {
        body::check_type(&head.headers)?;
        body::read(&head.headers, body, &app.limits).await?
    };
    let key = ThreadKey::new(user, segment(&segments, "threadId"));
    stopped(&app, &key, scope).map(Json)
}

/// Stops a run and says whether there was one. A `runId` keeps a stop that comes late from ending the
/// run after the one that it was meant for.
pub(super) fn stopped(app: &App, key: &ThreadKey, mut scope: Value) -> Result<Value, ApiError> {
    body::name_members(&mut scope, &["runId"])?;
    let was_at_work = match scope.get("runId") {
        None => app.runs.cancel_in(key),
        Some(Value::String(run_id)) => {
            let cancelled = app.runs.cancel(&key.user, run_id, Some(&key.thread));
            cancelled.is_some()
        }
        Some(_) => {
            let message = "runId must be a string";
            return Err(ApiError::invalid("invalid_input", "runId", message));
        }
    };
    Ok(if was_at_work {
        let interrupt =
            json!({ "type": "RUN_ERROR", "message": "the run was stopped", "code": "STOPPED" });
        json!({ "stopped": true, "interrupt": interrupt })
    } else {
        json!({ "stopped": false, "message": "no such run is at work on this thread" })
    })
}
