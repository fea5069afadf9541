//! What the agent writes is in the application.

use antiphon::prelude::*;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use tower::ServiceExt;

async fn answer(app: &axum::Router, request: Request<Body>) -> String {
    let response = app.clone().oneshot(request).await.unwrap();
    let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    String::from_utf8(body.to_vec()).unwrap()
}

#[tokio::test]
async fn the_agent_and_the_application_share_their_notes() {
    let app = crate::app().unwrap();
    let input = json!({
        "threadId": "t1", "runId": "r1", "protocolVersion": "1.0",
        "messages": [{ "id": "m1", "role": "user", "content": "Buy eggs" }],
    });
    let run = Request::post("/api/agents/secretary")
        .header("host", "127.0.0.1")
        .header("content-type", "application/json")
        .body(Body::from(input.to_string()))
        .unwrap();
    let events = answer(&app, run).await;
    assert!(events.contains("RUN_FINISHED"), "{events}");
    let notes = Request::get("/notes").body(Body::empty()).unwrap();
    assert_eq!(answer(&app, notes).await, r#"["Buy eggs"]"#);
}
