//! The player can fail: a good stream is passed, and every way of breaking it is found.

use antiphon_e2e::{
    http::{HttpError, Request},
    json::{list, merge},
    provider::{
        End, Provider, Reply, Tool, Write,
        chunks::{Call, calls, text},
    },
    rules::{Memory, judge},
    run::{Held, Run},
};
use serde_json::{Value, json};

/// A run with a text, a call of the server's, a state change and snapshots.
fn good() -> Vec<Value> {
    let user = json!({"id": "u1", "role": "user", "content": "go"});
    vec![
        json!({"type": "RUN_STARTED", "threadId": "t", "runId": "r", "protocolVersion": "1.0"}),
        json!({"type": "TEXT_MESSAGE_START", "messageId": "m1", "role": "assistant"}),
        json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "m1", "delta": "Look"}),
        json!({"type": "TEXT_MESSAGE_END", "messageId": "m1"}),
        json!({"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "look", "parentMessageId": "m1"}),
        json!({"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": "{\"a\":1}"}),
        json!({"type": "TOOL_CALL_END", "toolCallId": "c1"}),
        json!({"type": "TOOL_CALL_RESULT", "messageId": "x1", "toolCallId": "c1", "content": "ok"}),
        json!({"type": "STATE_DELTA", "delta": [{"op": "add", "path": "/n", "value": 1}]}),
        json!({"type": "STATE_SNAPSHOT", "snapshot": {"n": 1}}),
        json!({"type": "MESSAGES_SNAPSHOT", "messages": [
            user,
            {"id": "m1", "role": "assistant", "content": "Look", "toolCalls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{\"a\":1}"}}]},
            {"id": "x1", "role": "tool", "toolCallId": "c1", "content": "ok"},
        ]}),
        json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": {"type": "success"}}),
    ]
}

fn request() -> Value {
    json!({"threadId": "t", "runId": "r", "protocolVersion": "1.0", "state": {}, "context": [], "forwardedProps": {},
        "messages": [{"id": "u1", "role": "user", "content": "go"}],
        "tools": [{"name": "page_tool", "description": "p", "parameters": {"type": "object"}}]})
}

fn body(events: &[Value]) -> String {
    let frames = events.iter().enumerate();
    frames
        .map(|(n, event)| format!("id: r:{n}\ndata: {event}\n\n"))
        .collect()
}

fn judged(request: Value, body: &str) -> (Vec<String>, Run) {
    let base = Held {
        messages: list(&request, "messages").to_vec(),
        state: request["state"].clone(),
    };
    let mut run = Run::recorded(request, base, body.as_bytes());
    let problems = judge(&mut run, &mut Memory::default(), &["page_tool".to_owned()]);
    (problems, run)
}

#[test]
fn a_good_stream_is_passed_and_folded() {
    let (problems, run) = judged(request(), &body(&good()));
    assert_eq!(problems, [""; 0]);
    let held = run.held.unwrap();
    assert_eq!(held.state, json!({"n": 1}));
    assert_eq!(
        held.outline(),
        [("user", "go"), ("assistant", "Look"), ("tool", "ok")]
    );
}

/// The messages of the stream's snapshot.
fn snapshot(events: &mut [Value]) -> &mut Vec<Value> {
    events[10]["messages"]
        .as_array_mut()
        .expect("a snapshot has messages")
}

