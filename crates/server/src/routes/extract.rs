//! Parts of a request's target, refused in the same shape as everything else.

use antiphon_protocol::MAX_ID_BYTES;
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequestParts, Query, RawPathParams};
use http::StatusCode;
use http::request::Parts;
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

    async fn from_request_parts(head: &mut Parts, state: &S) -> Result<Self, ApiError> {
        Query::from_request_parts(head, state)
            .await
            .map(|Query(params)| Self(params))
            .map_err(|rejection: QueryRejection| {
                let message = rejection.body_text();
                ApiError::new(StatusCode::BAD_REQUEST, "invalid_query", message)
            })
    }
}
