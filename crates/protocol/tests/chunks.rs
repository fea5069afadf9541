//! Chunk events expanded.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use antiphon_protocol::{Chunks, Rule};
use common::event;
use serde_json::{Value, json};

fn expand(events: &[Value]) -> Result<Vec<Value>, Rule> {
    let mut chunks = Chunks::default();
    let mut expanded = Vec::new();
    for value in events {
        chunks
            .expand(event(value.clone()), &mut expanded)
            .map_err(|violation| violation.rule)?;
    }
    chunks.finish(&mut expanded);
    Ok(expanded
        .iter()
        .map(|event| serde_json::to_value(event).unwrap())
        .collect())
}

fn kinds(events: &[Value]) -> Vec<String> {
    let short = |event: &Value| event["type"].as_str().unwrap().to_owned();
    expand(events).unwrap().iter().map(short).collect()
}

fn text(members: Value) -> Value {
    chunk("TEXT_MESSAGE_CHUNK", members)
}

fn call(members: Value) -> Value {
    chunk("TOOL_CALL_CHUNK", members)
}

fn chunk(kind: &str, mut members: Value) -> Value {
    members["type"] = json!(kind);
    members
}

#[test]
fn a_text_is_started_continued_and_ended() {
    let expanded = expand(&[
        text(json!({"messageId": "m", "delta": "a", "name": "n"})),
        text(json!({"delta": "b"})),
        text(json!({"messageId": "m", "role": "assistant", "name": "n"})),
        text(json!({"messageId": "m2", "role": "user"})),
    ]);
    let expected = [
        json!({"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant", "name": "n"}),
        json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "a"}),
        json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "b"}),
        json!({"type": "TEXT_MESSAGE_END", "messageId": "m"}),
        json!({"type": "TEXT_MESSAGE_START", "messageId": "m2", "role": "user"}),
        json!({"type": "TEXT_MESSAGE_END", "messageId": "m2"}),
    ];
    assert_eq!(expanded.unwrap(), expected);
}

