//! The body of an event stream.

use std::time::{Duration, Instant};

use antiphon_agent::OnDisconnect;
use antiphon_protocol::proto;
use antiphon_server::{Limits, Server};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::support::client::{kinds, raw, spoken};
use crate::support::model::{Parrot, puppet};
use crate::support::{Running, agent, input, until, within};

#[tokio::test]
async fn nothing_on_the_way_may_hold_a_stream_back_keep_it_or_change_it() {
    let (model, strings) = puppet();
    let server = Running::start(Server::new([agent(model)])).await;
    let asked = Instant::now();
    let headers = [("accept-encoding", "gzip, br")];
    let mut answer = server
        .post_with("/", &input("t1", "r1", "hi"), &headers)
        .await;
    assert_eq!(answer.next().await.unwrap().kind(), "RUN_STARTED");
    assert!(asked.elapsed() < Duration::from_millis(200));
    for (name, value) in [
        ("content-type", "text/event-stream"),
        ("cache-control", "no-cache, no-transform"),
        ("x-accel-buffering", "no"),
        ("x-content-type-options", "nosniff"),
        ("content-encoding", ""),
        ("content-length", ""),
    ] {
        assert_eq!(answer.header(name), value, "{name}");
    }
    strings.call().await.finish();
    answer.events().await;
}

#[tokio::test]
async fn silence_is_broken_by_comments_between_events_and_never_after_the_end() {
    let (model, strings) = puppet();
    let server = Server::new([agent(model)]).heartbeat(Duration::from_millis(50));
    let server = Running::start(server).await;
    let mut answer = server.post("/", &input("t1", "r1", "hi")).await;
    assert!(answer.block().await.unwrap().contains("RUN_STARTED"));
    for _ in 0..3 {
        assert_eq!(answer.block().await.unwrap(), ": keep-alive\n\n");
    }
    let call = strings.call().await;
    call.say("word");
    let events = answer.up_to("TEXT_MESSAGE_CONTENT").await;
    assert_eq!(spoken(&events), "word");
    assert_eq!(answer.block().await.unwrap(), ": keep-alive\n\n");
    call.finish();
    let mut blocks = Vec::new();
    while let Some(block) = answer.block().await {
        blocks.push(block);
    }
    assert!(
        blocks.last().unwrap().contains("RUN_FINISHED"),
        "{blocks:?}"
    );
}

#[tokio::test]
async fn while_events_come_no_comment_does() {
    let (model, strings) = puppet();
    let server = Server::new([agent(model)]).heartbeat(Duration::from_secs(1));
    let server = Running::start(server).await;
    let mut answer = server.post("/", &input("t1", "r1", "hi")).await;
    let call = strings.call().await;
    for _ in 0..13 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        call.say("word ");
    }
    call.finish();
    let text = answer.text().await;
    assert!(!text.contains(": keep-alive"), "{text}");
}

#[tokio::test]
async fn a_client_without_a_version_is_sent_only_what_0_x_can_read() {
    let (model, strings) = puppet();
    let tool = json!([{ "name": "paint", "description": "", "parameters": { "type": "object" } }]);
    let server = Running::start(Server::new([agent(model)])).await;
    for (version, thread) in [(json!("1.0"), "t1"), (json!(null), "t0")] {
        let mut body = input(thread, "r1", "hi");
        body["tools"] = tool.clone();
        body["protocolVersion"] = version.clone();
        let mut answer = server.post("/", &body).await;
        strings.call().await.use_tool("c1", "paint", "{}");
        let events = answer.events().await;
        let ending = &events.last().unwrap().data;
        if version.is_null() {
            assert!(
                ending["outcome"].get("pendingToolCallIds").is_none(),
                "{ending}"
            );
        } else {
            assert_eq!(
                ending["outcome"]["pendingToolCallIds"]
                    .as_array()
                    .unwrap()
                    .len(),
                1
            );
        }
        let ids: Vec<_> = events.iter().map(|event| event.id.clone()).collect();
        let numbered: Vec<_> = (1..=events.len())
            .map(|n| Some(format!("r1:{n}")))
            .collect();
        assert_eq!(ids, numbered, "re-encoded events keep their positions");
    }
}

#[tokio::test]
async fn a_cancelled_run_has_no_outcome_for_0_x() {
    let (model, strings) = puppet();
    let server = Running::start(Server::new([agent(model)])).await;
    let mut body = input("t1", "r1", "hi");
    body["protocolVersion"] = json!(null);
    let mut answer = server.post("/", &body).await;
    let _call = strings.call().await;
    server.post("/runs/r1/cancel", &json!({})).await;
    let ending = answer.events().await.pop().unwrap();
    assert_eq!(ending.kind(), "RUN_FINISHED");
    assert!(ending.get("outcome").is_none());
}

