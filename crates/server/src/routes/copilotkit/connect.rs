//! `POST /copilotkit/agent/{id}/connect`: a page comes to a thread, or comes back to it.

use std::sync::Arc;

use antiphon_agent::store::ThreadKey;
use antiphon_agent::{BuiltAgent, Joined, RunLog};
use antiphon_protocol::Dialect;
use axum::extract::{RawPathParams, Request, State};
use axum::response::Response;
use serde_json::Value;

use super::{agent, segment};
use crate::app::App;
use crate::auth::Caller;
use crate::edge::accept::Binding;
use crate::error::ApiError;
use crate::routes::run;
use crate::runs::FoundLog;
use crate::stream::{Encoder, Feed, response};

/// Shows the thread that the body names; see [`show`].
pub(crate) async fn connect(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    segments: RawPathParams,
    request: Request,
) -> Result<Response, ApiError> {
    let agent = agent(&app, &segment(&segments, "id"))?;
    let (binding, value) = run::open(&app, request).await?;
    show(app, agent, user, binding, value).await
}

/// Shows a thread as it stands, with only what is still open looking open; a run that is at work there
/// is followed to its end. Of the body only the ids and the version count.
pub(super) async fn show(
    app: Arc<App>,
    agent: Arc<BuiltAgent>,
    user: String,
    binding: Binding,
    value: Value,
) -> Result<Response, ApiError> {
    let input = run::read_input(value, &app.limits)?;
    app.ready().await?;
    let dialect = Dialect::of(input.protocol_version.as_deref());
    let key = ThreadKey::new(user, &input.thread_id);
    let joined = match at_work(&app, &key).await {
        Some(log) => present(&log).await,
        None => {
            let log = app.runtime.shown(&agent, &key, &input.run_id).await?;
            let (prelude, reader) = (Vec::new(), log.read());
            Joined { prelude, reader }
        }
    };
    let feed = Feed::joined(joined, Encoder { binding, dialect }, app.heartbeat);
    Ok(response(feed, binding))
}

/// The log of the run that is at work on a thread. One whose request is refused after all is none.
async fn at_work(app: &App, key: &ThreadKey) -> Option<Arc<RunLog>> {
    match app.runs.at_work(key)? {
        FoundLog::Here(log) => Some(log),
        FoundLog::Starting(entrance) => Some(Arc::clone(entrance.await.ok()?.ok()?.log())),
    }
}

/// The present of a run and what follows. A run that has said nothing yet has nothing to restate, so
/// its first word is waited for.
async fn present(log: &Arc<RunLog>) -> Joined {
    let joined = log.join(None);
    if !joined.prelude.is_empty() {
        return joined;
    }
    log.read().next().await;
    log.join(None)
}
