//! A run's events as the body of a response.

mod encode;
mod feed;

use std::io;

use antiphon_protocol::{proto, sse};
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::Stream;
use http::{HeaderName, HeaderValue, header};

pub(crate) use encode::{Encoder, decode};
pub(crate) use feed::{Feed, HEARTBEAT};

use crate::edge::accept::Binding;

/// The response that carries a feed. Nothing on the way may hold it back, keep it or change it.
pub(crate) fn response(feed: Feed, binding: Binding) -> Response {
    response_of(feed.into_stream(), binding)
}

/// The same for what a feed comes after.
pub(crate) fn response_of(
    pieces: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
    binding: Binding,
) -> Response {
    let media_type = match binding {
        Binding::Sse => sse::MEDIA_TYPE,
        Binding::Protobuf => proto::MEDIA_TYPE,
    };
    events(media_type, Body::from_stream(pieces))
}

/// The response that carries server-sent events of another vocabulary.
pub(crate) fn sse_response(body: Body) -> Response {
    events(sse::MEDIA_TYPE, body)
}

fn events(media_type: &'static str, body: Body) -> Response {
    let headers = [
        (header::CONTENT_TYPE, media_type),
        (header::CACHE_CONTROL, "no-cache, no-transform"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ]
    .map(|(name, value)| (name, HeaderValue::from_static(value)));
    (headers, body).into_response()
}
