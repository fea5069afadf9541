//! Runs whose connection breaks go on where the server numbers its events.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::time::Duration;

use antiphon_client::{Client, Ended, ErrorKind, Rejoin, Timeouts};
use serde_json::{Value, json};
use support::{
    client, kinds,
    raw::{End, Framing, Reply, Server},
    read,
    stream::{finished, header, numbered, saying, started, text},
};

fn quick(url: &str) -> Client {
    client(url).rejoin(Rejoin {
        attempts: 3,
        base: Duration::from_millis(2),
        longest: Duration::from_millis(4),
    })
}

/// Which event a join asks to go on behind.
fn position(request: &str) -> Option<usize> {
    header(request, "last-event-id")?
        .strip_prefix("r:")?
        .parse()
        .ok()
}

fn is_join(request: &str) -> bool {
    request.starts_with("GET ")
}

/// A server that breaks every connection after this many events.
async fn breaking(events: usize, framing: Framing) -> Server {
    Server::answering(move |_, request| {
        let all = saying(request, "one two three four");
        let from = position(request).map_or(0, |position| position + 1);
        let to = (from + events).min(all.len());
        let end = if to == all.len() {
            End::Whole
        } else {
            End::Cut
        };
        let mut body = numbered(&all[from..to], from);
        if end == End::Cut {
            // The beginning of an event that breaks off.
            body.extend_from_slice(b"id: r:99\ndata: {\"type\":\"CUS");
        }
        Reply::stream(body).framing(framing).end(end)
    })
    .await
}

#[tokio::test]
async fn a_run_goes_on_without_a_gap_or_a_repeat_wherever_it_is_cut() {
    for framing in [Framing::Chunked, Framing::Close] {
        for events in 1..8 {
            let server = breaking(events, framing).await;
            let mut thread = quick(&server.url).thread("t1");
            let mut run = thread.send("hi").await.unwrap();
            let (delivered, error) = read(&mut run).await;
            assert!(error.is_none(), "{events}: {error:?}");
            assert_eq!(delivered.len(), 8, "{events}: {:?}", kinds(&delivered));
            assert_eq!(run.end().unwrap(), Ended::Done(None));
            assert_eq!(thread.text(), "one two three four");
            let requests = server.requests();
            assert_eq!(requests.len(), 8_usize.div_ceil(events), "{events}");
            assert!(
                requests.iter().skip(1).all(|request| is_join(request)),
                "a run is started once"
            );
        }
    }
}

#[tokio::test]
async fn whoever_stops_polling_again_and_again_loses_nothing() {
    let server = breaking(2, Framing::Chunked).await;
    let mut thread = quick(&server.url).thread("t1");
    let mut run = thread.send("hi").await.unwrap();
    let mut delivered = Vec::new();
    loop {
        match tokio::time::timeout(Duration::from_micros(300), run.next()).await {
            Err(_) => {}
            Ok(Ok(Some(event))) => delivered.push(event),
            Ok(Ok(None)) => break,
            Ok(Err(error)) => panic!("{error}"),
        }
    }
    assert_eq!(delivered.len(), 8);
    run.end().unwrap();
    assert_eq!(thread.text(), "one two three four");
}

