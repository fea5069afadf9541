//! Runs that are stopped.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use antiphon_client::Ended;
use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Path, State},
    http::{StatusCode, header},
    response::IntoResponse,
    routing::post,
};
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use support::{
    client, kinds,
    raw::{End, Reply, Server},
    read,
    stream::{frames, numbered, started},
};
use tokio::sync::Notify;

/// A server that runs until it is stopped.
struct Stoppable {
    url: String,
    stop: Arc<Stop>,
}

#[derive(Default)]
struct Stop {
    asked: Notify,
    was_asked: AtomicBool,
}

impl Stoppable {
    async fn start() -> Self {
        let stop = Arc::new(Stop::default());
        let app = Router::new()
            .route("/agents/a", post(run))
            .route("/runs/{run}/cancel", post(cancel))
            .with_state(stop.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/agents/a", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { url, stop }
    }
}

async fn cancel(State(stop): State<Arc<Stop>>, Path(_run): Path<String>) -> StatusCode {
    stop.was_asked.store(true, Ordering::SeqCst);
    stop.asked.notify_one();
    StatusCode::ACCEPTED
}

async fn run(State(stop): State<Arc<Stop>>, body: Bytes) -> impl IntoResponse {
    let input: Value = serde_json::from_slice(&body).unwrap();
    let ids = json!({"threadId": input["threadId"], "runId": input["runId"]});
    let event = |kind: &str, more: Value| {
        let mut event = ids.clone();
        event["type"] = json!(kind);
        event
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        event
    };
    let started = event("RUN_STARTED", json!({"protocolVersion": "1.0"}));
    let finished = event("RUN_FINISHED", json!({"outcome": {"type": "cancelled"}}));
    let first = stream::iter([Ok::<_, std::io::Error>(numbered(&[started], 0))]);
    let last = stream::once(async move {
        stop.asked.notified().await;
        Ok(numbered(&[finished], 1))
    });
    (
        [(header::CONTENT_TYPE, "text/event-stream")],
        Body::from_stream(first.chain(last)),
    )
}

#[tokio::test]
async fn a_server_that_keeps_runs_is_asked_to_stop_and_says_so() {
    let server = Stoppable::start().await;
    let mut thread = client(&server.url).thread("t1");
    let mut run = thread.send("go").await.unwrap();
    run.next().await.unwrap();
    assert_eq!(run.cancel().await.unwrap(), Ended::Cancelled);
    assert!(server.stop.was_asked.load(Ordering::SeqCst));
}

#[tokio::test]
async fn a_run_is_stopped_from_elsewhere_while_it_is_read() {
    let server = Stoppable::start().await;
    let mut thread = client(&server.url).thread("t1");
    let mut run = thread.send("go").await.unwrap();
    run.next().await.unwrap();
    let canceller = run.canceller();
    let stopping = tokio::spawn(async move { canceller.cancel().await });
    let (events, error) = read(&mut run).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(kinds(&events), ["RUN_FINISHED"]);
    assert_eq!(run.end().unwrap(), Ended::Cancelled);
    assert!(stopping.await.unwrap().unwrap());
}

#[tokio::test]
async fn elsewhere_the_run_is_left() {
    for numbers in [true, false] {
        let mut server = Server::answering(move |_, request| {
            if request.starts_with("POST /runs/") {
                return Reply::new("404 Not Found", "");
            }
            let events = [started(request)];
            let body = if numbers {
                numbered(&events, 0)
            } else {
                frames(&events)
            };
            Reply::stream(body).end(End::Hang)
        })
        .await;
        let mut thread = client(&server.url).thread("t1");
        let mut run = thread.send("go").await.unwrap();
        run.next().await.unwrap();
        assert_eq!(run.cancel().await.unwrap(), Ended::Cancelled);
        server.is_left().await;
        let asked = server.requests().len() - 1;
        assert_eq!(
            asked,
            usize::from(numbers),
            "only a server that numbers its events has runs to stop"
        );
    }
}
