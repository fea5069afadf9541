//! Coming back to a run.

use std::sync::Arc;
use std::time::Duration;

use crate::support::client::{Event, kinds, raw, spoken};
use crate::support::model::{Parrot, puppet};
use crate::support::{Running, agent, input, until};
use antiphon_agent::OnDisconnect;
use antiphon_agent::clock::SystemClock;
use antiphon_agent::store::MemoryStore;
use antiphon_server::{Limits, Server};
use serde_json::json;

async fn after(server: &Running, run: &str, id: &str) -> Vec<Event> {
    let path = format!("/runs/{run}/events");
    let mut answer = server.get_with(&path, &[("last-event-id", id)]).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), "text/event-stream");
    answer.events().await
}

#[tokio::test]
async fn from_every_position_exactly_the_rest_follows() {
    let words = "one two three four five six seven eight nine ten";
    let server = Running::start(Server::new([agent(Parrot::new(words))])).await;
    let whole = server
        .post("/", &input("t1", "r1", "count"))
        .await
        .events()
        .await;
    for (index, event) in whole.iter().enumerate() {
        let rest = after(&server, "r1", event.id.as_deref().unwrap()).await;
        assert_eq!(raw(&rest), raw(&whole[index + 1..]), "after {:?}", event.id);
    }
}

#[tokio::test]
async fn a_reader_that_was_cut_at_any_event_goes_on_live() {
    let (model, strings) = puppet();
    let agent = agent(model).on_disconnect(OnDisconnect::Detach);
    let server = Running::start(Server::new([agent])).await;
    for cut in 1..=8 {
        let run = format!("r{cut}");
        let body = input("t1", &run, "hi");
        let mut watched = server.post("/", &body).await;
        let mut first = server.post("/", &body).await;
        let call = strings.call().await;
        let mut seen = Vec::new();
        // RUN_STARTED comes by itself, each word brings an event, the first one two.
        let mut said = 0;
        while seen.len() < cut {
            if seen.len() + 1 > 1 + said + usize::from(said > 0) {
                call.say("word ");
                said += 1;
            }
            seen.push(first.next().await.unwrap());
        }
        drop(first);
        let last = seen.last().unwrap().id.clone().unwrap();
        let path = format!("/runs/{run}/events?threadId=t1");
        let mut again = server.get_with(&path, &[("last-event-id", &last)]).await;
        call.say("end");
        call.finish();
        seen.extend(again.events().await);
        assert_eq!(raw(&seen), raw(&watched.events().await), "cut after {cut}");
    }
}

#[tokio::test]
async fn without_a_position_the_present_is_shown_and_the_rest_follows() {
    let (model, strings) = puppet();
    let server = Running::start(Server::new([agent(model)])).await;
    let mut first = server.post("/", &input("t1", "r1", "hi")).await;
    let call = strings.call().await;
    call.say("Half ");
    first.up_to("TEXT_MESSAGE_CONTENT").await;

    let mut joined = server.get("/runs/r1/events").await;
    let shown = joined.up_to("TEXT_MESSAGE_START").await;
    assert_eq!(
        kinds(&shown),
        [
            "RUN_STARTED",
            "STATE_SNAPSHOT",
            "MESSAGES_SNAPSHOT",
            "TEXT_MESSAGE_START"
        ]
    );
    call.say("and half");
    call.finish();
    let rest = joined.events().await;
    assert_eq!(rest.last().unwrap().kind(), "RUN_FINISHED");
    let id = |events: &[Event]| events.last().unwrap().id.clone();
    assert_eq!(id(&rest), id(&first.events().await));
    assert!(spoken(&rest).ends_with("and half"), "{}", raw(&rest));
}

#[tokio::test]
async fn what_is_no_position_of_the_run_shows_the_present() {
    let server = Running::start(Server::new([agent(Parrot::new("done"))])).await;
    let whole = server
        .post("/", &input("t1", "r1", "hi"))
        .await
        .events()
        .await;
    server
        .post("/", &input("t2", "r2", "hi"))
        .await
        .events()
        .await;
    for id in [
        "garbage",
        "r2:2",
        "r1:",
        "r1:x",
        "r1:-1",
        "r1:999",
        "r1:18446744073709551615",
        ":2",
    ] {
        let shown = after(&server, "r1", id).await;
        assert_eq!(
            kinds(&shown),
            [
                "RUN_STARTED",
                "STATE_SNAPSHOT",
                "MESSAGES_SNAPSHOT",
                "RUN_FINISHED"
            ],
            "{id}"
        );
        assert_eq!(shown[0]["threadId"], "t1");
        assert_eq!(shown.last().unwrap().data, whole.last().unwrap().data);
    }
}

#[tokio::test]
async fn what_restates_a_run_that_has_ended_is_no_position_of_it() {
    let server = Running::start(Server::new([agent(Parrot::new("one two three"))])).await;
    let body = input("t1", "r1", "hi");
    server.post("/", &body).await.events().await;
    let restated = [
        server.get("/runs/r1/events").await.events().await,
        server.post("/", &body).await.events().await,
        after(&server, "r1", "garbage").await,
    ];
    for shown in restated {
        let last = shown.last().unwrap();
        assert_eq!(last.kind(), "RUN_FINISHED");
        for event in &shown[..shown.len() - 1] {
            assert_eq!(event.id.as_deref(), Some("r1:0"), "{}", event.data);
        }
        // Whoever goes on after the end, wherever it was told, has nothing left to read but the present.
        let rest = after(&server, "r1", last.id.as_deref().unwrap()).await;
        assert!(
            rest.is_empty() || kinds(&rest)[..2] == ["RUN_STARTED", "STATE_SNAPSHOT"],
            "{}",
            raw(&rest)
        );
    }
}

