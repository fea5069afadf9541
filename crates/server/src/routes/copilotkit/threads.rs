//! CopilotKit's view of threads.

use std::sync::Arc;

use antiphon_agent::store::{Thread, ThreadKey, ThreadSummary};
use antiphon_protocol::{Event, MessagesSnapshot, StateSnapshot};
use axum::Json;
use axum::extract::State;
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::auth::Caller;
use crate::error::ApiError;
use crate::routes::extract::{Params, Segment};
use crate::routes::sessions;

/// The most threads in one answer.
const PAGE: usize = 100;

/// Which threads are asked for.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Which {
    agent_id: Option<String>,
}

/// `GET /copilotkit/threads`: the person's threads, the one changed last first.
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    Params(Which { agent_id }): Params<Which>,
) -> Result<Json<Value>, ApiError> {
    let found = app.runtime.store().threads(&user, None, PAGE).await?;
    let line = |thread: &ThreadSummary| {
        json!({
            "id": thread.thread,
            "name": thread.title,
            "agentId": agent_id.as_deref().unwrap_or("default"),
            "organizationId": "",
            "createdById": user,
            "archived": false,
            "createdAt": thread.created_at,
            "updatedAt": thread.updated_at,
        })
    };
    Ok(Json(
        json!({ "threads": found.iter().map(line).collect::<Vec<_>>(), "nextCursor": null }),
    ))
}

/// `GET /copilotkit/threads/{id}/messages`.
pub(crate) async fn messages(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    Segment(id): Segment,
) -> Result<Json<Value>, ApiError> {
    let thread = find(&app, user, id).await?;
    let messages: Vec<_> = thread
        .messages
        .iter()
        .map(|stored| &stored.message)
        .collect();
    Ok(Json(json!({ "messages": messages })))
}

/// `GET /copilotkit/threads/{id}/state`.
pub(crate) async fn state(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    Segment(id): Segment,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(
        json!({ "state": shared(&find(&app, user, id).await?) }),
    ))
}

/// `GET /copilotkit/threads/{id}/events`: the thread, told as the events that make it.
pub(crate) async fn events(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    Segment(id): Segment,
) -> Result<Json<Value>, ApiError> {
    let thread = find(&app, user, id).await?;
    let messages: Vec<_> = thread
        .messages
        .iter()
        .map(|stored| stored.message.clone())
        .collect();
    let events: [Event; 2] = [
        StateSnapshot::new(shared(&thread)).into(),
        MessagesSnapshot::new(messages).into(),
    ];
    Ok(Json(json!({ "events": events })))
}

/// A thread's new name.
#[derive(Debug, Deserialize)]
pub(crate) struct Named {
    name: String,
}

/// `PATCH /copilotkit/threads/{id}`: renames a thread.
pub(crate) async fn rename(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    Segment(id): Segment,
    body: Result<Json<Named>, axum::extract::rejection::JsonRejection>,
) -> Result<Json<Value>, ApiError> {
    let Ok(Json(Named { name })) = body else {
        return Err(ApiError::invalid(
            "invalid_input",
            "name",
            "a thread's name is a string",
        ));
    };
    sessions::retitle(&app, ThreadKey::new(user, &id), name.clone()).await?;
    Ok(Json(json!({ "id": id, "name": name })))
}

/// `DELETE /copilotkit/threads/{id}`.
pub(crate) async fn remove(
    app: State<Arc<App>>,
    caller: Caller,
    id: Segment,
) -> Result<StatusCode, ApiError> {
    sessions::remove(app, caller, id).await
}

fn shared(thread: &Thread) -> Value {
    thread.state.clone().unwrap_or_else(|| json!({}))
}

async fn find(app: &App, user: String, id: String) -> Result<Thread, ApiError> {
    sessions::find(app, &ThreadKey::new(user, id)).await
}
