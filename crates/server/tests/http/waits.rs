//! Results that other systems deliver.

use std::sync::Arc;
use std::time::Duration;

use antiphon_agent::clock::SystemClock;
use antiphon_agent::store::{Early, MemoryStore, Store, ThreadKey};
use antiphon_agent::{Delivery, OnDisconnect, Tool};
use antiphon_server::{Server, StaticTokens, Waits};
use serde_json::{Value, json};

use crate::support::client::Answer;
use crate::support::model::{Strings, puppet};
use crate::support::{Running, agent, input, until};

async fn server() -> (Running, Strings) {
    let tokens = StaticTokens::new()
        .user("a", "alice")
        .and_then(|tokens| tokens.service("s", "kyc"))
        .unwrap();
    let (model, strings) = puppet();
    let verify = Tool::external_wait("verify", "kyc.verify", Started);
    let agent = agent(model)
        .tools(verify)
        .on_disconnect(OnDisconnect::Detach);
    let server = Server::new([agent]).authenticator(tokens);
    (Running::start(server).await, strings)
}

/// Another system that is done before its caller knows that it has begun.
struct Hasty(Waits);

impl antiphon_agent::Handler for Hasty {
    fn call<'a>(
        &'a self,
        _: Value,
        run: antiphon_agent::RunContext<'a>,
    ) -> antiphon_agent::BoxFuture<'a, Result<antiphon_agent::ToolOutput, antiphon_agent::ToolError>>
    {
        Box::pin(async move {
            let wait = run.wait_id().unwrap();
            let done = || Delivery::Complete(json!("verified"));
            for _ in 0..3 {
                self.0.deliver(wait, done(), "kyc").await.unwrap();
            }
            let other = Delivery::Complete(json!("refused"));
            let refused = self.0.deliver(wait, other, "kyc").await.unwrap_err();
            assert_eq!(refused.code, "interaction_settled");
            Ok(antiphon_agent::ToolOutput::new(json!("started")))
        })
    }
}

#[tokio::test]
async fn a_client_that_has_read_all_of_a_run_follows_it_across_its_wait() {
    let (model, strings) = puppet();
    let waits = Waits::new();
    let agent = agent(model).tools(Tool::external_wait("verify", "kyc.verify", Started));
    let server = Server::new([agent]).waits(waits.clone());
    let server = Running::start(server.heartbeat(Duration::from_millis(50))).await;
    let mut run = server.post("/", &input("t1", "r1", "verify me")).await;
    strings.call().await.use_tool("c1", "verify", "{}");
    let events = run.events().await;
    let wait = events
        .iter()
        .find(|event| event.kind() == "CUSTOM")
        .unwrap();
    let id = wait["value"]["pendingAction"]["id"].as_str().unwrap();
    let last = events.last().unwrap().id.clone().unwrap();
    let position = [("last-event-id", last.as_str())];
    let mut followed = server.get_with("/runs/r1/events", &position).await;
    for _ in 0..2 {
        assert_eq!(followed.block().await.unwrap(), ": keep-alive\n\n");
    }
    let done = Delivery::Complete(json!("verified"));
    waits.deliver(id, done, "kyc").await.unwrap();
    let call = strings.call().await;
    call.say("You are verified.");
    call.finish();
    let events = followed.events().await;
    assert_eq!(events[0].kind(), "RUN_STARTED");
    assert_eq!(events.last().unwrap()["outcome"]["type"], "success");
    let last = events.last().unwrap().id.clone().unwrap();
    let position = [("last-event-id", last.as_str())];
    let mut over = server.get_with("/runs/r1/events", &position).await;
    assert!(
        over.events().await.is_empty(),
        "there is nothing to wait for"
    );
}

#[tokio::test]
async fn a_result_that_comes_before_the_run_waits_is_taken_when_it_does() {
    let (model, strings) = puppet();
    let waits = Waits::new();
    let verify = Tool::external_wait("verify", "kyc.verify", Hasty(waits.clone()));
    let agent = agent(model).tools(verify);
    let server = Running::start(Server::new([agent]).waits(waits)).await;
    let mut run = server.post("/", &input("t1", "r1", "verify me")).await;
    strings.call().await.use_tool("c1", "verify", "{}");
    let ending = run.events().await.pop().unwrap();
    assert_eq!(ending["result"]["status"], "in_progress");
    let call = strings.call().await;
    call.say("You are verified.");
    call.finish();
    until("the run went on", async || {
        let mut session = server.get("/sessions/t1/messages").await;
        session.text().await.contains("You are verified.")
    })
    .await;
    assert!(!strings.is_called().await, "the result counts once");
}

