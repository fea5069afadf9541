//! What every request passes before a handler sees it: the `Host`, the site it comes from, and the
//! headers that every answer carries.

pub(crate) mod accept;
pub(crate) mod body;
pub(crate) mod host;
pub(crate) mod site;

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use http::{HeaderMap, HeaderValue, Method, header};

use crate::app::App;
use crate::error::ApiError;
use crate::metrics::{Counted, route_of};
use crate::routes::starts_runs;
use site::Site;

/// Stands in front of all API routes.
pub(crate) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let route = route_of(request.method(), request.extensions().get::<MatchedPath>());
    let admitted = admit(&app, &request);
    let (mut response, origin) = match admitted {
        Ok(site) if is_preflight(&request) => (site::preflight(&site), site.allowed()),
        Ok(site) => (answer(next.run(request)).await, site.allowed()),
        Err(refused) => (refused.into_response(), None),
    };
    let headers = response.headers_mut();
    if !app.origins.is_empty() {
        headers.append(header::VARY, HeaderValue::from_static("origin"));
    }
    if let Some(origin) = origin {
        site::expose(headers, origin);
    }
    secure(headers);
    app.metrics.answered(route, response.status());
    response.map(|body| Body::new(Counted::new(body, app.metrics.sent())))
}

/// A handler's answer; a bug that makes it panic is answered too.
async fn answer(handled: impl Future<Output = Response>) -> Response {
    let caught = AssertUnwindSafe(handled).catch_unwind().await;
    caught.unwrap_or_else(|_| {
        tracing::error!("a request could not be answered: a bug made it panic");
        ApiError::internal().into_response()
    })
}

/// Stands in front of pages that were mounted beside the API: a name that a stranger points at this
/// machine is refused there too.
pub(crate) async fn guard_page(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Response {
    match app.hosts.check(&request) {
        Ok(()) => next.run(request).await,
        Err(refused) => {
            let mut response = refused.into_response();
            secure(response.headers_mut());
            response
        }
    }
}

fn admit(app: &App, request: &Request) -> Result<Site, ApiError> {
    let path = request.extensions().get::<MatchedPath>();
    if app.runs.is_draining()
        && request.method() == Method::POST
        && path.is_some_and(|path| starts_runs(path.as_str()))
    {
        return Err(ApiError::draining());
    }
    app.hosts.check(request)?;
    let called = host::called(request);
    app.origins
        .check(request.method(), called, request.headers())
}

fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ORIGIN)
        && request
            .headers()
            .contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

fn secure(headers: &mut HeaderMap) {
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
}
