//! What goes out, and what a server's refusal leaves behind.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::time::Duration;

use antiphon_client::{Client, Dialect, Ended, ErrorKind, History, Tool};
use antiphon_protocol::{Message, proto};
use serde_json::{Value, json};
use support::{
    client, json as value,
    raw::{Reply, Server},
    stream::{frames, header, run, saying},
};

/// A server whose every run says "ok" and sets the state.
async fn keeping() -> Server {
    Server::answering(|number, request| {
        let mut events =
            vec![json!({"type": "STATE_SNAPSHOT", "snapshot": {"seen": number, "kept": true}})];
        events.extend(support::stream::text(&format!("m{number}"), "ok"));
        Reply::stream(frames(&run(request, events, &json!({}))))
    })
    .await
}

fn roles(body: &Value) -> Vec<&str> {
    let messages = body["messages"].as_array().unwrap();
    messages
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn a_request_is_what_every_server_understands() {
    let server = keeping().await;
    let mut thread = client(&server.url)
        .thread("t1")
        .tool(Tool::new("noop", "Nothing."));
    thread.set_context("Current page", "/recipes");
    thread.set_context("Current page", "/recipes/1");
    thread.set_forwarded_props(json!({"theme": "dark"}));
    thread.send("hi").await.unwrap().finish().await.unwrap();
    let body = &server.bodies()[0];
    let members: Vec<_> = body.as_object().unwrap().keys().collect();
    assert_eq!(
        members,
        [
            "threadId",
            "runId",
            "protocolVersion",
            "state",
            "messages",
            "tools",
            "context",
            "forwardedProps"
        ]
    );
    assert_eq!(body["protocolVersion"], "1.0");
    assert_eq!(body["state"], json!({}));
    assert_eq!(
        body["tools"],
        json!([{"name": "noop", "description": "Nothing."}])
    );
    assert_eq!(
        body["context"],
        json!([{"description": "Current page", "value": "/recipes/1"}])
    );
    assert_eq!(body["forwardedProps"], json!({"theme": "dark"}));
    let request = &server.requests()[0];
    assert_eq!(
        header(request, "accept").as_deref(),
        Some("text/event-stream")
    );
    assert_eq!(
        header(request, "content-type").as_deref(),
        Some("application/json")
    );
}

#[tokio::test]
async fn the_whole_history_goes_out_by_default() {
    let server = keeping().await;
    let mut thread = client(&server.url).thread("t1");
    thread.send("one").await.unwrap().finish().await.unwrap();
    thread.set_state(json!({"mine": 1}));
    assert_eq!(thread.state(), &json!({"seen": 0, "kept": true, "mine": 1}));
    thread.send("two").await.unwrap().finish().await.unwrap();
    let bodies = server.bodies();
    assert_eq!(roles(&bodies[1]), ["user", "assistant", "user"]);
    assert_eq!(
        bodies[1]["state"],
        json!({"seen": 0, "kept": true, "mine": 1})
    );
    assert_ne!(bodies[0]["runId"], bodies[1]["runId"]);
    assert_eq!(thread.messages().len(), 4);
}

#[tokio::test]
async fn a_server_that_keeps_the_thread_is_sent_what_is_new() {
    let server = keeping().await;
    let mut thread = client(&server.url).history(History::New).thread("t1");
    thread.send("one").await.unwrap().finish().await.unwrap();
    thread.set_state(json!({"mine": {"a": 1}}));
    thread.send("two").await.unwrap().finish().await.unwrap();
    thread.send("three").await.unwrap().finish().await.unwrap();
    let bodies = server.bodies();
    for body in &bodies {
        assert_eq!(roles(body), ["user"]);
    }
    assert_eq!(bodies[1]["state"], json!({"mine": {"a": 1}}));
    assert_eq!(bodies[2]["state"], json!({}));
    assert_eq!(thread.messages().len(), 6);
}

#[tokio::test]
async fn opening_a_thread_sends_nothing_of_it() {
    let server = keeping().await;
    let mut thread = client(&server.url).thread("t1");
    thread.send("one").await.unwrap().finish().await.unwrap();
    thread.set_state(json!({"mine": 1}));
    thread.open().await.unwrap().finish().await.unwrap();
    thread.set_state(json!({"mine": 2}));
    thread.send("two").await.unwrap().finish().await.unwrap();
    let bodies = server.bodies();
    assert_eq!(bodies[1]["messages"], json!([]));
    assert_eq!(bodies[1]["state"], json!({}));
    assert_eq!(bodies[2]["state"]["mine"], 2);
}

#[tokio::test]
async fn a_thread_goes_on_from_what_was_kept_elsewhere() {
    let server = keeping().await;
    let mut first = client(&server.url).thread("t1");
    first.send("one").await.unwrap().finish().await.unwrap();
    let (messages, state) = (first.messages().to_vec(), first.state().clone());
    let mut second = client(&server.url).thread("t1").restore(messages, state);
    second.send("two").await.unwrap().finish().await.unwrap();
    assert_eq!(roles(&server.bodies()[1]), ["user", "assistant", "user"]);
}

#[tokio::test]
async fn a_0_x_server_is_spoken_to_in_its_dialect() {
    let server = Server::answering(|_, request| {
        let mut events = run(
            request,
            vec![
                json!({"type": "REASONING_MESSAGE_CHUNK", "messageId": "r1", "delta": "hm"}),
                json!({"type": "TEXT_MESSAGE_CHUNK", "messageId": "m1", "delta": "ok", "metadata": {"a": 1}}),
            ],
            &json!({"outcome": null, "result": null}),
        );
        events[0].as_object_mut().unwrap().remove("protocolVersion");
        Reply::stream(frames(&events))
    })
    .await;
    let mut thread = client(&server.url).max_protocol(Dialect::V0).thread("t1");
    let ended = thread.send("one").await.unwrap().finish().await.unwrap();
    assert_eq!(ended, Ended::Done(None));
    thread.send("two").await.unwrap().finish().await.unwrap();
    let body = &server.bodies()[1];
    assert!(body.get("protocolVersion").is_none());
    assert_eq!(roles(body), ["user", "assistant", "user"]);
    assert_eq!(
        body["messages"][1],
        json!({"role": "assistant", "id": "m1", "content": "ok"})
    );
    for required in ["state", "tools", "context", "forwardedProps"] {
        assert!(!body[required].is_null(), "0.x servers require {required}");
    }
}

#[tokio::test]
async fn protobuf_is_read_where_it_is_asked_for_and_given() {
    let server = Server::answering(|_, request| {
        let events = saying(request, "Hello");
        let frame = |event: &Value| {
            let event = antiphon_protocol::Event::read(event.clone()).unwrap().value;
            proto::frame(&event.unwrap()).to_vec()
        };
        let body: Vec<u8> = events.iter().flat_map(frame).collect();
        let kind = format!("200 OK\r\ncontent-type: {}", proto::MEDIA_TYPE);
        Reply::new(&kind, body).pieces_of(5)
    })
    .await;
    let mut thread = client(&server.url).protobuf(true).thread("t1");
    thread.send("hi").await.unwrap().finish().await.unwrap();
    assert_eq!(thread.text(), "Hello");
    let accept = header(&server.requests()[0], "accept").unwrap();
    assert_eq!(
        accept,
        "application/vnd.ag-ui.event+proto, text/event-stream;q=0.9"
    );
}

#[tokio::test]
async fn a_token_goes_out_and_is_never_shown() {
    let server = Server::answering(|_, request| {
        let token = header(request, "authorization").unwrap();
        Reply::new(
            "401 Unauthorized\r\ncontent-type: application/json",
            format!(
                "{{\"error\":{{\"code\":\"unauthorized\",\"message\":\"{token} is not known\"}}}}"
            ),
        )
    })
    .await;
    let client = client(&server.url)
        .token("s3cret-t0ken")
        .header("x-key", "another-secret");
    let mut thread = client.thread("t1");
    assert!(!format!("{client:?}{thread:?}").contains("secret"));
    assert!(!format!("{client:?}{thread:?}").contains("s3cret"));
    let error = thread.send("hi").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the server answered 401 unauthorized: Bearer [redacted] is not known"
    );
    assert!(!format!("{error:?}").contains("s3cret"));
    let request = &server.requests()[0];
    assert_eq!(
        header(request, "authorization").as_deref(),
        Some("Bearer s3cret-t0ken")
    );
    assert_eq!(header(request, "x-key").as_deref(), Some("another-secret"));
}

