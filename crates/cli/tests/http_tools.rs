//! Tools of a file that are HTTP calls, called by a script and answered by a server on loopback.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::sync::{Arc, Mutex};

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::{Json, Router};
use serde_json::{Value, json};
use support::{Home, Server, input, of, text};

type Asked = Arc<Mutex<Vec<(String, String, HeaderMap, String)>>>;

/// A server that answers as its paths say, and remembers what it was asked.
async fn tools() -> (String, Asked) {
    async fn answer(
        State(asked): State<Asked>,
        method: axum::http::Method,
        Path(path): Path<String>,
        headers: HeaderMap,
        body: String,
    ) -> Response {
        let first = path.split('/').next().unwrap_or_default().to_owned();
        asked
            .lock()
            .unwrap()
            .push((method.to_string(), path, headers, body));
        match first.as_str() {
            "broken" => (StatusCode::INTERNAL_SERVER_ERROR, "a stack trace").into_response(),
            "text" => "plain words".into_response(),
            _ => Json(json!({ "degrees": 21 })).into_response(),
        }
    }
    let asked = Asked::default();
    let router = Router::new()
        .route("/{*path}", any(answer))
        .with_state(Arc::clone(&asked));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (url, asked)
}

/// Serves one agent that calls its tool with these arguments and says the result.
fn serve(tool: &Value, arguments: &Value) -> (Home, Server) {
    let turns = json!([
        { "when": { "after_tool": "*" }, "say": "Result: {{result}}" },
        { "calls": [{ "tool": tool["name"], "id": "call-1", "arguments": arguments }] },
    ]);
    let model = json!({ "provider": "script", "script": { "pace": 0, "turns": turns } });
    let file = json!({ "agents": { "one": { "model": model, "tools": [tool] } } });
    let home = Home::with(&file.to_string());
    let server = home.serve(&["serve", "--listen", "127.0.0.1:0", "--store", "memory"]);
    (home, server)
}

async fn result(tool: &Value, arguments: &Value) -> String {
    let (_home, server) = serve(tool, arguments);
    let run = server
        .run("one", input("thé thread", "r", Some("go")))
        .await;
    assert_eq!(run.last().unwrap()["type"], "RUN_FINISHED");
    text(&run).strip_prefix("Result: ").unwrap().to_owned()
}

#[tokio::test]
async fn a_call_becomes_a_request_and_its_answer_a_result() {
    let (url, asked) = tools().await;
    let http = json!({ "method": "PUT", "url": format!("{url}/weather/{{city}}"), "headers": { "x-key": "k" } });
    let tool = json!({ "name": "weather", "http": http });
    let said = result(&tool, &json!({ "city": "São Paulo/x", "days": 2 })).await;
    assert_eq!(said, r#"{"degrees":21}"#);
    let asked = asked.lock().unwrap();
    let (method, path, headers, body) = &asked[0];
    assert_eq!(
        (method.as_str(), path.as_str()),
        ("PUT", "weather/São Paulo/x")
    );
    assert_eq!(headers["x-key"], "k");
    assert_eq!(headers["idempotency-key"].len(), 64);
    assert_eq!(body, r#"{"city":"São Paulo/x","days":2}"#);
    assert_eq!(asked.len(), 1);
}

#[tokio::test]
async fn text_is_a_result_and_a_refusal_is_an_error_that_tells_its_status_alone() {
    let (url, _) = tools().await;
    let tool = |path: &str| json!({ "name": "t", "http": { "method": "GET", "url": format!("{url}/{path}") } });
    assert_eq!(result(&tool("text"), &json!({})).await, "plain words");
    let failed = result(&tool("broken"), &json!({})).await;
    assert!(
        failed.contains("its server answered with status 500"),
        "{failed}"
    );
    assert!(!failed.contains("stack trace"), "{failed}");
}

#[tokio::test]
async fn an_argument_that_would_climb_out_of_its_path_calls_nothing() {
    let (url, asked) = tools().await;
    let tool =
        json!({ "name": "t", "http": { "method": "GET", "url": format!("{url}/users/{{id}}/x") } });
    let failed = result(&tool, &json!({ "id": ".." })).await;
    assert!(failed.contains("would lead to another path"), "{failed}");
    assert!(asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_private_value_goes_to_its_handler_and_nowhere_else() {
    let (url, asked) = tools().await;
    let form = json!({ "type": "object", "properties": { "token": { "type": "string" } }, "required": ["token"] });
    let deliver = json!({ "http": { "method": "PUT", "url": format!("{url}/vault"), "body": { "value": "{token}" } } });
    let tool = json!({ "name": "provide", "private_input": { "schema": form, "deliver": deliver, "response": "Token stored." } });
    let (_home, server) = serve(&tool, &json!({}));
    let run = server.run("one", input("t", "r1", Some("go"))).await;
    let interrupt = &run.last().unwrap()["outcome"]["interrupts"][0];
    assert_eq!(interrupt["reason"], "private_input");
    let resume = json!([{ "interruptId": interrupt["id"], "status": "resolved", "payload": { "token": "hunter2" } }]);
    let answer = json!({ "threadId": "t", "runId": "r2", "protocolVersion": "1.0", "messages": [], "resume": resume });
    let run = server.run("one", answer).await;
    assert_eq!(text(&run), "Result: Token stored.");
    assert!(!json!(run).to_string().contains("hunter2"));
    assert_eq!(asked.lock().unwrap()[0].3, r#"{"value":"hunter2"}"#);
    assert!(!server.signal("TERM").stderr.contains("hunter2"));
}

#[tokio::test]
async fn an_external_wait_begins_with_its_request() {
    let (url, asked) = tools().await;
    let start = json!({ "http": { "url": format!("{url}/kyc") } });
    let tool = json!({ "name": "verify", "external_wait": { "capability": "kyc.verify", "start": start } });
    let (_home, server) = serve(&tool, &json!({ "person": "p1" }));
    let run = server.run("one", input("t", "r", Some("go"))).await;
    let waits = of(&run, "CUSTOM");
    assert_eq!(waits[0]["name"], "harnest.external_wait");
    assert_eq!(run.last().unwrap()["result"]["status"], "in_progress");
    let asked = asked.lock().unwrap();
    assert_eq!(
        (asked[0].0.as_str(), asked[0].3.as_str()),
        ("POST", r#"{"person":"p1"}"#)
    );
}
