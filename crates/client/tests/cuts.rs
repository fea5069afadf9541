//! Streams that are cut, silent, too long or badly framed.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::time::Duration;

use antiphon_client::{Ended, ErrorKind, Limits, Timeouts};
use serde_json::json;
use support::{
    client, kinds,
    raw::{End, Framing, Reply, Server},
    read,
    stream::{frames, run, saying, started, text},
};

fn quick() -> Timeouts {
    Timeouts {
        idle: Duration::from_millis(400),
        end: Duration::from_millis(400),
        ..Timeouts::default()
    }
}

/// A run of 1.0 with fixed ids, to cut it at fixed places.
fn fixed() -> String {
    r#"POST /x HTTP/1.1

{"threadId":"t1","runId":"any"}"#
        .replace('\n', "\r\n")
}

#[tokio::test]
async fn a_run_cut_at_any_byte_is_truncated_and_keeps_what_came() {
    // Without a version the server does not promise to echo ids, so one body serves all runs.
    let mut events = run(&fixed(), text("m1", "Hello wörld"), &json!({}));
    events[0].as_object_mut().unwrap().remove("protocolVersion");
    let body = frames(&events);
    let whole_at = body.len() - 2;
    for framing in [Framing::Chunked, Framing::Close] {
        let body = body.clone();
        let server = Server::answering(move |at, _| {
            Reply::stream(&body[..at]).framing(framing).end(End::Cut)
        })
        .await;
        let client = client(&server.url);
        for at in 0..=whole_at + 2 {
            let mut thread = client.thread("t1");
            let mut run = thread.send("hi").await.unwrap();
            let (delivered, error) = read(&mut run).await;
            // A last event without its blank line is taken where the body was not seen to break.
            let whole = at >= whole_at + 2 || (framing == Framing::Close && at >= whole_at);
            match error {
                None => assert!(whole, "{at}: a cut run is no success"),
                Some(error) => {
                    assert!(!whole, "{at}: {error}");
                    assert_eq!(error.kind(), &ErrorKind::Truncated, "{at}: {error}");
                    assert_eq!(run.end().unwrap_err().kind(), &ErrorKind::Truncated);
                }
            }
            let words = delivered
                .iter()
                .filter(|event| event.kind().as_str() == "TEXT_MESSAGE_CONTENT");
            assert_eq!(
                thread.text(),
                &"Hello wörld"[..[0, 6, 12][words.count()]],
                "{at}"
            );
        }
    }
}

#[tokio::test]
async fn any_split_of_the_bytes_is_the_same_run() {
    for size in 1..40 {
        let server = Server::answering(move |_, request| {
            Reply::stream(frames(&saying(request, "Hello wörld 🧪"))).pieces_of(size)
        })
        .await;
        let mut thread = client(&server.url).thread("t1");
        let ended = thread.send("hi").await.unwrap().finish().await.unwrap();
        assert_eq!(ended, Ended::Done(None));
        assert_eq!(thread.text(), "Hello wörld 🧪");
    }
}

#[tokio::test]
async fn carriage_returns_comments_and_a_byte_order_mark_are_read() {
    let server = Server::answering(|_, request| {
        let mut body = b"\xEF\xBB\xBF: hello\r\nretry: 10\r\n\r\n".to_vec();
        for event in saying(request, "Hello") {
            body.extend_from_slice(
                format!("event: message\r\ndata: {event}\r\n\r\n: tick\r\n\r\n").as_bytes(),
            );
        }
        Reply::stream(body).pieces_of(7)
    })
    .await;
    let mut thread = client(&server.url).thread("t1");
    thread.send("hi").await.unwrap().finish().await.unwrap();
    assert_eq!(thread.text(), "Hello");
}

#[tokio::test]
async fn an_empty_stream_is_no_success() {
    let server = Server::start([Reply::stream("")]).await;
    let mut thread = client(&server.url).thread("t1");
    let error = thread.send("hi").await.unwrap().finish().await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Truncated);
}

#[tokio::test]
async fn silence_in_the_middle_of_a_run_has_an_end() {
    let server =
        Server::answering(|_, request| Reply::stream(frames(&[started(request)])).end(End::Hang))
            .await;
    let mut thread = client(&server.url).timeouts(quick()).thread("t1");
    let mut run = thread.send("hi").await.unwrap();
    let (events, error) = read(&mut run).await;
    assert_eq!(kinds(&events), ["RUN_STARTED"]);
    assert_eq!(error.unwrap().kind(), &ErrorKind::Timeout);
}

#[tokio::test]
async fn a_server_that_never_answers_has_an_end() {
    let mut server = Server::start([Reply::stream("").end(End::Silent)]).await;
    let mut thread = client(&server.url).timeouts(quick()).thread("t1");
    let error = thread.send("hi").await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Timeout);
    server.is_left().await;
    assert_eq!(thread.messages(), [], "what was not taken was not said");
}