#[tokio::test]
async fn a_thread_tells_apart_a_run_id_that_was_used_twice() {
    let server = Running::start(Server::new([agent(Parrot::new("done"))])).await;
    for thread in ["t1", "t2"] {
        server
            .post("/", &input(thread, "r1", "hi"))
            .await
            .events()
            .await;
    }
    let thread = async |query: &str| {
        let path = format!("/runs/r1/events{query}");
        server.get(&path).await.events().await[0]["threadId"].clone()
    };
    assert_eq!(thread("?threadId=t1").await, "t1");
    assert_eq!(thread("?threadId=t2").await, "t2");
    assert_eq!(thread("").await, "t2", "the newest counts");
    let mut unknown = server.get("/runs/r1/events?threadId=t3").await;
    unknown.refusal(404, "not_found").await;
}

#[tokio::test]
async fn a_run_that_ended_before_a_restart_is_answered_from_the_store() {
    let store = Arc::new(MemoryStore::new(Arc::new(SystemClock)));
    let server = || Server::new([agent(Parrot::new("Kept."))]).shared_store(store.clone());
    let first = Running::start(server()).await;
    let whole = first
        .post("/", &input("t1", "r1", "hi"))
        .await
        .events()
        .await;
    first.stopped().await;

    let second = Running::start(server()).await;
    for id in ["r1:2", "r1:999", ""] {
        let shown = after(&second, "r1", id).await;
        assert_eq!(
            kinds(&shown),
            [
                "RUN_STARTED",
                "STATE_SNAPSHOT",
                "MESSAGES_SNAPSHOT",
                "RUN_FINISHED"
            ]
        );
        assert_eq!(shown[2]["messages"][1]["content"], "Kept.");
        assert_eq!(shown.last().unwrap().data, whole.last().unwrap().data);
    }
    second
        .get("/runs/nobody/events")
        .await
        .refusal(404, "not_found")
        .await;
}

#[tokio::test]
async fn a_log_is_kept_for_a_while_and_then_the_store_answers() {
    let limits = Limits {
        kept_time: Duration::from_millis(100),
        ..Limits::default()
    };
    let server = Server::new([agent(Parrot::new("a b c"))]).limits(limits);
    let server = Running::start(server).await;
    let whole = server
        .post("/", &input("t1", "r1", "hi"))
        .await
        .events()
        .await;
    assert_eq!(raw(&after(&server, "r1", "r1:2").await), raw(&whole[2..]));
    until("the log is gone", async || {
        after(&server, "r1", "r1:2").await[0].kind() == "RUN_STARTED"
    })
    .await;
}

#[tokio::test]
async fn only_so_many_logs_are_kept() {
    let limits = Limits {
        kept_runs: 2,
        ..Limits::default()
    };
    let server = Server::new([agent(Parrot::new("a b c"))]).limits(limits);
    let server = Running::start(server).await;
    for run in ["r1", "r2", "r3"] {
        server
            .post("/", &input(run, run, "hi"))
            .await
            .events()
            .await;
    }
    // The task of a run ends a moment after its stream.
    until("the oldest log is gone", async || {
        after(&server, "r1", "r1:2").await[0].kind() == "RUN_STARTED"
    })
    .await;
    for run in ["r2", "r3"] {
        let rest = after(&server, run, &format!("{run}:2")).await;
        assert_eq!(rest[0].kind(), "TEXT_MESSAGE_CONTENT", "{run}");
    }
}

#[tokio::test]
async fn a_reader_that_comes_back_reads_the_dialect_that_the_run_was_started_in() {
    let server = Running::start(Server::new([agent(Parrot::new("a b"))])).await;
    let mut body = input("t1", "r1", "hi");
    body["protocolVersion"] = json!(null);
    let whole = server.post("/", &body).await.events().await;
    let last_but_one = whole[whole.len() - 2].id.clone().unwrap();
    assert_eq!(
        raw(&after(&server, "r1", &last_but_one).await),
        raw(&whole[whole.len() - 1..])
    );
    let path = "/runs/r1/events?protocolVersion=1.0";
    let shown = server.get(path).await.events().await;
    assert_eq!(shown[0]["protocolVersion"], "1.0");
}

#[tokio::test]
async fn events_of_a_run_can_be_had_as_protobuf_too() {
    let server = Running::start(Server::new([agent(Parrot::new("a b"))])).await;
    server
        .post("/", &input("t1", "r1", "hi"))
        .await
        .events()
        .await;
    let accept = [("accept", antiphon_protocol::proto::MEDIA_TYPE)];
    let mut answer = server.get_with("/runs/r1/events", &accept).await;
    assert_eq!(
        answer.header("content-type"),
        antiphon_protocol::proto::MEDIA_TYPE
    );
    assert!(!answer.bytes().await.is_empty());
    let mut refused = server
        .get_with("/runs/r1/events", &[("accept", "image/png")])
        .await;
    refused.refusal(406, "not_acceptable").await;
}
