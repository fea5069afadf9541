//! A small, deterministic AG-UI 1.0 server. It behaves, or breaks one rule: see [`Fault`].

mod agents;
mod faults;

pub(crate) use faults::Fault;

use antiphon_protocol::{Dialect, Event, RunAgentInput, proto};
use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::{DefaultBodyLimit, Path, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// A running server. It ends with the test's runtime.
pub(crate) struct Reference {
    pub(crate) base: String,
}

impl Reference {
    /// Starts one on a port of its own.
    pub(crate) async fn start(fault: Option<Fault>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let app = Router::new()
            .route("/{agent}", post(run).fallback(method))
            .route("/health", get(|| async { "ok" }))
            .fallback(move |State(fault)| async move { refuse(fault, 404, "no such agent") })
            .layer(DefaultBodyLimit::max(4 << 20))
            .with_state(fault);
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { base }
    }

    /// The URL of an agent.
    pub(crate) fn url(&self, agent: &str) -> String {
        format!("{}/{agent}", self.base)
    }
}

async fn method(State(fault): State<Option<Fault>>) -> Response {
    let mut response = refuse(fault, 405, "use POST");
    let allow = header::HeaderValue::from_static("POST");
    response.headers_mut().insert(header::ALLOW, allow);
    response
}

fn refuse(fault: Option<Fault>, status: u16, message: &str) -> Response {
    let status = StatusCode::from_u16(status).unwrap();
    if fault == Some(Fault::ErrorHtml) {
        let page = format!("<h1>{message}</h1>");
        return (status, [(header::CONTENT_TYPE, "text/html")], page).into_response();
    }
    let body = json!({ "error": { "code": "refused", "message": message } });
    (status, Json(body)).into_response()
}

async fn run(
    State(fault): State<Option<Fault>>,
    Path(agent): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if !agents::is_known(&agent) {
        return refuse(fault, 404, "no such agent");
    }
    let value: Value = match serde_json::from_slice(&body) {
        Ok(value) => value,
        Err(error) => return refuse(fault, 400, &format!("malformed JSON: {error}")),
    };
    let input = match RunAgentInput::read(value) {
        Ok(read) => read.value,
        Err(_) if fault == Some(Fault::LenientInput) => RunAgentInput::new("t", "r", []),
        Err(error) => return refuse(fault, 422, &error.to_string()),
    };
    let accept = headers
        .get(header::ACCEPT)
        .and_then(|accept| accept.to_str().ok());
    let proto = accept
        .is_some_and(|accept| accept.contains(proto::MEDIA_TYPE) && !accept.contains(";q=0,"));
    stream_of(fault, &agent, &input, proto)
}

fn stream_of(fault: Option<Fault>, agent: &str, input: &RunAgentInput, proto: bool) -> Response {
    let mut events = agents::run(agent, input);
    if input.protocol_version.is_none() && fault != Some(Fault::NoDowngrade) {
        events = events.into_iter().filter_map(downgrade).collect();
    }
    let events = match fault {
        Some(fault) => fault.rewrite(events, input),
        None => events,
    };
    let frames: Vec<Vec<u8>> = events
        .iter()
        .enumerate()
        .map(|(index, event)| match fault {
            Some(fault) if !proto => fault.frame(index, event),
            _ if proto => proto_frame(event),
            _ => format!("data: {event}\n\n").into_bytes(),
        })
        .collect();
    let kind = match (fault, proto) {
        (Some(Fault::JsonContentType), _) => "application/json",
        (_, true) => proto::MEDIA_TYPE,
        (_, false) => "text/event-stream",
    };
    let body = if fault == Some(Fault::Buffered) {
        Body::from(frames.concat())
    } else {
        // A pause between the events, so that they arrive one by one.
        Body::from_stream(stream::unfold(frames.into_iter(), |mut frames| async {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            let frame = frames.next()?;
            Some((Ok::<_, std::io::Error>(frame), frames))
        }))
    };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, body).into_response()
}

fn proto_frame(event: &Value) -> Vec<u8> {
    let read = Event::read(event.clone()).unwrap();
    read.value
        .map(|event| proto::frame(&event).to_vec())
        .unwrap_or_default()
}

fn downgrade(event: Value) -> Option<Value> {
    let event = Event::read(event).unwrap().value?;
    let started = matches!(event, Event::RunStarted(_));
    let mut event = serde_json::to_value(Dialect::V0.translate(event)?).unwrap();
    if started {
        event["protocolVersion"] = json!("1.0");
    }
    Some(event)
}
