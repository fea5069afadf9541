//! What becomes of a run when its readers leave, and stopping one.

use std::time::{Duration, Instant};

use crate::support::client::{kinds, spoken};
use crate::support::model::{Parrot, puppet};
use crate::support::store::Faulty;
use crate::support::{Running, agent, input, until};
use antiphon_agent::{Handler, OnDisconnect, RunContext, Tool, ToolError, ToolOutput};
use antiphon_server::Server;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

const A_SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn when_the_last_reader_leaves_the_run_is_cancelled_within_a_second() {
    let (model, strings) = puppet();
    let server = Running::start(Server::new([agent(model)])).await;
    let body = input("t1", "r1", "hi");
    let mut first = server.post("/", &body).await;
    let second = server.post("/", &body).await;
    let call = strings.call().await;
    call.say("Once upon ");
    first.up_to("TEXT_MESSAGE_CONTENT").await;
    drop(second);
    call.say("a time");
    first.up_to("TEXT_MESSAGE_CONTENT").await;
    assert!(!call.is_dropped(), "one reader was left");

    let left = Instant::now();
    drop(first);
    call.dropped().await;
    assert!(left.elapsed() < A_SECOND, "{:?}", left.elapsed());
    let mut events = server.get("/runs/r1/events").await;
    let ending = events.events().await.pop().unwrap();
    assert_eq!(ending["outcome"]["type"], "cancelled");

    let next = server.post("/", &input("t1", "r2", "and now?")).await;
    assert_eq!(next.status, 200, "the thread is free");
}

#[tokio::test]
async fn a_detached_run_goes_on_without_readers_and_is_stored() {
    let (model, strings) = puppet();
    let agent = agent(model).on_disconnect(OnDisconnect::Detach);
    let server = Running::start(Server::new([agent])).await;
    let mut first = server.post("/", &input("t1", "r1", "hi")).await;
    let call = strings.call().await;
    call.say("Half ");
    first.up_to("TEXT_MESSAGE_CONTENT").await;
    drop(first);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!call.is_dropped());
    call.say("and half");
    call.finish();
    let events = server.get("/runs/r1/events").await.events().await;
    assert_eq!(events.last().unwrap()["outcome"]["type"], "success");
    let mut messages = server.get("/sessions/t1/messages").await;
    assert_eq!(
        messages.json().await["messages"][1]["content"],
        "Half and half"
    );
}

#[tokio::test]
async fn a_client_that_leaves_while_its_run_is_accepted_has_left_it() {
    let (model, _strings) = puppet();
    let store = Faulty::new();
    let server = Server::new([agent(model)]).shared_store(store.clone());
    let server = Running::start(server).await;
    store.hold_claims();
    let body = input("t1", "r1", "hi");
    tokio::select! {
        _ = server.post("/", &body) => panic!("the claim was held"),
        () = until("a claim waits", async || store.is_waited_for()) => {}
    }
    // The server hears of it at once, but there is nothing to see yet that would tell.
    tokio::time::sleep(Duration::from_millis(100)).await;
    store.let_pass();
    until("the run is recorded as cancelled", async || {
        let mut cancelled = server.post("/runs/r1/cancel", &json!({})).await;
        cancelled.status == 200 && cancelled.json().await["status"] == "cancelled"
    })
    .await;
    let events = server.get("/runs/r1/events").await.events().await;
    assert_eq!(events[0].kind(), "RUN_STARTED");
    assert_eq!(events.last().unwrap()["outcome"]["type"], "cancelled");
}