#[tokio::test]
async fn a_refusal_says_why_and_leaves_the_thread_as_it_was() {
    let busy = r#"{"error":{"code":"thread_busy","message":"run \"r7\" is active","runId":"r7"}}"#;
    let server = Server::start([
        Reply::new("409 Conflict\r\ncontent-type: application/json", busy),
        Reply::new("429 Too Many Requests\r\nretry-after: 7", "slow down"),
        Reply::new(
            "502 Bad Gateway\r\ncontent-type: text/html",
            "<html>nginx</html>",
        ),
    ])
    .await;
    let mut thread = client(&server.url).thread("t1");
    let error = thread.send("hi").await.unwrap_err();
    let kind = ErrorKind::Status {
        status: 409,
        code: Some("thread_busy".to_owned()),
    };
    assert_eq!(error.kind(), &kind);
    assert_eq!(
        error.to_string(),
        "the server answered 409 thread_busy: run \"r7\" is active"
    );
    let error = thread.send("hi").await.unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
    assert_eq!(error.to_string(), "the server answered 429: slow down");
    let error = thread.send("hi").await.unwrap_err();
    assert_eq!(error.to_string(), "the server answered 502: (an html page)");
    assert_eq!(thread.messages(), []);
    assert_eq!(server.requests().len(), 3, "a run is never started twice");
}