/// A way to break the good stream.
type Breakage = (&'static str, fn(&mut Vec<Value>));

const BREAKAGES: &[Breakage] = &[
    ("another thread", |e| {
        e[0]["threadId"] = json!("x");
    }),
    ("another run at the end", |e| {
        e[11]["runId"] = json!("x");
    }),
    ("no version", |e| {
        merge(&mut e[0], &json!({"protocolVersion": null}));
    }),
    ("no start", |e| drop(e.remove(0))),
    ("no end", |e| drop(e.pop())),
    ("two ends", |e| e.push(e[11].clone())),
    ("something after the end", |e| {
        e.push(json!({"type": "CUSTOM", "name": "late", "value": 1}));
    }),
    ("a text that is not closed", |e| drop(e.remove(3))),
    ("a call that is not closed", |e| drop(e.remove(6))),
    ("a call that is not closed before an error", |e| {
        e.truncate(6);
        e.push(json!({"type": "RUN_ERROR", "message": "broken", "code": "x"}));
    }),
    ("content before the start", |e| e.swap(1, 2)),
    ("a second start", |e| e.insert(2, e[1].clone())),
    ("an empty delta", |e| {
        e[2]["delta"] = json!("");
    }),
    ("a null member", |e| {
        e[1]["name"] = Value::Null;
    }),
    ("an unknown member", |e| {
        e[1]["colour"] = json!("red");
    }),
    ("an unknown event", |e| {
        e.insert(1, json!({"type": "QUANTUM_EVENT"}));
    }),
    ("a wrong type", |e| {
        e[2]["messageId"] = json!(7);
    }),
    ("a result before the end of its call", |e| e.swap(6, 7)),
    ("a result for a call that was not made", |e| {
        e[7]["toolCallId"] = json!("c9");
    }),
    ("a second result", |e| {
        let mut again = e[7].clone();
        again["messageId"] = json!("x2");
        e.insert(8, again);
    }),
    ("a result under a used message id", |e| {
        e[7]["messageId"] = json!("m1");
        e.remove(10);
    }),
    ("a text under the id of the user's message", |e| {
        for event in &mut e[1..4] {
            event["messageId"] = json!("u1");
        }
        e[4]["parentMessageId"] = json!("u1");
        e.remove(10);
    }),
    ("the page's call answered by the server", |e| {
        e[4]["toolCallName"] = json!("page_tool");
    }),
    ("a delta that does not apply", |e| {
        e[8]["delta"][0]["op"] = json!("replace");
    }),
    ("a snapshot that drops a message", |e| {
        snapshot(e).remove(1);
    }),
    ("a snapshot that drops the question", |e| {
        snapshot(e).remove(0);
    }),
    ("a snapshot that changes a text", |e| {
        e[10]["messages"][1]["content"] = json!("Lock");
    }),
    ("a snapshot that changes arguments", |e| {
        e[10]["messages"][1]["toolCalls"][0]["function"]["arguments"] = json!("{\"a\":2}");
    }),
    ("a snapshot in another order", |e| {
        snapshot(e).swap(0, 1);
    }),
    ("pending calls that were answered", |e| {
        e[11]["outcome"]["pendingToolCallIds"] = json!(["c1"]);
    }),
    ("an interrupt without snapshots", |e| {
        e.truncate(7);
        e.push(json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome":
            {"type": "interrupt", "interrupts": [{"id": "i1", "reason": "tool_call", "toolCallId": "c1"}]}}));
    }),
    ("an interrupt outcome that asks nothing", |e| {
        e[11]["outcome"] = json!({"type": "interrupt", "interrupts": []});
    }),
];

#[test]
fn every_breakage_is_found() {
    for (what, breakage) in BREAKAGES {
        let mut events = good();
        breakage(&mut events);
        let (problems, _) = judged(request(), &body(&events));
        assert!(!problems.is_empty(), "{what} is not found");
    }
}

#[test]
fn the_bytes_of_a_stream_are_judged_too() {
    let whole = body(&good());
    let broken: [(&str, String); 5] = [
        ("CRLF", whole.replace('\n', "\r\n")),
        (
            "no ids",
            whole
                .lines()
                .filter(|l| !l.starts_with("id:"))
                .fold(String::new(), |all, l| all + l + "\n"),
        ),
        (
            "a cut in an event",
            whole.chars().take(whole.len() - 20).collect(),
        ),
        ("a comment at the end", format!("{whole}: still here\n\n")),
        ("nothing", String::new()),
    ];
    for (what, body) in broken {
        let (problems, _) = judged(request(), &body);
        assert!(!problems.is_empty(), "{what} is not found");
    }
}

