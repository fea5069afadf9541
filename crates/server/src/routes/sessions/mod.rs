//! `/sessions`: threads by their other name.

mod cursor;
mod history;
mod write;

use std::sync::Arc;

use antiphon_agent::store::{self, Thread, ThreadKey};
use axum::Json;
use axum::extract::State;
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value, json};

pub(crate) use history::{interactions, messages};
pub(crate) use write::{change, create, object, retitle};

use super::extract::{Params, Segment};
use crate::app::App;
use crate::auth::Caller;
use crate::error::ApiError;
use cursor::Cursor;

/// The longest page of a list, and its length where none is asked for.
const PAGE: usize = 100;

/// A page of a list.
#[derive(Debug, Deserialize)]
pub(crate) struct Page {
    pub(crate) limit: Option<String>,
    pub(crate) cursor: Option<String>,
}

impl Page {
    fn limit(&self) -> Result<usize, ApiError> {
        let Some(limit) = &self.limit else {
            return Ok(PAGE);
        };
        match limit.parse() {
            Ok(limit @ 1..=PAGE) => Ok(limit),
            _ => {
                let message = format!("limit must be between 1 and {PAGE}");
                Err(ApiError::invalid("invalid_query", "limit", message))
            }
        }
    }
}

/// `GET /sessions`: the one changed last comes first.
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    Params(page): Params<Page>,
) -> Result<Json<Value>, ApiError> {
    let (found, next) = found(&app, &user, &page).await?;
    let line = |thread: &store::ThreadSummary| {
        json!({
            "id": thread.thread,
            "userId": user,
            "createdAt": thread.created_at,
            "updatedAt": thread.updated_at,
            "metadata": metadata(thread.title.as_deref()),
        })
    };
    let sessions: Vec<Value> = found.iter().map(line).collect();
    Ok(Json(json!({ "sessions": sessions, "nextCursor": next })))
}

/// A page of a user's threads, and where the next one begins.
pub(crate) async fn found(
    app: &App,
    user: &str,
    page: &Page,
) -> Result<(Vec<store::ThreadSummary>, Option<String>), ApiError> {
    let limit = page.limit()?;
    let scope = format!("sessions/{user}");
    let after = Cursor::read(page.cursor.as_deref(), &scope)?;
    let after = after.as_ref().and_then(|cursor| cursor.after.as_str());
    let mut found = app.runtime.store().threads(user, after, limit + 1).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found
        .last()
        .filter(|_| more)
        .map(|last| Cursor::after(&scope, json!(last.thread)));
    Ok((found, next))
}

/// `GET /sessions/{id}`.
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    Segment(id): Segment,
) -> Result<Json<Value>, ApiError> {
    let thread = find(&app, &ThreadKey::new(user, id)).await?;
    Ok(Json(record(&thread)))
}

/// `DELETE /sessions/{id}`: the thread with all that belongs to it.
pub(crate) async fn remove(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    Segment(id): Segment,
) -> Result<StatusCode, ApiError> {
    let key = ThreadKey::new(user, id);
    match app.runtime.store().delete_thread(&key).await {
        Ok(true) => {
            app.runs.forget(&key);
            Ok(StatusCode::NO_CONTENT)
        }
        Ok(false) => Err(unknown()),
        Err(store::Error::LeaseLost { .. }) => {
            let message = "the session has an active run; cancel it first";
            Err(ApiError::new(StatusCode::CONFLICT, "thread_busy", message))
        }
        Err(error) => Err(error.into()),
    }
}

pub(crate) async fn find(app: &App, key: &ThreadKey) -> Result<Thread, ApiError> {
    let found = app.runtime.store().thread(key).await?;
    found.ok_or_else(unknown)
}

fn unknown() -> ApiError {
    ApiError::not_found("session")
}

fn record(thread: &Thread) -> Value {
    let state = thread.state.clone();
    json!({
        "id": thread.key.thread,
        "userId": thread.key.user,
        "state": state.unwrap_or_else(|| Value::Object(Map::new())),
        "applicationData": {},
        "createdAt": thread.created_at,
        "updatedAt": thread.updated_at,
        "metadata": metadata(thread.title.as_deref()),
    })
}

fn metadata(title: Option<&str>) -> Value {
    match title {
        Some(title) => json!({ "title": title }),
        None => json!({}),
    }
}
