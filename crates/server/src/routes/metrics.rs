//! `GET /metrics`: what the process counts.
//!
//! Like the routes for whatever watches the server it needs no token: there is nothing of a user, a
//! thread or a message in it.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;

use crate::app::App;
use crate::metrics::{self, Gauges};

/// Everything that is counted, as text.
pub(crate) async fn show(State(app): State<Arc<App>>) -> Response {
    let gauges = Gauges {
        active_runs: app.runs.count(),
        readers: app.runs.readers(),
    };
    let text = metrics::text(&app.metrics, gauges);
    ([(CONTENT_TYPE, metrics::CONTENT_TYPE)], text).into_response()
}
