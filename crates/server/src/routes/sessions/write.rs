//! Making sessions and changing their state from outside a run.

use std::sync::Arc;
use std::time::Duration;

use antiphon_agent::Refusal;
use antiphon_agent::store::{Claim, Commit, Opened, Thread, ThreadKey};
use antiphon_protocol::MAX_ID_BYTES;
use antiphon_state::reserved_key;
use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{record, unknown};
use crate::app::App;
use crate::auth::Caller;
use crate::edge::body;
use crate::error::ApiError;
use crate::routes::extract::Segment;

/// How long a session is held for one write.
const LEASE: Duration = Duration::from_secs(10);

/// `POST /sessions` with `{"id"?, "state"?}`.
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    request: Request,
) -> Result<Response, ApiError> {
    let mut body = object(&app, request, &["id", "state"]).await?;
    let id = match body.remove("id") {
        None => Uuid::now_v7().simple().to_string(),
        Some(Value::String(id)) if is_id(&id) => id,
        Some(_) => {
            let message = "id must be a text of 1 to 256 bytes without control characters";
            return Err(ApiError::invalid("invalid_input", "id", message));
        }
    };
    let state = match body.remove("state") {
        None => Map::new(),
        Some(state) => state_keys(state, "state")?,
    };
    let write = |thread: &Thread| match thread.stored {
        false => Ok(Change {
            state: Some(state),
            title: None,
        }),
        true => {
            let message = format!("the session {:?} exists already", thread.key.thread);
            Err(ApiError::new(
                StatusCode::CONFLICT,
                "session_exists",
                message,
            ))
        }
    };
    let made = commit(app, ThreadKey::new(user, id), write).await?;
    Ok((StatusCode::CREATED, Json(made)).into_response())
}

/// `PATCH /sessions/{id}` with `{"stateDelta": {...}}`: each key replaces the state's key whole.
pub(crate) async fn change(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    Segment(id): Segment,
    request: Request,
) -> Result<Json<Value>, ApiError> {
    let mut body = object(&app, request, &["stateDelta", "title"]).await?;
    let title = body.remove("title").map(read_title).transpose()?;
    let delta = match body.remove("stateDelta") {
        Some(delta) => Some(state_keys(delta, "stateDelta")?),
        None if title.is_some() => None,
        None => {
            let message = "stateDelta is missing";
            return Err(ApiError::invalid("invalid_input", "stateDelta", message));
        }
    };
    let write = |thread: &Thread| {
        if !thread.stored {
            return Err(unknown());
        }
        let state = delta.map(|delta| {
            let mut state = match &thread.state {
                Some(Value::Object(state)) => state.clone(),
                _ => Map::new(),
            };
            state.extend(delta);
            state
        });
        Ok(Change { state, title })
    };
    let changed = commit(app, ThreadKey::new(user, id), write).await;
    let of_body = |field: &str| (field == "state").then(|| "stateDelta".to_owned());
    changed
        .map(Json)
        .map_err(|error| error.rename_field(of_body))
}

/// Gives a session another title.
pub(crate) async fn retitle(
    app: &Arc<App>,
    key: ThreadKey,
    title: String,
) -> Result<Value, ApiError> {
    let title = Some(read_title(Value::String(title))?);
    let write = |thread: &Thread| match thread.stored {
        true => Ok(Change { state: None, title }),
        false => Err(unknown()),
    };
    commit(Arc::clone(app), key, write).await
}

/// What is written to a session.
struct Change {
    state: Option<Map<String, Value>>,
    title: Option<String>,
}

impl Change {
    /// Checks the size of the state that it leads to, in bytes.
    fn within(self, limit: usize) -> Result<Self, ApiError> {
        let size = self
            .state
            .as_ref()
            .map_or(0, |state| json!(state).to_string().len());
        if size > limit {
            let message = format!("the state is larger than {limit} bytes");
            return Err(ApiError::invalid("state_invalid", "state", message));
        }
        Ok(self)
    }
}

fn read_title(title: Value) -> Result<String, ApiError> {
    match title {
        Value::String(title) if (1..=MAX_ID_BYTES).contains(&title.len()) => Ok(title),
        _ => {
            let message = "a title is a text of 1 to 256 bytes";
            Err(ApiError::invalid("invalid_input", "title", message))
        }
    }
}

/// Writes a session's state as its only writer. On its own task: a caller that leaves must not leave
/// the session claimed.
async fn commit(
    app: Arc<App>,
    key: ThreadKey,
    write: impl FnOnce(&Thread) -> Result<Change, ApiError> + Send + 'static,
) -> Result<Value, ApiError> {
    let tasks = app.runs.tasks().clone();
    let written = tasks.spawn(async move {
        let store = app.runtime.store();
        let name = format!("write_{}", Uuid::now_v7().simple());
        let claim = Claim {
            key: key.clone(),
            owner: name.clone(),
            run_id: name,
            ttl: LEASE,
        };
        let (lease, mut thread) = match store.open(claim).await? {
            Opened::Ours(lease, thread, _) => (lease, thread),
            Opened::Busy { run_id } => return Err(Refusal::busy(&run_id).into()),
        };
        let limit = app.agents.state_bytes();
        let Change { state, title } = match write(&thread).and_then(|change| change.within(limit)) {
            Ok(change) => change,
            Err(refused) => {
                store.release(&lease).await?;
                return Err(refused);
            }
        };
        let state = state.map(Value::Object);
        let changes = Commit {
            state: state.clone(),
            title: title.clone(),
            release: true,
            ..Commit::default()
        };
        store.commit(&lease, changes).await?;
        thread.state = state.or(thread.state);
        thread.title = title.or(thread.title);
        thread.updated_at = app.runtime.clock().now();
        Ok(record(&thread))
    });
    written.await.unwrap_or_else(|_| Err(ApiError::internal()))
}

/// The body of a request, an object with no other members than these.
pub(crate) async fn object(
    app: &App,
    request: Request,
    members: &[&str],
) -> Result<Map<String, Value>, ApiError> {
    let (head, body) = request.into_parts();
    body::check_type(&head.headers)?;
    let mut body = body::read(&head.headers, body, &app.limits).await?;
    body::name_members(&mut body, members)?;
    let Value::Object(object) = body else {
        return Ok(Map::new());
    };
    match object.keys().find(|key| !members.contains(&key.as_str())) {
        None => Ok(object),
        Some(unknown) => {
            let message = format!("{unknown:?} is no member; there are {}", members.join(", "));
            Err(ApiError::invalid("invalid_input", unknown.clone(), message))
        }
    }
}

fn is_id(id: &str) -> bool {
    (1..=MAX_ID_BYTES).contains(&id.len()) && !id.chars().any(char::is_control)
}

fn state_keys(state: Value, field: &'static str) -> Result<Map<String, Value>, ApiError> {
    let Value::Object(state) = state else {
        let message = format!("{field} must be a JSON object");
        return Err(ApiError::invalid("invalid_input", field, message));
    };
    match state.keys().find(|key| reserved_key(key)) {
        None => Ok(state),
        Some(key) => {
            let message = format!("the state key {key:?} is reserved");
            Err(ApiError::invalid(
                "state_reserved_key",
                format!("{field}.{key}"),
                message,
            ))
        }
    }
}
