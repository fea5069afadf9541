//! The server as a part of an axum application.
#![cfg(feature = "server")]
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use antiphon::prelude::*;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::{Router, routing::get};
use tower::ServiceExt;

/// Add two numbers.
#[tool]
fn add(a: i32, b: i32) -> i32 {
    a + b
}

fn app() -> Router {
    let turns = json!({ "pace": 0, "turns": [
        { "calls": [{ "tool": "add", "arguments": { "a": 2, "b": 3 } }] },
        { "when": { "after_tool": "add" }, "say": "It is {{result}}." },
    ] });
    let script: Script = serde_json::from_value(turns).unwrap();
    let agent = Agent::new("sums")
        .model(ScriptModel::new("sums", script))
        .tools(add);
    Router::new()
        .route("/", get(async || "home"))
        .nest("/api", antiphon::router(Server::new([agent])).unwrap())
}

async fn answer(request: Request<Body>) -> (StatusCode, String) {
    let response = app().oneshot(request).await.unwrap();
    let status = response.status();
    let body = axum::body::to_bytes(response.into_body(), 1 << 20)
        .await
        .unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn a_nested_server_plays_runs_below_its_prefix() {
    let input = json!({
        "threadId": "t1", "runId": "r1", "protocolVersion": "1.0",
        "messages": [{ "id": "m1", "role": "user", "content": "2 + 3?" }],
    });
    let request = Request::post("/api/agents/sums")
        .header("host", "127.0.0.1")
        .header("content-type", "application/json")
        .header("accept", "text/event-stream")
        .body(Body::from(input.to_string()))
        .unwrap();
    let (status, events) = answer(request).await;
    assert_eq!(status, StatusCode::OK, "{events}");
    assert!(events.contains(r#""delta":"It is 5.""#), "{events}");
    assert!(events.contains(r#""type":"RUN_FINISHED""#), "{events}");
}

#[tokio::test]
async fn the_applications_own_routes_stay_its_own() {
    let request = Request::get("/").body(Body::empty()).unwrap();
    assert_eq!(answer(request).await, (StatusCode::OK, "home".to_owned()));
}
