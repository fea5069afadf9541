//! `GET /openapi.json` and `GET /docs`: what the server answers, for programs and for people.

use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};

use crate::openapi;

/// The description as JSON.
pub(crate) async fn document() -> Response {
    ([(CONTENT_TYPE, "application/json")], openapi::document()).into_response()
}

/// The description as a page.
pub(crate) async fn page() -> Response {
    let page = openapi::page();
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, page.policy.as_str()),
        (REFERRER_POLICY, "no-referrer"),
    ];
    (headers, page.html.clone()).into_response()
}
