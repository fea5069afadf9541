//! `GET /healthz` and `GET /readyz`, for whatever watches the server.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use serde_json::{Value, json};

use crate::app::App;
use crate::error::ApiError;

/// How long the store may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// The process lives.
pub(crate) async fn alive() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

/// Runs can be started: the store answers, and the server is not shutting down.
pub(crate) async fn ready(State(app): State<Arc<App>>) -> Result<Json<Value>, ApiError> {
    if app.runs.is_draining() {
        return Err(ApiError::draining());
    }
    match tokio::time::timeout(PATIENCE, app.runtime.store().ping()).await {
        Ok(Ok(())) => Ok(Json(json!({ "status": "ready" }))),
        Ok(Err(error)) => Err(error.into()),
        Err(_) => {
            let message = "the store does not answer";
            Err(ApiError::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "store_unavailable",
                message,
            )
            .retry_after(1))
        }
    }
}
