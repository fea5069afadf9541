//! `antiphon chat` with an agent of another server that asks with a form, or for an approval in
//! its own words.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;
#[path = "support/tmux.rs"]
mod tmux;

use std::sync::{Arc, Mutex};

use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use support::Home;
use tmux::Terminal;

type Requests = Arc<Mutex<Vec<Value>>>;

/// What the agent wants to know.
fn form() -> Value {
    json!({
        "type": "object",
        "required": ["seat", "bags"],
        "properties": {
            "seat": { "type": "string", "title": "Your seat", "enum": ["aisle", "window"] },
            "bags": { "type": "integer", "description": "how many" },
            "note": { "type": "string" },
        },
    })
}

fn seat() -> Value {
    json!({
        "id": "i1", "reason": "input_required", "message": "Which seat?\u{1b}[2J", "responseSchema": form(),
    })
}

/// An approval whose answer is the decision under this name, and nothing else.
fn decision(name: &str) -> Value {
    let schema = json!({
        "type": "object",
        "required": [name],
        "properties": { name: { "type": "boolean" } },
        "additionalProperties": false,
    });
    json!({ "id": "i1", "reason": "tool_call", "message": "Delete it?", "responseSchema": schema })
}

/// The events of a run: a question at first, then thanks for its answer.
fn events(request: &Value, interrupt: &Value) -> Vec<Value> {
    let (thread, run) = (&request["threadId"], &request["runId"]);
    let started = json!({ "type": "RUN_STARTED", "threadId": thread, "runId": run });
    let mut finished = json!({ "type": "RUN_FINISHED", "threadId": thread, "runId": run });
    if request["resume"].is_null() {
        finished["outcome"] = json!({ "type": "interrupt", "interrupts": [interrupt] });
        return vec![started, finished];
    }
    vec![
        started,
        json!({ "type": "TEXT_MESSAGE_START", "messageId": "m1", "role": "assistant" }),
        json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": "m1", "delta": "Thank you." }),
        json!({ "type": "TEXT_MESSAGE_END", "messageId": "m1" }),
        finished,
    ]
}

async fn serve(interrupt: Value) -> (String, Requests) {
    let requests = Requests::default();
    let taken = Arc::clone(&requests);
    let answer = move |Json(request): Json<Value>| async move {
        let events = events(&request, &interrupt);
        taken.lock().unwrap().push(request);
        let frames = events.iter().map(|event| format!("data: {event}\n\n"));
        (
            [("content-type", "text/event-stream")],
            frames.collect::<String>(),
        )
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/agent", listener.local_addr().unwrap());
    let app = Router::new().route("/agent", post(answer));
    tokio::spawn(async move { axum::serve(listener, app).await });
    (url, requests)
}

fn resumed(requests: &Requests) -> Value {
    let requests = requests.lock().unwrap();
    let request = requests
        .iter()
        .rev()
        .find(|request| !request["resume"].is_null());
    request.unwrap()["resume"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_is_asked_field_by_field() {
    let (url, requests) = serve(seat()).await;
    let home = Home::new();
    let terminal = Terminal::start(&home, "", &["chat", &url]);
    terminal.line("a flight");
    let screen = terminal.ends_with("Your seat [1 aisle, 2 window] >");
    assert!(screen.contains("? Which seat?[2J"), "{screen}");
    terminal.line("cockpit");
    terminal.shows("it must be one of these");
    terminal.line("2");
    terminal.ends_with("bags, how many (a whole number) >");
    terminal.key("Enter");
    terminal.shows("this is needed");
    terminal.line("two");
    terminal.shows("it must be a whole number");
    terminal.line("2");
    terminal.ends_with("note (may stay empty) >");
    terminal.key("Enter");
    terminal.shows("Thank you.");
    let payload = json!({ "seat": "window", "bags": 2 });
    assert_eq!(
        resumed(&requests),
        json!([{ "interruptId": "i1", "status": "resolved", "payload": payload }])
    );
    terminal.line(":threads");
    terminal.shows("does not tell which threads it keeps");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_is_given_up_with_ctrl_d() {
    let (url, requests) = serve(seat()).await;
    let home = Home::new();
    let terminal = Terminal::start(&home, "", &["chat", &url]);
    terminal.line("a flight");
    terminal.ends_with("Your seat [1 aisle, 2 window] >");
    terminal.key("C-d");
    terminal.shows("Thank you.");
    assert_eq!(
        resumed(&requests),
        json!([{ "interruptId": "i1", "status": "cancelled" }])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reason_that_the_agent_does_not_take_is_not_asked_for() {
    for name in ["approved", "accepted"] {
        let (url, requests) = serve(decision(name)).await;
        let home = Home::new();
        let terminal = Terminal::start(&home, "", &["chat", &url]);
        terminal.line("delete it");
        terminal.ends_with("y approves, n declines, c cancels >");
        terminal.line("n");
        terminal.shows("Thank you.");
        assert_eq!(
            resumed(&requests),
            json!([{ "interruptId": "i1", "status": "resolved", "payload": { name: false } }])
        );
    }
}
