//! `POST /agents/{name}`, `POST /` and `POST /agui`: an AG-UI run.

use std::sync::Arc;

use antiphon_agent::store::ThreadKey;
use antiphon_agent::{BuiltAgent, Reader};
use antiphon_protocol::{Dialect, RunAgentInput};
use axum::extract::{Request, State};
use axum::response::Response;
use serde_json::Value;

use super::extract::Segment;
use crate::app::App;
use crate::auth::Caller;
use crate::edge::accept::{Binding, negotiate};
use crate::edge::body;
use crate::error::ApiError;
use crate::limits::Limits;
use crate::runs::{Asked, Gist, Order, carry};
use crate::stream::{Encoder, Feed, response};

/// Runs the default agent.
pub(crate) async fn start_default(
    State(app): State<Arc<App>>,
    caller: Caller,
    request: Request,
) -> Result<Response, ApiError> {
    let agent = Arc::clone(app.agents.default());
    start(app, agent, caller, request).await
}

/// Runs the named agent.
pub(crate) async fn start_named(
    State(app): State<Arc<App>>,
    caller: Caller,
    Segment(name): Segment,
    request: Request,
) -> Result<Response, ApiError> {
    let agent = Arc::clone(app.agents.get(&name)?);
    start(app, agent, caller, request).await
}

/// Everything that may refuse the request comes before the first byte of the stream.
pub(crate) async fn start(
    app: Arc<App>,
    agent: Arc<BuiltAgent>,
    Caller(user): Caller,
    request: Request,
) -> Result<Response, ApiError> {
    let (binding, value) = open(&app, request).await?;
    start_with(app, agent, user, binding, value).await
}

/// Reads a request that is answered with a stream: the wire that it asks for, and its body.
pub(crate) async fn open(app: &App, request: Request) -> Result<(Binding, Value), ApiError> {
    let (head, body) = request.into_parts();
    body::check_type(&head.headers)?;
    let binding = negotiate(&head.headers)?;
    let value = body::read(&head.headers, body, &app.limits).await?;
    Ok((binding, value))
}

/// Starts a run from a request's body and answers with its events.
pub(crate) async fn start_with(
    app: Arc<App>,
    agent: Arc<BuiltAgent>,
    user: String,
    binding: Binding,
    value: Value,
) -> Result<Response, ApiError> {
    let input = read_input(value, &app.limits)?;
    enter_with(app, agent, user, binding, input).await
}

/// Starts a run, or joins the same one, and answers with its events.
pub(crate) async fn enter_with(
    app: Arc<App>,
    agent: Arc<BuiltAgent>,
    user: String,
    binding: Binding,
    input: RunAgentInput,
) -> Result<Response, ApiError> {
    let dialect = Dialect::of(input.protocol_version.as_deref());
    let reader = enter(&app, agent, user, Asked::Run(input), dialect).await?;
    let feed = Feed::new(reader, Encoder { binding, dialect }, app.heartbeat);
    Ok(response(feed, binding))
}

/// Starts the run, or joins it where the request only repeats the one that started it.
pub(crate) async fn enter(
    app: &Arc<App>,
    agent: Arc<BuiltAgent>,
    user: String,
    asked: Asked,
    dialect: Dialect,
) -> Result<Reader, ApiError> {
    app.ready().await?;
    let input = asked.input();
    let order = Order {
        key: ThreadKey::new(&user, &input.thread_id),
        run_id: input.run_id.clone(),
        agent: agent.name().to_owned(),
        dialect,
        gist: Gist::of(input),
    };
    let (ticket, entrance) = app.runs.enter(order)?;
    if let Some(ticket) = ticket {
        let carried = carry(Arc::clone(app), ticket, agent, user, asked);
        app.runs.tasks().spawn(carried);
    }
    // A ticket that was dropped without a word stands for a bug.
    entrance.await.unwrap_or_else(|_| Err(ApiError::internal()))
}

pub(crate) fn read_input(value: Value, limits: &Limits) -> Result<RunAgentInput, ApiError> {
    let read = RunAgentInput::read(value).map_err(|error| {
        let message = error.to_string();
        ApiError::invalid("invalid_input", error.path, message)
    })?;
    if let Some(first) = read.warnings.first() {
        let more = read.warnings.len() - 1;
        tracing::warn!(%first, more, "parts of a request were not taken as they are");
    }
    let input = read.value;
    for (field, count, limit) in [
        ("messages", input.messages.len(), limits.messages),
        ("tools", input.tools.len(), limits.tools),
        ("context", input.context.len(), limits.context),
        ("resume", input.resume.len(), limits.answers),
    ] {
        if count > limit {
            let message = format!("{field} has {count} entries; {limit} are allowed");
            return Err(ApiError::invalid("limit_exceeded", field, message));
        }
    }
    Ok(input)
}
