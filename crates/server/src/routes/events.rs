//! `GET /runs/{runId}/events`: coming back to a run.

use std::sync::Arc;

use antiphon_agent::store::RunStatus;
use antiphon_agent::{Joined, Reader, RunLog};
use antiphon_protocol::Dialect;
use axum::extract::State;
use axum::response::Response;
use http::HeaderMap;
use serde::Deserialize;

use super::extract::{Params, Segment};
use super::follow::Follower;
use crate::app::App;
use crate::auth::Caller;
use crate::edge::accept::negotiate;
use crate::error::ApiError;
use crate::runs::FoundLog;
use crate::stream::{Encoder, Feed, response, response_of};

/// Which run is meant.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Which {
    /// Run ids are the clients': the thread tells apart what one used twice.
    thread_id: Option<String>,
    /// What the client reads; without it, what the request that started the run could read.
    protocol_version: Option<String>,
}

/// Goes on after `Last-Event-ID`, or shows the present and goes on from there.
pub(crate) async fn join(
    State(app): State<Arc<App>>,
    Caller(user): Caller,
    Segment(run_id): Segment,
    Params(which): Params<Which>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let binding = negotiate(&headers)?;
    app.ready().await?;
    let thread = which.thread_id.as_deref();
    let after = position(&headers, &run_id);
    let (joined, started_in) = enter(&app, &user, &run_id, thread, after).await?;
    let version = which.protocol_version.as_deref();
    let dialect = version.map_or(started_in, |version| Dialect::of(Some(version)));
    let encoder = Encoder { binding, dialect };
    if after.is_some_and(|after| joined.reader.log().ends_at(after))
        && let Some(found) = app.runs.find(&user, &run_id, thread)
    {
        let follower = Follower {
            thread: found.thread,
            read: Arc::clone(joined.reader.log()),
            encoder,
            app: Arc::clone(&app),
            user,
        };
        if follower.is_awaited().await {
            return Ok(response_of(follower.into_stream(), binding));
        }
    }
    let feed = Feed::joined(joined, encoder, app.heartbeat);
    Ok(response(feed, binding))
}

/// A reader of the run, and the dialect that the run was asked for in.
async fn enter(
    app: &App,
    user: &str,
    run_id: &str,
    thread: Option<&str>,
    after: Option<u64>,
) -> Result<(Joined, Dialect), ApiError> {
    let Some(found) = app.runs.find(user, run_id, thread) else {
        let log = recorded(app, user, run_id, thread).await?;
        return Ok((whole(log.read()), Dialect::V1));
    };
    let joined = match found.log {
        FoundLog::Starting(entrance) => {
            let entered = entrance.await;
            whole(entered.unwrap_or_else(|_| Err(ApiError::internal()))?)
        }
        // A run that has ended is shown as its thread stands now, not as it stood at its end. One that
        // only opened its thread is recorded nowhere.
        FoundLog::Here(log) if log.has_ended() && after.is_none() => {
            match recorded(app, user, run_id, thread).await {
                Ok(recorded) => whole(recorded.read()),
                Err(_) => log.join(None),
            }
        }
        FoundLog::Here(log) => log.join(after),
    };
    Ok((joined, found.dialect))
}

fn whole(reader: Reader) -> Joined {
    let prelude = Vec::new();
    Joined { prelude, reader }
}

/// The sequence number in `Last-Event-ID: <run>:<number>`; anything else is no position of this run.
fn position(headers: &HeaderMap, run_id: &str) -> Option<u64> {
    let id = str::from_utf8(headers.get("last-event-id")?.as_bytes()).ok()?;
    let (run, number) = id.rsplit_once(':')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let number = number.parse().ok().filter(|_| is_number && run == run_id);
    // No run has as many events.
    number.filter(|number| *number < u64::MAX)
}

/// What the store has of a run: snapshots of its thread, and the run's ending.
async fn recorded(
    app: &App,
    user: &str,
    run_id: &str,
    thread: Option<&str>,
) -> Result<Arc<RunLog>, ApiError> {
    let store = app.runtime.store();
    let Some(run) = store.run(user, run_id, thread).await? else {
        return Err(ApiError::not_found("run"));
    };
    if run.status == RunStatus::Running {
        return Err(ApiError::elsewhere());
    }
    let agent = app.agents.get(&run.agent).ok().map(|agent| &**agent);
    let log = app.runtime.recorded(agent, &run).await?;
    log.ok_or_else(|| ApiError::not_found("run"))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn only_a_position_of_this_run_counts() {
        let judge = |id: &[u8], run: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("last-event-id", HeaderValue::from_bytes(id).unwrap());
            position(&headers, run)
        };
        assert_eq!(judge(b"r1:7", "r1"), Some(7));
        assert_eq!(judge(b"a:b:7", "a:b"), Some(7));
        assert_eq!(judge("läuft:7".as_bytes(), "läuft"), Some(7));
        for id in [
            "",
            "r1",
            "r1:",
            "r1:x",
            "r1:-1",
            "r1:+1",
            "r1: 1",
            "r2:7",
            "7",
            ":7",
            "r1:7:7",
            "r1:99999999999999999999999",
        ] {
            assert_eq!(judge(id.as_bytes(), "r1"), None, "{id}");
        }
        assert_eq!(judge(b"r1\xff:7", "r1"), None);
        assert_eq!(position(&HeaderMap::new(), "r1"), None);
    }
}