#[tokio::test]
async fn an_answer_that_is_no_stream_is_not_ag_ui() {
    for kind in [
        "text/html; charset=utf-8",
        "application/json",
        "text/plain",
        "application/octet-stream",
    ] {
        let head = format!("200 OK\r\ncontent-type: {kind}");
        let server = Server::start([Reply::new(&head, "{}")]).await;
        let error = client(&server.url)
            .thread("t1")
            .send("hi")
            .await
            .unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::NotAgUi, "{kind}");
    }
    let server = Server::start([Reply::new("204 No Content", "")]).await;
    let error = client(&server.url)
        .thread("t1")
        .send("hi")
        .await
        .unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::NotAgUi);
}

#[tokio::test]
async fn a_media_type_may_have_parameters_or_be_missing() {
    for head in [
        "200 OK\r\ncontent-type: Text/Event-Stream; charset=utf-8",
        "200 OK",
    ] {
        let server = Server::answering(move |_, request| {
            Reply::new(head, frames(&saying(request, "Hello")))
        })
        .await;
        let mut thread = client(&server.url).thread("t1");
        thread.send("hi").await.unwrap().finish().await.unwrap();
        assert_eq!(thread.text(), "Hello");
    }
}

#[tokio::test]
async fn nobody_there_is_no_connection() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let error = client(&url).thread("t1").send("hi").await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Connect);
    assert!(
        error
            .to_string()
            .starts_with("no connection to the server: "),
        "{error}"
    );
}