#[test]
fn an_old_peer_is_sent_nothing_it_cannot_read() {
    let mut asked = request();
    merge(&mut asked, &json!({"protocolVersion": null}));
    let mut events = good();
    merge(&mut events[0], &json!({"protocolVersion": null}));
    let (problems, _) = judged(asked.clone(), &body(&events));
    assert_eq!(problems, [""; 0]);
    events[11]["outcome"] = json!({"type": "cancelled"});
    let (problems, _) = judged(asked, &body(&events));
    assert!(!problems.is_empty());
}

#[test]
fn ids_are_new_in_the_whole_thread() {
    let mut memory = Memory::default();
    for is_first in [true, false] {
        let mut run = Run::recorded(
            request(),
            Held {
                messages: Vec::new(),
                state: json!({}),
            },
            body(&good()).as_bytes(),
        );
        let problems = judge(&mut run, &mut memory, &[]);
        let about_ids = problems.iter().any(|p| p.contains("not new in the thread"));
        assert_eq!(about_ids, !is_first, "{problems:?}");
    }
}

/// Posts to the fake provider as a server would.
async fn ask(provider: &Provider, path: &str) -> Result<(u16, String), HttpError> {
    let addr = provider.url().trim_start_matches("http://").parse();
    let addr = addr.expect("the URL of the provider is an address");
    let request = Request::post(
        path,
        &json!({"stream": true, "messages": [{"role": "user", "content": "hi"}]}),
    );
    let answer = request.fetch(addr).await?;
    Ok((answer.status, answer.text()))
}

#[tokio::test]
async fn the_fake_provider_answers_in_order_and_notes_what_it_did_not_expect() {
    let provider = Provider::start().await.unwrap();
    provider.turns(vec![calls(&[Call::new("c1", "look", &json!({"a": 1}))])]);
    let (status, body) = ask(&provider, "/v1/chat/completions").await.unwrap();
    assert_eq!(status, 200);
    assert!(
        body.contains("\"look\"") && body.ends_with("data: [DONE]\n\n"),
        "{body}"
    );
    assert_eq!(provider.problems(), [""; 0]);
    let (status, _) = ask(&provider, "/v1/chat/completions").await.unwrap();
    assert_eq!((status, provider.problems().len()), (500, 1));
    let (status, _) = ask(&provider, "/nowhere").await.unwrap();
    assert_eq!((status, provider.problems().len()), (404, 2));
    let (status, _) = ask(&provider, "/tool/unknown").await.unwrap();
    assert_eq!((status, provider.problems().len()), (404, 3));
    provider.tool("look", Tool::returns(json!({"found": 1})));
    assert_eq!(
        ask(&provider, "/tool/look").await.unwrap(),
        (200, "{\"found\":1}".to_owned())
    );
    assert_eq!(provider.execution_count(), 2);
    assert_eq!(provider.requests()[0].last_user(), "hi");
}

#[tokio::test]
async fn the_fake_provider_cuts_and_hangs_as_it_is_told() {
    let provider = Provider::start().await.unwrap();
    provider.answer(|_| Reply::stream(text("Half")).ending(End::Abort));
    assert!(matches!(
        ask(&provider, "/v1/chat/completions").await,
        Err(HttpError::Cut)
    ));
    provider.answer(|_| Reply::stream(text("Half")).ending(End::Eof));
    assert!(
        ask(&provider, "/v1/chat/completions")
            .await
            .unwrap()
            .1
            .contains("Half")
    );
    provider.answer(|_| Reply::stream(vec![Write::Hold]));
    let addr = provider.url().trim_start_matches("http://").parse();
    let addr = addr.expect("the URL of the provider is an address");
    let request = Request::post("/v1/chat/completions", &json!({}));
    let response = request.send(addr).await.unwrap();
    assert_eq!((response.status, provider.open_streams()), (200, 1));
    drop(response);
    let closed = |log: &antiphon_e2e::provider::Log| log.requests[2].closed_by_peer;
    provider
        .until(std::time::Duration::from_secs(5), "the end", closed)
        .await
        .unwrap();
    assert_eq!(provider.open_streams(), 0);
}
