//! `POST /external-waits/{id}/complete` and `/fail`: another system reports.

use std::sync::Arc;

use antiphon_agent::Delivery;
use axum::Json;
use axum::extract::{Request, State};
use http::request::Parts;
use serde_json::{Value, json};

use super::extract::Segment;
use crate::app::App;
use crate::auth::{PrincipalKind, Rejection};
use crate::edge::body;
use crate::error::ApiError;

/// Takes `{"result": any}`.
pub(crate) async fn complete(
    State(app): State<Arc<App>>,
    Segment(id): Segment,
    request: Request,
) -> Result<Json<Value>, ApiError> {
    let (name, mut report) = report(&app, request).await?;
    let result = report.get_mut("result").map(Value::take);
    let result = result.ok_or_else(|| missing("result"))?;
    deliver(app, id, Delivery::Complete(result), name).await
}

/// Takes `{"code": "...", "message": "..."}`.
pub(crate) async fn fail(
    State(app): State<Arc<App>>,
    Segment(id): Segment,
    request: Request,
) -> Result<Json<Value>, ApiError> {
    let (name, report) = report(&app, request).await?;
    let text = |member: &'static str| match report.get(member) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => {
            let message = format!("{member} must be a string");
            Err(ApiError::invalid("invalid_input", member, message))
        }
        None => Err(missing(member)),
    };
    let failed = Delivery::Fail {
        code: text("code")?,
        message: text("message")?,
    };
    deliver(app, id, failed, name).await
}

async fn report(app: &App, request: Request) -> Result<(String, Value), ApiError> {
    let (head, body) = request.into_parts();
    let name = service(app, &head).await?;
    body::check_type(&head.headers)?;
    let report = body::read(&head.headers, body, &app.limits).await?;
    Ok((name, report))
}

async fn service(app: &App, head: &Parts) -> Result<String, ApiError> {
    let principal = app.authenticator.authenticate(head).await?;
    match principal.kind {
        PrincipalKind::Service => Ok(principal.user),
        PrincipalKind::User => {
            Err(Rejection::forbidden("external waits are settled with a service token").into())
        }
    }
}

async fn deliver(
    app: Arc<App>,
    id: String,
    delivery: Delivery,
    name: String,
) -> Result<Json<Value>, ApiError> {
    crate::waits::deliver(app, id.clone(), delivery, name).await?;
    Ok(Json(json!({ "id": id, "status": "accepted" })))
}

fn missing(member: &'static str) -> ApiError {
    ApiError::invalid("invalid_input", member, format!("{member} is missing"))
}