#[tokio::test]
async fn a_missing_slash_is_followed_and_another_host_is_not() {
    let server = Server::answering(|_, request| {
        if request.starts_with("POST /agents/a/ ") {
            return Reply::stream(frames(&saying(request, "Hello")));
        }
        Reply::new("307 Temporary Redirect\r\nlocation: /agents/a/", "")
    })
    .await;
    let mut thread = client(&server.url).token("s3cret-t0ken").thread("t1");
    thread.send("hi").await.unwrap().finish().await.unwrap();
    assert_eq!(thread.text(), "Hello");

    let elsewhere = keeping().await;
    let head = format!("307 Temporary Redirect\r\nlocation: {}", elsewhere.url);
    let server = Server::start([Reply::new(&head, "")]).await;
    let mut thread = client(&server.url).token("s3cret-t0ken").thread("t1");
    let error = thread.send("hi").await.unwrap_err();
    assert_eq!(error.status_code(), Some(307));
    assert_eq!(
        elsewhere.requests(),
        Vec::<String>::new(),
        "the token stays here"
    );
}

#[tokio::test]
async fn what_cannot_be_sent_is_named() {
    let error = Client::connect("/agents/recipe").unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Setup);
    let server = keeping().await;
    let error = client(&server.url)
        .token("a\nb")
        .thread("t1")
        .send("hi")
        .await
        .unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Setup);
    assert_eq!(server.requests(), Vec::<String>::new());
}

#[tokio::test]
async fn parts_are_said_as_they_are() {
    use antiphon_protocol::{ImagePart, TextPart, UrlSource};
    let server = keeping().await;
    let mut thread = client(&server.url).thread("t1");
    let image = ImagePart::new(UrlSource::new("https://example.com/a.png"));
    thread
        .send(vec![TextPart::new("What is this?").into(), image.into()])
        .await
        .unwrap()
        .finish()
        .await
        .unwrap();
    let content = &server.bodies()[0]["messages"][0]["content"];
    assert_eq!(content[0], json!({"type": "text", "text": "What is this?"}));
    assert_eq!(content[1]["type"], "image");
    let Message::User(kept) = &thread.messages()[0] else {
        panic!("the person spoke first");
    };
    assert_eq!(&value(&kept.content), content);
}

/// Some agents name a result otherwise in their snapshot than in the event, so that it comes to
/// stand behind what was said after it. No model takes such a history.
#[tokio::test]
async fn a_result_is_sent_behind_its_call_wherever_a_snapshot_put_it() {
    let server = Server::answering(|number, request| {
        let said = support::stream::text(&format!("m{number}"), "ok");
        if number > 0 {
            return Reply::stream(frames(&run(request, said, &json!({}))));
        }
        let mut events = vec![
            json!({"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "delete", "parentMessageId": "a1"}),
            json!({"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": "{}"}),
            json!({"type": "TOOL_CALL_END", "toolCallId": "c1"}),
            json!({"type": "TOOL_CALL_RESULT", "messageId": "r1", "toolCallId": "c1", "content": "gone"}),
        ];
        events.extend(said);
        let body = request.split_once("\r\n\r\n").unwrap().1;
        let body: Value = serde_json::from_str(body).unwrap();
        let user = &body["messages"][0];
        events.push(json!({"type": "MESSAGES_SNAPSHOT", "messages": [
            user,
            {"id": "a1", "role": "assistant", "toolCalls": [{"id": "c1", "type": "function", "function": {"name": "delete", "arguments": "{}"}}]},
            {"id": "another-name", "role": "tool", "toolCallId": "c1", "content": "gone"},
            {"id": "m0", "role": "assistant", "content": "ok"},
        ]}));
        Reply::stream(frames(&run(request, events, &json!({}))))
    })
    .await;
    let mut thread = client(&server.url).thread("t1");
    thread
        .send("delete it")
        .await
        .unwrap()
        .finish()
        .await
        .unwrap();
    thread.send("and?").await.unwrap().finish().await.unwrap();
    let body = &server.bodies()[1];
    assert_eq!(
        roles(body),
        ["user", "assistant", "tool", "assistant", "user"]
    );
    assert_eq!(body["messages"][2]["id"], "another-name");
    let held: Vec<_> = thread
        .messages()
        .iter()
        .map(|m| m.id().to_owned())
        .collect();
    assert_eq!(&held[1..4], ["a1", "another-name", "m0"], "and so it stays");
}