#[test]
fn a_call_and_reasoning_likewise() {
    let expanded = expand(&[
        call(json!({"toolCallId": "c", "toolCallName": "f", "parentMessageId": "p", "delta": "{"})),
        call(json!({"delta": "}"})),
        chunk(
            "REASONING_MESSAGE_CHUNK",
            json!({"messageId": "r", "delta": "hm"}),
        ),
    ]);
    let expected = [
        json!({"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "f", "parentMessageId": "p"}),
        json!({"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "{"}),
        json!({"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "}"}),
        json!({"type": "TOOL_CALL_END", "toolCallId": "c"}),
        json!({"type": "REASONING_MESSAGE_START", "role": "reasoning", "messageId": "r"}),
        json!({"type": "REASONING_MESSAGE_CONTENT", "messageId": "r", "delta": "hm"}),
        json!({"type": "REASONING_MESSAGE_END", "messageId": "r"}),
    ];
    assert_eq!(expanded.unwrap(), expected);
}

#[test]
fn metadata_reaches_the_message_and_the_source_event_is_said_once() {
    let expanded = expand(&[
        text(json!({"messageId": "m", "rawEvent": 1, "metadata": {"a": 1}})),
        text(json!({"metadata": {"b": 2}})),
        text(json!({})),
    ]);
    let expected = [
        json!({"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant", "metadata": {"a": 1}}),
        json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "", "rawEvent": 1, "metadata": {"a": 1}}),
        json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "", "metadata": {"b": 2}}),
        json!({"type": "TEXT_MESSAGE_END", "messageId": "m"}),
    ];
    assert_eq!(expanded.unwrap(), expected);
}

#[test]
fn some_events_end_a_chunk_stream_and_some_do_not() {
    let open = text(json!({"messageId": "m"}));
    let run = |kind: &str| json!({"type": kind, "threadId": "t", "runId": "r"});
    for ends in [
        json!({"type": "STEP_STARTED", "stepName": "s"}),
        json!({"type": "CUSTOM", "name": "x", "value": 1}),
        json!({"type": "STATE_SNAPSHOT", "snapshot": {}}),
        json!({"type": "TOOL_CALL_RESULT", "messageId": "x", "toolCallId": "c", "content": ""}),
        json!({"type": "MESSAGES_SNAPSHOT", "messages": []}),
        json!({"type": "RUN_ERROR", "message": "x"}),
        run("RUN_FINISHED"),
    ] {
        let kind = ends["type"].as_str().unwrap().to_owned();
        let kinds = kinds(&[open.clone(), ends]);
        assert_eq!(kinds, ["TEXT_MESSAGE_START", "TEXT_MESSAGE_END", &kind]);
    }
    for passes in [
        json!({"type": "RAW", "event": 1}),
        json!({"type": "ACTIVITY_SNAPSHOT", "messageId": "v", "activityType": "x", "content": {}}),
        json!({"type": "REASONING_ENCRYPTED_VALUE", "subtype": "message", "entityId": "m", "encryptedValue": "x"}),
        json!({"type": "SUBAGENT_STARTED", "subagentRunId": "s", "name": "n"}),
        // Another agent's event does not concern this one's stream.
        json!({"type": "STATE_SNAPSHOT", "snapshot": {}, "subagentRunId": "s"}),
    ] {
        let kind = passes["type"].as_str().unwrap().to_owned();
        let kinds = kinds(&[open.clone(), passes]);
        assert_eq!(kinds, ["TEXT_MESSAGE_START", &kind, "TEXT_MESSAGE_END"]);
    }
}

#[test]
fn each_agent_has_a_stream_of_its_own() {
    let expanded = expand(&[
        text(json!({"messageId": "m", "delta": "a"})),
        text(json!({"messageId": "n", "delta": "b", "subagentRunId": "s"})),
        text(json!({"delta": "c"})),
        text(json!({"messageId": "n", "delta": "d"})),
        json!({"type": "SUBAGENT_FINISHED", "subagentRunId": "s"}),
    ])
    .unwrap();
    let said: Vec<_> = expanded
        .iter()
        .filter(|event| event["type"] == "TEXT_MESSAGE_CONTENT")
        .map(|event| {
            (
                event["messageId"].as_str().unwrap(),
                event["delta"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(said, [("m", "a"), ("n", "b"), ("m", "c"), ("n", "d")]);
    assert_eq!(
        expanded[6],
        json!({"type": "TEXT_MESSAGE_END", "messageId": "n", "subagentRunId": "s"})
    );
}

#[test]
fn chunks_that_contradict_or_name_nothing_are_refused() {
    let first = text(json!({"messageId": "m", "delta": "a"}));
    let of = |id: &str, owner: &str| text(json!({"messageId": id, "subagentRunId": owner}));
    for events in [
        vec![text(json!({"delta": "a"}))],
        vec![call(json!({"toolCallId": "c"}))],
        vec![call(json!({"toolCallName": "f"}))],
        vec![chunk("REASONING_MESSAGE_CHUNK", json!({"delta": "a"}))],
        vec![first.clone(), text(json!({"role": "user"}))],
        vec![first.clone(), text(json!({"name": "n"}))],
        vec![first.clone(), of("m", "s")],
        vec![
            call(json!({"toolCallId": "c", "toolCallName": "f"})),
            call(json!({"toolCallName": "g"})),
        ],
        vec![
            call(json!({"toolCallId": "c", "toolCallName": "f"})),
            call(json!({"parentMessageId": "p"})),
        ],
        // An id-less chunk that two subagents could mean.
        vec![of("m", "s"), of("n", "o"), text(json!({"delta": "?"}))],
    ] {
        assert_eq!(expand(&events), Err(Rule::Chunk), "{events:?}");
    }
}