#[tokio::test]
async fn a_run_is_stopped_within_a_second_and_nothing_new_starts() {
    let (model, strings) = puppet();
    let server = Running::start(Server::new([agent(model)])).await;
    let mut run = server.post("/", &input("t1", "r1", "hi")).await;
    let call = strings.call().await;
    call.say("Once upon ");
    run.up_to("TEXT_MESSAGE_CONTENT").await;

    let asked = Instant::now();
    let mut answer = server.post("/runs/r1/cancel", &json!({})).await;
    assert_eq!(answer.status, 202);
    assert_eq!(
        answer.json().await,
        json!({ "runId": "r1", "threadId": "t1", "status": "cancelling" })
    );
    let rest = run.events().await;
    assert!(asked.elapsed() < A_SECOND, "{:?}", asked.elapsed());
    assert_eq!(kinds(&rest), ["TEXT_MESSAGE_END", "RUN_FINISHED"]);
    assert_eq!(rest[1]["outcome"]["type"], "cancelled");
    assert!(call.is_dropped());

    for _ in 0..2 {
        let mut again = server.post("/runs/r1/cancel", &json!({})).await;
        assert_eq!(again.status, 200);
        assert_eq!(again.json().await["status"], "cancelled");
    }
    let mut next = server.post("/", &input("t1", "r2", "next")).await;
    strings.call().await.finish();
    assert_eq!(
        next.events().await.last().unwrap()["outcome"]["type"],
        "success"
    );
}

/// A tool that never ends by itself and tells when it begins and when it is dropped.
struct Endless(UnboundedSender<&'static str>);

struct Dropped(UnboundedSender<&'static str>);

impl Drop for Dropped {
    fn drop(&mut self) {
        let _ = self.0.send("dropped");
    }
}

impl Handler for Endless {
    fn call<'a>(
        &'a self,
        _: Value,
        _: RunContext<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async {
            let _ = self.0.send("began");
            let _dropped = Dropped(self.0.clone());
            std::future::pending().await
        })
    }
}

#[tokio::test]
async fn a_tool_that_runs_is_dropped_when_its_run_is_stopped() {
    let (events, mut happened) = tokio::sync::mpsc::unbounded_channel();
    let (model, strings) = puppet();
    let server = Server::new([agent(model).tools(Tool::server("wait", Endless(events)))]);
    let server = Running::start(server).await;
    let mut run = server.post("/", &input("t1", "r1", "hi")).await;
    strings.call().await.use_tool("c1", "wait", "{}");
    assert_eq!(crate::support::within(happened.recv()).await, Some("began"));
    let asked = Instant::now();
    assert_eq!(server.post("/runs/r1/cancel", &json!({})).await.status, 202);
    assert_eq!(
        crate::support::within(happened.recv()).await,
        Some("dropped")
    );
    let ending = run.events().await.pop().unwrap();
    assert_eq!(ending["outcome"]["type"], "cancelled");
    assert!(asked.elapsed() < A_SECOND, "{:?}", asked.elapsed());
}

#[tokio::test]
async fn a_run_can_be_stopped_while_it_is_accepted() {
    let (model, strings) = puppet();
    let store = Faulty::new();
    let server = Server::new([agent(model)]).shared_store(store.clone());
    let server = Running::start(server).await;
    store.hold_claims();
    let stop = async {
        until("a claim waits", async || store.is_waited_for()).await;
        let answer = server.post("/runs/r1/cancel?threadId=t1", &json!({})).await;
        assert_eq!(answer.status, 202);
        store.let_pass();
    };
    let body = input("t1", "r1", "hi");
    let (mut run, ()) = tokio::join!(server.post("/", &body), stop);
    let events = run.events().await;
    assert_eq!(events[0].kind(), "RUN_STARTED");
    assert_eq!(events.last().unwrap()["outcome"]["type"], "cancelled");
    assert!(!strings.is_called().await);
}

#[tokio::test]
async fn stopping_what_is_over_says_how_it_ended_and_what_never_was_is_not_found() {
    let server = Running::start(Server::new([agent(Parrot::new("done"))])).await;
    let events = server
        .post("/", &input("t1", "r1", "hi"))
        .await
        .events()
        .await;
    assert_eq!(spoken(&events), "done");
    let mut answer = server.post("/runs/r1/cancel", &json!({})).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json().await["status"], "finished");
    for path in ["/runs/nobody/cancel", "/runs/r1/cancel?threadId=t2"] {
        server
            .post(path, &json!({}))
            .await
            .refusal(404, "not_found")
            .await;
    }
    let mut opened = input("t1", "r2", "");
    opened["messages"] = json!([]);
    server.post("/", &opened).await.events().await;
    let mut answer = server.post("/runs/r2/cancel", &json!({})).await;
    assert_eq!(answer.json().await["status"], "finished");
}