#[tokio::test]
async fn a_result_that_was_kept_is_taken_after_a_restart() {
    let store = Arc::new(MemoryStore::new(Arc::new(SystemClock)));
    let start = |model| {
        let agent = agent(model).tools(Tool::external_wait("verify", "kyc.verify", Started));
        Running::start(Server::new([agent]).shared_store(store.clone()))
    };
    let (model, strings) = puppet();
    let first = start(model).await;
    let mut run = first.post("/", &input("t1", "r1", "verify me")).await;
    strings.call().await.use_tool("c1", "verify", "{}");
    run.events().await;
    first.stopped().await;
    let key = ThreadKey::new("local", "t1");
    let wait = store.thread(&key).await.unwrap().unwrap().interactions[0]
        .id
        .clone();
    let early = Early {
        delivery: Delivery::Complete(json!("verified")),
        by: "kyc".to_owned(),
    };
    store.keep_early(&wait, early).await.unwrap();
    let (model, strings) = puppet();
    let _second = start(model).await;
    strings.call().await.finish();
}

struct Started;

impl antiphon_agent::Handler for Started {
    fn call<'a>(
        &'a self,
        _: Value,
        _: antiphon_agent::RunContext<'a>,
    ) -> futures_util::future::BoxFuture<
        'a,
        Result<antiphon_agent::ToolOutput, antiphon_agent::ToolError>,
    > {
        Box::pin(async { Ok(antiphon_agent::ToolOutput::new(json!("started"))) })
    }
}

async fn post(server: &Running, token: &str, path: &str, body: &Value) -> Answer {
    let bearer = format!("Bearer {token}");
    server
        .post_with(path, body, &[("authorization", &bearer)])
        .await
}

#[tokio::test]
async fn a_delivered_result_lets_the_run_go_on_and_its_events_can_be_followed() {
    let (server, strings) = server().await;
    let mut run = post(&server, "a", "/", &input("t1", "r1", "verify me")).await;
    strings.call().await.use_tool("c1", "verify", "{}");
    let events = run.events().await;
    let wait = events
        .iter()
        .find(|event| event.kind() == "CUSTOM")
        .unwrap();
    let id = wait["value"]["pendingAction"]["id"].as_str().unwrap();
    let path = format!("/external-waits/{id}/complete");

    let mut shown = input("t1", "r2", "");
    shown["messages"] = json!([]);
    let opened = post(&server, "a", "/", &shown).await.events().await;
    let response = &events.last().unwrap()["result"]["responseId"];
    assert!(response.is_string());
    assert_eq!(&opened.last().unwrap()["result"]["responseId"], response);

    post(&server, "a", &path, &json!({ "result": 1 }))
        .await
        .refusal(403, "forbidden")
        .await;
    let error = post(&server, "s", &path, &json!({}))
        .await
        .refusal(400, "invalid_input")
        .await;
    assert_eq!(error["field"], "result");
    let mut unknown = post(
        &server,
        "s",
        "/external-waits/zz/complete",
        &json!({ "result": 1 }),
    )
    .await;
    unknown.refusal(404, "interaction_unknown").await;

    let result = json!({ "result": { "level": 7 } });
    let taken = post(&server, "s", &path, &result).await;
    assert_eq!(taken.status, 200);
    let call = strings.call().await;
    let bearer = [("authorization", "Bearer a")];
    let mut followed = server.get_with("/runs/r1/events", &bearer).await;
    call.say("All set.");
    call.finish();
    let events = followed.events().await;
    assert_eq!(events.last().unwrap()["outcome"]["type"], "success");

    assert_eq!(
        post(&server, "s", &path, &result).await.status,
        200,
        "the same again"
    );
    post(&server, "s", &path, &json!({ "result": 8 }))
        .await
        .refusal(409, "interaction_settled")
        .await;
    let path = format!("/external-waits/{id}/fail");
    let failed = json!({ "code": "x", "message": "y" });
    post(&server, "s", &path, &failed)
        .await
        .refusal(409, "interaction_settled")
        .await;
    assert!(!strings.is_called().await);
    until("the thread is free", async || {
        let mut session = server.get_with("/sessions/t1/messages", &bearer).await;
        session.text().await.contains("All set.")
    })
    .await;
}
