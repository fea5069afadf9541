//! Parts of a request's target, refused in the same shape as everything else.

use antiphon_protocol::MAX_ID_BYTES;
use axum::extract::{FromRequestParts, Query, RawPathParams};
use http::request::Parts;
use http::{StatusCode, Uri};
use serde::de::DeserializeOwned;

use crate::error::ApiError;

/// The last named segment of the path.
#[derive(Debug)]
pub(crate) struct Segment(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Segment {
    type Rejection = ApiError;

    async fn from_request_parts(head: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let invalid = || {
            let message = "a segment of the path is no text of at most 256 bytes";
            ApiError::new(StatusCode::BAD_REQUEST, "invalid_path", message)
        };
        let params = RawPathParams::from_request_parts(head, state)
            .await
            .map_err(|_| invalid())?;
        let segment = params.iter().last().map(|(_, value)| value);
        match segment {
            Some(value) if value.len() <= MAX_ID_BYTES => Ok(Self(value.to_owned())),
            _ => Err(invalid()),
        }
    }
}

/// The query.
#[derive(Debug)]
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(head: &mut Parts, _: &S) -> Result<Self, ApiError> {
        query(&head.uri).map(Self)
    }
}

/// Reads the query of a target. All of its parameters are optional texts, so that what can't be read is
/// there twice.
pub(crate) fn query<T: DeserializeOwned>(uri: &Uri) -> Result<T, ApiError> {
    let read = Query::try_from_uri(uri);
    read.map(|Query(params)| params).map_err(|_| {
        let name = at_fault::<T>(uri.query().unwrap_or_default());
        let message = format!("{name} is given twice");
        ApiError::invalid("invalid_query", name, message)
    })
}

/// The parameter that can't be read, also without the others.
fn at_fault<T: DeserializeOwned>(query: &str) -> String {
    let pairs = || query.split('&').filter(|pair| !pair.is_empty());
    let mut names = pairs().filter_map(name);
    let alone = |wanted: &str| {
        let own: Vec<&str> = pairs()
            .filter(|pair| name(pair).as_deref() == Some(wanted))
            .collect();
        parse::<T>(&own.join("&"))
    };
    let found = names.find(|name| alone(name).is_none());
    found.unwrap_or_else(|| "the query".to_owned())
}

fn name(pair: &str) -> Option<String> {
    let read: Vec<(String, String)> = parse(pair)?;
    read.into_iter().next().map(|(name, _)| name)
}

fn parse<T: DeserializeOwned>(query: &str) -> Option<T> {
    let uri: Uri = format!("/?{query}").parse().ok()?;
    Query::try_from_uri(&uri).ok().map(|Query(read)| read)
}
