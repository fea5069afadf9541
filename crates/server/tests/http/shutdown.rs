//! An orderly end.

use std::time::{Duration, Instant};

use antiphon_agent::OnDisconnect;
use antiphon_server::Server;
use serde_json::json;

use crate::support::model::puppet;
use crate::support::store::Faulty;
use crate::support::{Running, agent, input, until};

#[tokio::test]
async fn runs_at_work_get_their_time_and_no_new_ones_start() {
    let (model, strings) = puppet();
    let server = Server::new([agent(model)]).drain(Duration::from_secs(5));
    let mut server = Running::start(server).await;
    let mut run = server.post("/", &input("t1", "r1", "hi")).await;
    let call = strings.call().await;
    server.shut_down();
    until("new runs are refused", async || {
        server.post("/", &input("t2", "r2", "hi")).await.status == 503
    })
    .await;
    for path in ["/", "/agui", "/agents/echo"] {
        let mut refused = server.post(path, &input("t2", "r2", "hi")).await;
        refused.refusal(503, "draining").await;
        assert!(!refused.header("retry-after").is_empty());
    }
    server.get("/readyz").await.refusal(503, "draining").await;
    assert_eq!(server.get("/healthz").await.status, 200);
    let mut joined = server.get("/runs/r1/events").await;
    call.say("the last word");
    call.finish();
    let ending = run.events().await.pop().unwrap();
    assert_eq!(ending["outcome"]["type"], "success");
    assert_eq!(joined.events().await.pop().unwrap().kind(), "RUN_FINISHED");
    server.stopped().await;
}

#[tokio::test]
async fn runs_that_take_longer_are_cancelled_and_recorded_and_their_streams_end() {
    let (model, strings) = puppet();
    let store = Faulty::new();
    let detached = agent(model).on_disconnect(OnDisconnect::Detach);
    let server = Server::new([detached])
        .drain(Duration::from_millis(200))
        .shared_store(store.clone());
    let mut server = Running::start(server).await;
    let mut watched = server.post("/", &input("t1", "r1", "hi")).await;
    let call = strings.call().await;
    call.say("Half a ");
    watched.up_to("TEXT_MESSAGE_CONTENT").await;
    let alone = server.post("/", &input("t2", "r2", "hi")).await;
    let _unheard = strings.call().await;
    drop(alone);

    let told = Instant::now();
    server.shut_down();
    let ending = watched.events().await.pop().unwrap();
    assert_eq!(ending["outcome"]["type"], "cancelled");
    server.stopped().await;
    assert!(
        told.elapsed() < Duration::from_secs(2),
        "{:?}",
        told.elapsed()
    );

    let (model, _strings) = puppet();
    let again = Server::new([agent(model)]).shared_store(store);
    let again = Running::start(again).await;
    for run in ["r1", "r2"] {
        let mut answer = again.post(&format!("/runs/{run}/cancel"), &json!({})).await;
        assert_eq!(answer.json().await["status"], "cancelled", "{run}");
    }
}

#[tokio::test]
async fn a_server_without_runs_stops_at_once() {
    let (model, _strings) = puppet();
    let server = Running::start(Server::new([agent(model)])).await;
    assert_eq!(server.get("/healthz").await.status, 200);
    let told = Instant::now();
    server.stopped().await;
    assert!(
        told.elapsed() < Duration::from_secs(1),
        "{:?}",
        told.elapsed()
    );
}