#[tokio::test]
async fn a_run_that_has_ended_does_not_wait_for_its_connection() {
    for end in [End::Hang, End::Cut] {
        let server = Server::answering(move |_, request| {
            Reply::stream(frames(&saying(request, "Hello"))).end(end)
        })
        .await;
        let mut thread = client(&server.url).timeouts(quick()).thread("t1");
        let ended = thread.send("hi").await.unwrap().finish().await.unwrap();
        assert_eq!(ended, Ended::Done(None));
    }
}

#[tokio::test]
async fn a_late_failure_makes_a_finished_run_a_failed_one() {
    let server = Server::answering(|_, request| {
        let mut events = saying(request, "Hello");
        events.push(json!({"type": "RUN_ERROR", "message": "the store is away"}));
        Reply::stream(frames(&events))
    })
    .await;
    let mut thread = client(&server.url).thread("t1");
    let error = thread.send("hi").await.unwrap().finish().await.unwrap_err();
    let kind = ErrorKind::RunFailed {
        code: None,
        message: "the store is away".to_owned(),
    };
    assert_eq!(error.kind(), &kind);
}

#[tokio::test]
async fn earlier_runs_may_be_replayed_before_the_one_that_was_asked_for() {
    let server = Server::answering(|_, request| {
        let earlier = request.replace("\"runId\":\"", "\"runId\":\"earlier-");
        let mut events = saying(&earlier, "before");
        events.extend(saying(request, "now"));
        Reply::stream(frames(&events))
    })
    .await;
    let mut thread = client(&server.url).thread("t1");
    thread.send("hi").await.unwrap().finish().await.unwrap();
    assert_eq!(thread.messages().len(), 3);
    assert_eq!(thread.text(), "now");
}

#[tokio::test]
async fn the_answer_to_another_run_alone_is_refused() {
    let server = Server::answering(|_, request| {
        let other = request.replace("\"runId\":\"", "\"runId\":\"other-");
        Reply::stream(frames(&saying(&other, "not for you")))
    })
    .await;
    let mut thread = client(&server.url).timeouts(quick()).thread("t1");
    let error = thread.send("hi").await.unwrap().finish().await.unwrap_err();
    let rule = antiphon_protocol::Rule::RunId;
    assert_eq!(error.kind(), &ErrorKind::Illegal { rule });
}

#[tokio::test]
async fn an_event_that_is_too_large_is_not_held() {
    let server = Server::answering(|_, request| {
        let huge = json!({"type": "CUSTOM", "name": "x.y", "value": "x".repeat(100_000)});
        Reply::stream(frames(&[started(request), huge]))
    })
    .await;
    let limits = Limits {
        event: 50_000,
        ..Limits::default()
    };
    let mut thread = client(&server.url).limits(limits).thread("t1");
    let mut run = thread.send("hi").await.unwrap();
    let (events, error) = read(&mut run).await;
    assert_eq!(kinds(&events), ["RUN_STARTED"]);
    assert_eq!(error.unwrap().kind(), &ErrorKind::Limit);
}

#[tokio::test]
async fn a_run_that_never_ends_is_given_up() {
    let server = Server::answering(|_, request| {
        let mut events = vec![started(request)];
        events.extend(
            (0..1000).map(|number| json!({"type": "CUSTOM", "name": "x.y", "value": number})),
        );
        Reply::stream(frames(&events)).end(End::Hang)
    })
    .await;
    let limits = Limits {
        run: 10_000,
        ..Limits::default()
    };
    let mut thread = client(&server.url).limits(limits).thread("t1");
    let error = thread.send("hi").await.unwrap().finish().await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Limit);
    assert_eq!(
        error.to_string(),
        "the run's stream is longer than 10000 bytes"
    );
}

#[tokio::test]
async fn nesting_without_end_is_refused_and_not_followed() {
    let server = Server::answering(|_, request| {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let mut body = frames(&[started(request)]);
        body.extend_from_slice(
            format!("data: {{\"type\":\"STATE_SNAPSHOT\",\"snapshot\":{deep}}}\n\n").as_bytes(),
        );
        Reply::stream(body)
    })
    .await;
    let mut thread = client(&server.url).thread("t1");
    let error = thread.send("hi").await.unwrap().finish().await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Malformed);
}

#[tokio::test]
async fn whoever_asks_too_early_is_told() {
    let server =
        Server::answering(|_, request| Reply::stream(frames(&saying(request, "Hello")))).await;
    let mut thread = client(&server.url).thread("t1");
    let mut run = thread.send("hi").await.unwrap();
    run.next().await.unwrap();
    assert_eq!(run.end().unwrap_err().kind(), &ErrorKind::Unread);
}

#[tokio::test]
async fn whoever_leaves_closes_the_connection_and_keeps_what_came() {
    let mut server = Server::answering(|_, request| {
        let mut events = vec![started(request)];
        events.extend(text("m1", "Hello"));
        Reply::stream(frames(&events)).end(End::Hang)
    })
    .await;
    let mut thread = client(&server.url).thread("t1");
    let mut run = thread.send("hi").await.unwrap();
    for _ in 0..4 {
        run.next().await.unwrap();
    }
    drop(run);
    server.is_left().await;
    assert_eq!(thread.text(), "Hello");
}
