//! `resource/request` at the single endpoint: the calls about threads, wrapped up in one body.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{StatusCode, Uri};
use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::threads::{self, Part};
use crate::app::App;
use crate::auth::Caller;
use crate::error::ApiError;
use crate::routes::extract::{Segment, query};

/// Answers a call as the path of its own would.
pub(super) async fn answer(
    app: &Arc<App>,
    user: String,
    method: &str,
    path: &str,
    body: Value,
) -> Result<Response, ApiError> {
    let uri: Uri = path.parse().map_err(|_| unreadable("params.path"))?;
    let segments = segments(&uri)?;
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    let answer = match (method, segments.as_slice()) {
        ("GET", ["threads"]) => {
            let which = query(&uri)?;
            threads::listed(app, &user, which).await?
        }
        ("GET", ["threads", id, part]) => {
            let part = match *part {
                "messages" => Part::Messages,
                "state" => Part::State,
                "events" => Part::Events,
                _ => return Err(ApiError::not_found("path")),
            };
            threads::part(app, user, (*id).to_owned(), part).await?
        }
        ("PATCH", ["threads", id]) => {
            let Value::Object(changes) = body else {
                return Err(unreadable("body"));
            };
            threads::renamed(app, user, (*id).to_owned(), changes).await?
        }
        ("DELETE", ["threads", id]) => {
            let id = Segment((*id).to_owned());
            let removed = threads::remove(State(Arc::clone(app)), Caller(user), id).await?;
            return Ok(removed.into_response());
        }
        _ => return Err(ApiError::not_found("path")),
    };
    Ok((StatusCode::OK, Json(answer)).into_response())
}

/// The parts of a path, decoded.
fn segments(uri: &Uri) -> Result<Vec<String>, ApiError> {
    let raw = uri.path().split('/').filter(|segment| !segment.is_empty());
    let decoded = raw.map(|segment| {
        let text = percent_decode_str(segment).decode_utf8();
        text.map(std::borrow::Cow::into_owned)
    });
    decoded
        .collect::<Result<_, _>>()
        .map_err(|_| unreadable("params.path"))
}

fn unreadable(field: &'static str) -> ApiError {
    let message = format!("{field} can't be read");
    ApiError::invalid("invalid_input", field, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_taken_apart_before_it_is_decoded() {
        let uri: Uri = "/threads/a%2Fb%20c/state?agentId=x".parse().unwrap();
        assert_eq!(segments(&uri).unwrap(), ["threads", "a/b c", "state"]);
        let uri: Uri = "/threads/%ff".parse().unwrap();
        assert!(segments(&uri).is_err());
    }
}
