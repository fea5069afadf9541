//! `POST /runs/{runId}/cancel`: stopping a run.

use std::sync::Arc;

use antiphon_agent::store::RunStatus;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Deserialize;
use serde_json::json;

use super::extract::{Params, Segment};
use crate::app::App;
use crate::auth::Caller;
use crate::error::ApiError;

/// Which run is meant.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Which {
    thread_id: Option<String>,
}

/// Asks a run to stop (202), or says how one that is over ended (200). Asking again changes nothing.
pub(crate) async fn cancel(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    Segment(run_id): Segment,
    Params(Which { thread_id }): Params<Which>,
) -> Result<Response, ApiError> {
    let thread = thread_id.as_deref();
    let answer = |status, thread: &str, word: &str| {
        let body = json!({ "runId": run_id, "threadId": thread, "status": word });
        (status, Json(body)).into_response()
    };
    if let Some(thread) = app.runs.cancel(&user, &run_id, thread) {
        return Ok(answer(StatusCode::ACCEPTED, &thread, "cancelling"));
    }
    let store = app.runtime.store();
    match store.run(&user, &run_id, thread).await? {
        Some(run) if run.status == RunStatus::Running => Err(ApiError::elsewhere()),
        Some(run) => Ok(answer(StatusCode::OK, &run.key.thread, word(run.status))),
        // A run that only opened its thread is recorded nowhere else.
        None => match app.runs.find(&user, &run_id, thread) {
            Some(found) => Ok(answer(StatusCode::OK, &found.thread, "finished")),
            None => Err(ApiError::not_found("run")),
        },
    }
}

fn word(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Running => "running",
        RunStatus::Finished => "finished",
        RunStatus::Waiting => "waiting",
        RunStatus::Failed => "failed",
        RunStatus::Cancelled => "cancelled",
    }
}