#[tokio::test]
async fn a_server_that_lost_the_position_shows_the_run_anew() {
    let server = Server::answering(|_, request| {
        if !is_join(request) {
            let mut events = vec![started(request)];
            events.extend(text("m1", "half of wh"));
            events.pop();
            return Reply::stream(numbered(&events, 0)).end(End::Cut);
        }
        let mut events = vec![
            started(request),
            json!({"type": "STATE_SNAPSHOT", "snapshot": {"seen": true}}),
            json!({"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "u", "role": "user", "content": "hi"}]}),
        ];
        events.extend(text("m1", "half of what there is"));
        events.push(finished(request, &json!({})));
        Reply::stream(numbered(&events, 50))
    })
    .await;
    let mut thread = quick(&server.url).thread("t1");
    thread.send("hi").await.unwrap().finish().await.unwrap();
    assert_eq!(thread.text(), "half of what there is");
    assert_eq!(thread.state(), &json!({"seen": true}));
    assert_eq!(thread.messages().len(), 2);
}

#[tokio::test]
async fn a_server_that_keeps_no_runs_leaves_it_truncated() {
    for status in [
        "404 Not Found",
        "405 Method Not Allowed",
        "200 OK\r\ncontent-type: text/html",
    ] {
        let server = Server::answering(move |_, request| {
            if is_join(request) {
                return Reply::new(status, "");
            }
            Reply::stream(numbered(&[started(request)], 0)).end(End::Cut)
        })
        .await;
        let mut thread = quick(&server.url).thread("t1");
        let error = thread.send("hi").await.unwrap().finish().await.unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Truncated, "{status}: {error}");
        assert_eq!(server.requests().len(), 2, "{status}");
    }
}

#[tokio::test]
async fn a_server_without_ids_is_not_asked_for_runs() {
    let server = Server::answering(|_, request| {
        Reply::stream(format!("data: {}\n\n", started(request))).end(End::Cut)
    })
    .await;
    let mut thread = quick(&server.url).thread("t1");
    let error = thread.send("hi").await.unwrap().finish().await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Truncated);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn what_passes_is_tried_again_and_not_for_ever() {
    let server = Server::answering(|_, request| {
        if is_join(request) {
            return Reply::new("503 Service Unavailable", "draining");
        }
        Reply::stream(numbered(&[started(request)], 0)).end(End::Cut)
    })
    .await;
    let mut thread = quick(&server.url).thread("t1");
    let error = thread.send("hi").await.unwrap().finish().await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Truncated);
    assert_eq!(server.requests().len(), 1 + 3);
}

#[tokio::test]
async fn connections_that_bring_nothing_new_are_not_made_for_ever() {
    let server = Server::answering(|_, request| {
        let events: &[Value] = if is_join(request) {
            &[]
        } else {
            &[started(request)]
        };
        Reply::stream(numbered(events, 0)).end(End::Cut)
    })
    .await;
    let mut thread = quick(&server.url).thread("t1");
    let error = thread.send("hi").await.unwrap().finish().await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Truncated);
    assert_eq!(server.requests().len(), 1 + 3);
}

#[tokio::test]
async fn a_silent_connection_is_made_again_too() {
    let server = Server::answering(|_, request| {
        let all = saying(request, "Hello");
        if is_join(request) {
            return Reply::stream(numbered(&all[2..], 2));
        }
        Reply::stream(numbered(&all[..2], 0)).end(End::Hang)
    })
    .await;
    let timeouts = Timeouts {
        idle: Duration::from_millis(400),
        ..Timeouts::default()
    };
    let mut thread = quick(&server.url).timeouts(timeouts).thread("t1");
    thread.send("hi").await.unwrap().finish().await.unwrap();
    assert_eq!(thread.text(), "Hello");
}

#[tokio::test]
async fn a_run_can_be_joined_by_its_id() {
    let server = Server::answering(|_, request| {
        let all = saying(request, "Hello");
        let from = position(request).map_or(0, |position| position + 1);
        Reply::stream(numbered(&all[from..], from))
    })
    .await;
    let mut thread = quick(&server.url).thread("t1");
    let mut run = thread.join("r1").await.unwrap();
    while run.next().await.unwrap().is_some() {}
    assert_eq!(run.last_event_id(), Some("r:4"));
    run.end().unwrap();
    assert_eq!(thread.text(), "Hello");
    assert!(server.requests()[0].starts_with("GET /runs/r1/events?threadId=t1 HTTP/1.1"));
}

#[tokio::test]
async fn a_run_is_joined_where_the_application_says_it_is() {
    let server = breaking(3, Framing::Chunked).await;
    let base = server.url.replace("/agents/a", "/");
    let client = quick(&server.url.replace("/agents/a", "/deep/down/agent"));
    let mut thread = client.runs_url(base).unwrap().thread("t1");
    thread.send("hi").await.unwrap().finish().await.unwrap();
    assert_eq!(thread.text(), "one two three four");
}