#[tokio::test]
async fn protobuf_carries_the_same_events_in_frames() {
    let server = Running::start(Server::new([agent(Parrot::new("one two three"))])).await;
    let accept = [("accept", proto::MEDIA_TYPE)];
    let mut answer = server
        .post_with("/", &input("t1", "r1", "hi"), &accept)
        .await;
    assert_eq!(answer.header("content-type"), proto::MEDIA_TYPE);
    let mut decoder = proto::Decoder::new(1 << 20);
    decoder.push(&answer.bytes().await);
    decoder.finish();
    let mut events = Vec::new();
    while let Some(event) = decoder.next_event() {
        events.push(event.unwrap().event.unwrap());
    }
    let plain = server
        .post("/", &input("t2", "r1", "hi"))
        .await
        .events()
        .await;
    let types: Vec<&str> = events.iter().map(|event| event.kind().as_str()).collect();
    assert_eq!(types, kinds(&plain));
}

#[tokio::test]
async fn two_readers_get_the_same_bytes() {
    let (model, strings) = puppet();
    let server = Running::start(Server::new([agent(model)])).await;
    let body = input("t1", "r1", "hi");
    let mut first = server.post("/", &body).await;
    let call = strings.call().await;
    let mut second = server.post("/", &body).await;
    for _ in 0..20 {
        call.say("word ");
    }
    call.finish();
    let (first, second) = tokio::join!(first.events(), second.events());
    assert_eq!(raw(&first), raw(&second));
}

/// Connects with a receive buffer of a few kilobytes and asks for a run, then reads nothing.
async fn stalled(server: &Running, thread: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(server.address).await.unwrap();
    let body = input(thread, "r1", "hi").to_string();
    let head = format!(
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn a_reader_that_stalls_holds_up_nobody_and_is_cut_off() {
    let (model, strings) = puppet();
    let limits = Limits {
        write_time: Duration::from_secs(2),
        ..Limits::default()
    };
    let agent = agent(model).on_disconnect(OnDisconnect::Detach);
    let server = Running::start(Server::new([agent]).limits(limits)).await;
    let mut lazy = stalled(&server, "t1").await;
    let call = strings.call().await;
    let mut eager = server.post("/", &input("t1", "r1", "hi")).await;
    // More than the log keeps, and more than sockets buffer.
    let word = "x".repeat(64 << 10);
    let mut events = Vec::new();
    for _ in 0..160 {
        call.say(&word);
        events.extend(eager.up_to("TEXT_MESSAGE_CONTENT").await);
    }
    call.finish();
    events.extend(eager.events().await);
    assert_eq!(spoken(&events).len(), 160 * word.len());

    // What was sent before is still in the buffers; then comes no end but a cut.
    let mut read = Vec::new();
    let ended = within(lazy.read_to_end(&mut read)).await;
    let text = String::from_utf8_lossy(&read);
    assert!(!text.contains("RUN_FINISHED"), "{ended:?}");
    assert!(
        !text.ends_with("0\r\n\r\n"),
        "the body must not look complete"
    );
    let events = server.get("/runs/r1/events").await.events().await;
    assert_eq!(events.last().unwrap()["outcome"]["type"], "success");
}

#[tokio::test]
async fn a_reader_that_falls_behind_the_log_is_cut_off_rather_than_sent_a_gap() {
    let (model, strings) = puppet();
    let server = Running::start(Server::new([agent(model)])).await;
    let mut lazy = stalled(&server, "t1").await;
    let call = strings.call().await;
    let mut eager = server.post("/", &input("t1", "r1", "hi")).await;
    let word = "x".repeat(64 << 10);
    for _ in 0..240 {
        call.say(&word);
        eager.up_to("TEXT_MESSAGE_CONTENT").await;
    }
    call.finish();
    eager.events().await;
    let mut read = Vec::new();
    let _ = within(lazy.read_to_end(&mut read)).await;
    let text = String::from_utf8_lossy(&read);
    assert!(text.contains("RUN_STARTED"));
    assert!(
        !text.contains("RUN_FINISHED"),
        "it skipped what the log no longer has"
    );
    assert!(
        !text.ends_with("0\r\n\r\n"),
        "the body must not look complete"
    );
}

#[tokio::test]
async fn a_run_that_everybody_left_does_not_keep_its_connections() {
    let (model, strings) = puppet();
    let limits = Limits {
        connections: 2,
        ..Limits::default()
    };
    let server = Running::start(Server::new([agent(model)]).limits(limits)).await;
    let first = server.post("/", &input("t1", "r1", "hi")).await;
    let second = server.post("/", &input("t2", "r2", "hi")).await;
    strings.call().await;
    let third = server.get("/healthz");
    let waited = tokio::time::timeout(Duration::from_millis(100), third).await;
    assert!(waited.is_err(), "there was no place left");
    drop((first, second));
    until("a place is free", async || {
        server.get("/healthz").await.status == 200
    })
    .await;
}
