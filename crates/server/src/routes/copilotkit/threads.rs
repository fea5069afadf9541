//! CopilotKit's view of threads.

use std::sync::Arc;

use antiphon_agent::store::{StoredMessage, Thread, ThreadKey, ThreadSummary};
use antiphon_protocol::{Event, Message, MessagesSnapshot, StateSnapshot};
use axum::Json;
use axum::extract::{Request, State};
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::DEFAULT;
use crate::app::App;
use crate::auth::Caller;
use crate::error::ApiError;
use crate::routes::extract::{Params, Segment};
use crate::routes::sessions::{self, Page};

/// Which threads are asked for.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Which {
    agent_id: Option<String>,
    limit: Option<String>,
    cursor: Option<String>,
}

/// `GET /copilotkit/threads`: the person's threads, the one changed last first.
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    Params(which): Params<Which>,
) -> Result<Json<Value>, ApiError> {
    listed(&app, &user, which).await.map(Json)
}

pub(super) async fn listed(app: &App, user: &str, which: Which) -> Result<Value, ApiError> {
    let agent_id = which.agent_id.as_deref().unwrap_or(DEFAULT);
    let page = Page {
        limit: which.limit,
        cursor: which.cursor,
    };
    let (found, next) = sessions::found(app, user, &page).await?;
    let line = |thread: &ThreadSummary| {
        json!({
            "id": thread.thread,
            "name": thread.title,
            "agentId": agent_id,
            "organizationId": "",
            "createdById": user,
            "archived": false,
            "createdAt": thread.created_at,
            "updatedAt": thread.updated_at,
        })
    };
    let threads: Vec<Value> = found.iter().map(line).collect();
    Ok(json!({ "threads": threads, "nextCursor": next }))
}

/// What of a thread is shown.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    Messages,
    State,
    Events,
}

/// `GET /copilotkit/threads/{id}/messages`.
pub(crate) async fn messages(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    Segment(id): Segment,
) -> Result<Json<Value>, ApiError> {
    part(&app, user, id, Part::Messages).await.map(Json)
}

/// `GET /copilotkit/threads/{id}/state`.
pub(crate) async fn state(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    Segment(id): Segment,
) -> Result<Json<Value>, ApiError> {
    part(&app, user, id, Part::State).await.map(Json)
}

/// `GET /copilotkit/threads/{id}/events`: the thread, told as the events that make it.
pub(crate) async fn events(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    Segment(id): Segment,
) -> Result<Json<Value>, ApiError> {
    part(&app, user, id, Part::Events).await.map(Json)
}

pub(super) async fn part(
    app: &App,
    user: String,
    id: String,
    part: Part,
) -> Result<Value, ApiError> {
    let thread = sessions::find(app, &ThreadKey::new(user, id)).await?;
    Ok(match part {
        Part::Messages => {
            let messages: Vec<Value> = thread.messages.iter().map(inspected).collect();
            json!({ "messages": messages })
        }
        Part::State => json!({ "state": shared(&thread) }),
        Part::Events => json!({ "events": told(thread) }),
    })
}

fn told(thread: Thread) -> [Event; 2] {
    let state = StateSnapshot::new(shared(&thread));
    let messages = thread.messages.into_iter().map(|stored| stored.message);
    let messages = MessagesSnapshot::new(messages.collect::<Vec<_>>());
    [state.into(), messages.into()]
}

/// A message as CopilotKit's inspector reads it: its calls are flat.
fn inspected(stored: &StoredMessage) -> Value {
    let mut message = json!(stored.message);
    if let (Message::Assistant(said), Value::Object(members)) = (&stored.message, &mut message)
        && !said.tool_calls.is_empty()
    {
        let flat = said.tool_calls.iter().map(|call| {
            let function = &call.function;
            json!({ "id": call.id, "name": function.name, "args": function.arguments })
        });
        members.insert("toolCalls".to_owned(), flat.collect());
    }
    message
}

/// `PATCH /copilotkit/threads/{id}`: renames a thread.
pub(crate) async fn rename(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    Segment(id): Segment,
    request: Request,
) -> Result<Json<Value>, ApiError> {
    let members = ["agentId", "name", "archived"];
    let changes = sessions::object(&app, request, &members).await?;
    renamed(&app, user, id, changes).await.map(Json)
}

/// Takes `name`. No thread is ever archived, so bringing one back changes nothing.
pub(super) async fn renamed(
    app: &Arc<App>,
    user: String,
    id: String,
    mut changes: Map<String, Value>,
) -> Result<Value, ApiError> {
    if changes
        .get("archived")
        .is_some_and(|archived| archived != false)
    {
        let message = "threads are kept or deleted; none is archived";
        return Err(ApiError::invalid("invalid_input", "archived", message));
    }
    let key = ThreadKey::new(user, &id);
    let name = match changes.remove("name") {
        Some(Value::String(name)) => {
            sessions::retitle(app, key, name.clone()).await?;
            Some(name)
        }
        None if changes.contains_key("archived") => sessions::find(app, &key).await?.title,
        _ => {
            let message = "a thread's name is a string";
            return Err(ApiError::invalid("invalid_input", "name", message));
        }
    };
    Ok(json!({ "id": id, "name": name, "archived": false }))
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
