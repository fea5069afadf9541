//! `GET /agents` and `GET /agents/{name}`: what is served here.

use std::sync::Arc;

use antiphon_agent::BuiltAgent;
use antiphon_protocol::TransportCapabilities;
use axum::Json;
use axum::extract::{OriginalUri, State};
use serde_json::{Value, json};

use super::extract::Segment;
use crate::app::App;
use crate::auth::Caller;
use crate::error::ApiError;

/// Lists the agents.
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    _: Caller,
    OriginalUri(uri): OriginalUri,
) -> Json<Value> {
    let base = uri.path().trim_end_matches('/');
    let line = |agent: &Arc<BuiltAgent>| {
        let url = format!("{base}/{}", agent.name());
        json!(summary(&app, agent, &url))
    };
    Json(json!({ "agents": app.agents.iter().map(line).collect::<Vec<_>>() }))
}

/// Describes one agent.
pub(crate) async fn describe(
    State(app): State<Arc<App>>,
    _: Caller,
    Segment(name): Segment,
    OriginalUri(uri): OriginalUri,
) -> Result<Json<Value>, ApiError> {
    let agent = app.agents.get(&name)?;
    let mut capabilities = agent.capabilities();
    capabilities.transport = Some(TransportCapabilities {
        streaming: Some(true),
        websocket: Some(false),
        http_binary: Some(true),
        push_notifications: Some(false),
        resumable: Some(true),
    });
    let mut described = summary(&app, agent, uri.path());
    described["capabilities"] = json!(capabilities);
    Ok(Json(described))
}

fn summary(app: &App, agent: &BuiltAgent, url: &str) -> Value {
    json!({
        "name": agent.name(),
        "description": agent.description(),
        "url": url,
        "default": agent.name() == app.agents.default().name(),
    })
}
