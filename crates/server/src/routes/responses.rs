//! `POST /responses` and `GET /responses/{id}`: one turn, for clients that speak no AG-UI.

use std::sync::Arc;

use antiphon_agent::store::ThreadKey;
use antiphon_agent::{BuiltAgent, History, Reader};
use antiphon_protocol::{Dialect, PROTOCOL_VERSION, RunAgentInput};
use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::extract::{Params, Segment};
use super::{run, sessions};
use crate::app::App;
use crate::auth::Caller;
use crate::error::ApiError;
use crate::responses;
use crate::runs::Asked;

/// Where the message of a request stands in the input that is made of it.
const CONTENT: &str = "messages[0].content";

/// What `POST /responses` asks for.
struct Turn {
    agent: Arc<BuiltAgent>,
    input: RunAgentInput,
    streams: bool,
}

/// Runs a turn and answers with how it stands when its run has ended, or with its events.
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    request: Request,
) -> Result<Response, ApiError> {
    let body = sessions::object(
        &app,
        request,
        &["input", "sessionId", "agent", "stream", "metadata"],
    )
    .await?;
    let turn = read(&app, &user, body).await?;
    let (agent, thread) = (Arc::clone(&turn.agent), turn.input.thread_id.clone());
    let folds = agent.history() == History::Client;
    let asked = Asked::Run(turn.input);
    let mut reader = run::enter(&app, agent, user.clone(), asked, Dialect::V1).await?;
    if turn.streams {
        let run = responses::record(&app, &user, &thread, &reader).await?;
        let run = run.ok_or_else(ApiError::internal)?;
        return Ok(responses::stream(app, reader, &run, folds));
    }
    let receipt = wait(&app, &user, &thread, &mut reader, folds).await?;
    Ok(answered(receipt.ok_or_else(ApiError::internal)?))
}

/// Says how a response stands, also long after its client has left.
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    Segment(id): Segment,
    Params(Which { session_id }): Params<Which>,
) -> Result<Json<Value>, ApiError> {
    let Some(session) = session_id.filter(|id| !id.trim().is_empty()) else {
        let message = "sessionId names the session of the response";
        return Err(ApiError::invalid("invalid_query", "sessionId", message));
    };
    app.ready().await?;
    let found = app.runtime.store().response(&user, &id).await?;
    let run = found.filter(|run| run.key.thread == session);
    let run = run.ok_or_else(|| ApiError::not_found("response"))?;
    responses::receipt(&app, &run, None).await.map(Json)
}

/// Which session a response belongs to.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Which {
    session_id: Option<String>,
}

/// Waits for the end of a run and says how its response stands then; `None` where nothing was played.
/// The agent's own limit bounds the time.
pub(super) async fn wait(
    app: &App,
    user: &str,
    thread: &str,
    reader: &mut Reader,
    folds: bool,
) -> Result<Option<Value>, ApiError> {
    let live = responses::end(reader, folds).await;
    match responses::record(app, user, thread, reader).await? {
        Some(run) => responses::receipt(app, &run, live.as_deref())
            .await
            .map(Some),
        None => Ok(None),
    }
}

/// The answer to whoever waited. A response that failed has the body of an error too.
pub(super) fn answered(mut receipt: Value) -> Response {
    if receipt["status"] != "failed" {
        return Json(receipt).into_response();
    }
    let status = match receipt["error"]["code"].as_str().unwrap_or_default() {
        "timeout" => StatusCode::GATEWAY_TIMEOUT,
        "store_unavailable" => StatusCode::SERVICE_UNAVAILABLE,
        code if code.starts_with("upstream_") => StatusCode::BAD_GATEWAY,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    receipt["detail"] = receipt["error"]["message"].clone();
    (status, Json(receipt)).into_response()
}

/// A new id of this server's own.
pub(super) fn new_id(prefix: &str) -> String {
    format!("{prefix}_{}", Uuid::now_v7().simple())
}

async fn read(app: &App, user: &str, mut body: Map<String, Value>) -> Result<Turn, ApiError> {
    let agent = match body.remove("agent") {
        None | Some(Value::Null) => app.agents.default(),
        Some(Value::String(name)) => app.agents.get(&name)?,
        Some(_) => return Err(wrong("agent", "agent must be the name of an agent")),
    };
    let streams = match body.remove("stream") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(streams)) => streams,
        Some(_) => return Err(wrong("stream", "stream must be true or false")),
    };
    let props = match body.remove("metadata") {
        None | Some(Value::Null) => None,
        Some(Value::Object(metadata)) => Some(json!({ "metadata": metadata })),
        Some(_) => return Err(wrong("metadata", "metadata must be a JSON object")),
    };
    let content = body.remove("input").unwrap_or_default();
    let session = match body.remove("sessionId") {
        None | Some(Value::Null) => None,
        Some(Value::String(id)) => Some(id),
        Some(_) => return Err(wrong("sessionId", "sessionId must be a text")),
    };
    let mut input = message(&content)?;
    input.forwarded_props = props;
    if let Some(id) = session {
        sessions::find(app, &ThreadKey::new(user, &id)).await?;
        input.thread_id = id;
    }
    Ok(Turn {
        agent: Arc::clone(agent),
        input,
        streams,
    })
}

/// A turn of a new thread with one user message.
fn message(content: &Value) -> Result<RunAgentInput, ApiError> {
    let is_empty = match content {
        Value::String(text) => text.trim().is_empty(),
        Value::Array(parts) => parts.is_empty(),
        _ => {
            return Err(wrong(
                "input",
                "input must be a text or a list of content parts",
            ));
        }
    };
    if is_empty {
        return Err(wrong("input", "input must say something"));
    }
    let message = json!({ "id": new_id("msg"), "role": "user", "content": content });
    let input = json!({
        "threadId": Uuid::now_v7().simple().to_string(),
        "runId": new_id("run"),
        "protocolVersion": PROTOCOL_VERSION,
        "messages": [message],
    });
    match RunAgentInput::read(input) {
        Ok(read) => match read.warnings.first() {
            None => Ok(read.value),
            Some(warning) => {
                let message = warning.to_string().replacen(CONTENT, "input", 1);
                Err(wrong("input", message))
            }
        },
        Err(error) => {
            let message = error.to_string().replacen(CONTENT, "input", 1);
            Err(wrong(error.path.replacen(CONTENT, "input", 1), message))
        }
    }
}

fn wrong(field: impl Into<String>, message: impl Into<std::borrow::Cow<'static, str>>) -> ApiError {
    ApiError::invalid("invalid_input", field, message)
}
