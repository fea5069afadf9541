//! `/copilotkit`: the wire between CopilotKit's browser library and its runtime, spoken by the server
//! itself, so that an application needs a `runtimeUrl` and no Node process.
//!
//! The shapes are those that CopilotKit 1.74 sends and reads in its "sse" mode, at one path per call or
//! at a single endpoint with `{"method", "params", "body"}`.

mod connect;
mod resources;
mod stop;
mod threads;

use std::sync::Arc;

use antiphon_agent::BuiltAgent;
use antiphon_agent::store::ThreadKey;
use axum::Json;
use axum::extract::{RawPathParams, Request, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::{Map, Value, json};

pub(crate) use connect::connect;
pub(crate) use stop::stop;
pub(crate) use threads::{events, list, messages, remove, rename, state};

use super::run;
use crate::app::App;
use crate::auth::Caller;
use crate::edge::accept::negotiate;
use crate::edge::body;
use crate::error::ApiError;

/// The agent id that CopilotKit uses where a page names none.
const DEFAULT: &str = "default";

/// `GET /copilotkit/info`: which agents there are and what this runtime can do.
pub(crate) async fn info(State(app): State<Arc<App>>, _: Caller) -> Json<Value> {
    Json(described(&app))
}

fn described(app: &App) -> Value {
    let mut agents = Map::new();
    let mut put = |id: &str, agent: &BuiltAgent| {
        let description = json!({
            "name": id,
            "description": agent.description(),
            "className": "Agent",
            "capabilities": agent.capabilities(),
        });
        agents.insert(id.to_owned(), description);
    };
    put(DEFAULT, app.agents.default());
    app.agents.iter().for_each(|agent| put(agent.name(), agent));
    let threads =
        json!({ "list": true, "inspect": true, "mutations": true, "realtimeMetadata": false });
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "agents": agents,
        "audioFileTranscriptionEnabled": false,
        "mode": "sse",
        "threadEndpoints": threads,
        "singleRoute": { "resourceOperations": true, "threadEndpoints": threads },
        "suggestions": false,
        "a2uiEnabled": false,
        "openGenerativeUIEnabled": false,
        "telemetryDisabled": true,
    })
}

/// `POST /copilotkit/agent/{id}/run`.
pub(crate) async fn start(
    State(app): State<Arc<App>>,
    caller: Caller,
    segments: RawPathParams,
    request: Request,
) -> Result<Response, ApiError> {
    let agent = agent(&app, &segment(&segments, "id"))?;
    run::start(app, agent, caller, request).await
}

/// `POST /copilotkit`: every call at one path.
pub(crate) async fn single(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    request: Request,
) -> Result<Response, ApiError> {
    let (head, body) = request.into_parts();
    body::check_type(&head.headers)?;
    let mut call = body::read(&head.headers, body, &app.limits).await?;
    let value = call["body"].take();
    let params = ["agentId", "threadId", "httpMethod"];
    body::name_members(&mut call["params"], &params)?;
    let param = |name: &str| call["params"][name].as_str();
    let agent_id = param("agentId").unwrap_or(DEFAULT);
    match call["method"].as_str().unwrap_or_default() {
        "info" => Ok(Json(described(&app)).into_response()),
        "agent/run" => {
            let agent = agent(&app, agent_id)?;
            run::start_with(app, agent, user, negotiate(&head.headers)?, value).await
        }
        "agent/connect" => {
            let agent = agent(&app, agent_id)?;
            connect::show(app, agent, user, negotiate(&head.headers)?, value).await
        }
        "agent/stop" => {
            agent(&app, agent_id)?;
            let thread_id = param("threadId").unwrap_or_default();
            let stopped = stop::stopped(&app, &ThreadKey::new(user, thread_id), value)?;
            Ok(Json(stopped).into_response())
        }
        "resource/request" => {
            let method = param("httpMethod").unwrap_or("GET");
            resources::answer(&app, user, method, param("path").unwrap_or_default(), value).await
        }
        other => {
            let message = format!("this runtime has no method {other:?}");
            Err(ApiError::new(
                StatusCode::BAD_REQUEST,
                "unknown_method",
                message,
            ))
        }
    }
}

fn agent(app: &App, id: &str) -> Result<Arc<BuiltAgent>, ApiError> {
    match app.agents.get(id) {
        Ok(agent) => Ok(Arc::clone(agent)),
        Err(_) if id == DEFAULT => Ok(Arc::clone(app.agents.default())),
        Err(error) => Err(error),
    }
}

/// A named segment of the path; the router matched it, so it is there.
fn segment(segments: &RawPathParams, name: &str) -> String {
    segments
        .iter()
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value.to_owned())
        .unwrap_or_default()
}
