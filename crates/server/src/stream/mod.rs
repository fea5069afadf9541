//! A run's events as the body of a response.

mod encode;
mod feed;

use antiphon_protocol::{proto, sse};
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, header};

pub(crate) use encode::Encoder;
pub(crate) use feed::Feed;

use crate::edge::accept::Binding;

/// The response that carries a feed. Nothing on the way may hold it back, keep it or change it.
pub(crate) fn response(feed: Feed, binding: Binding) -> Response {
    let media_type = match binding {
        Binding::Sse => sse::MEDIA_TYPE,
        Binding::Protobuf => proto::MEDIA_TYPE,
    };
    let headers = [
        (header::CONTENT_TYPE, media_type),
        (header::CACHE_CONTROL, "no-cache, no-transform"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ]
    .map(|(name, value)| (name, HeaderValue::from_static(value)));
    (headers, Body::from_stream(feed.into_stream())).into_response()
}
