//! How requests and events of others are read.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use antiphon_protocol::*;
use serde_json::{Value, json};

fn body(extra: &Value) -> Value {
    let mut body = json!({
        "threadId": "t1",
        "runId": "r1",
        "messages": [{"id": "u1", "role": "user", "content": "hi"}],
    });
    for (key, value) in extra.as_object().unwrap() {
        body[key] = value.clone();
    }
    body
}

fn read(extra: &Value) -> (RunAgentInput, Vec<String>) {
    let read = RunAgentInput::read(body(extra)).unwrap();
    (
        read.value,
        read.warnings.iter().map(ToString::to_string).collect(),
    )
}

#[track_caller]
fn refuse(body: Value, path: &str, message: &str) {
    let error = RunAgentInput::read(body).unwrap_err();
    assert_eq!(
        (error.path.as_str(), error.message.as_str()),
        (path, message)
    );
}

#[test]
fn a_whole_request_is_read_as_it_was_written() {
    let input = common::input();
    let read = RunAgentInput::read(serde_json::to_value(&input).unwrap()).unwrap();
    assert_eq!(
        read,
        Read {
            value: input,
            warnings: Vec::new()
        }
    );
}

#[test]
fn only_three_members_are_required() {
    let (input, warnings) = read(&json!({}));
    assert_eq!(
        input,
        RunAgentInput::new("t1", "r1", vec![UserMessage::new("u1", "hi").into()])
    );
    assert!(warnings.is_empty());
    for key in ["threadId", "runId", "messages"] {
        let mut body = body(&json!({}));
        body.as_object_mut().unwrap().remove(key);
        refuse(body, key, "is required");
    }
}

#[test]
fn malformed_members_are_refused_with_their_place() {
    for (extra, path, message) in [
        (json!({"threadId": 7}), "threadId", "must be a string"),
        (json!({"runId": null}), "runId", "must be a string"),
        (json!({"messages": {}}), "messages", "must be an array"),
        (
            json!({"messages": ["hi"]}),
            "messages[0]",
            "must be an object",
        ),
        (
            json!({"messages": [{"role": "user", "content": "x"}]}),
            "messages[0].id",
            "is required",
        ),
        (
            json!({"messages": [{"id": 1, "role": "user", "content": "x"}]}),
            "messages[0].id",
            "must be a string",
        ),
        (
            json!({"messages": [{"id": "1", "role": "user"}]}),
            "messages[0].content",
            "is required",
        ),
        (
            json!({"messages": [{"id": "1", "role": "user", "content": 7}]}),
            "messages[0].content",
            "must be a string or an array of content parts",
        ),
        (
            json!({"messages": [{"id": "1", "content": "x"}]}),
            "messages[0].role",
            "is required",
        ),
        (
            json!({"messages": [{"id": "1", "role": "tool", "content": "x"}]}),
            "messages[0].toolCallId",
            "is required",
        ),
        (
            json!({"messages": [{"id": "1", "role": "user", "content": [{"type": "text"}]}]}),
            "messages[0].content[0].text",
            "is required",
        ),
        (json!({"tools": "x"}), "tools", "must be an array"),
        (
            json!({"tools": [{"description": "d"}]}),
            "tools[0].name",
            "is required",
        ),
        (
            json!({"context": [{"description": "d", "value": 3}]}),
            "context[0].value",
            "must be a string",
        ),
        (
            json!({"resume": [{"interruptId": "i", "status": "maybe"}]}),
            "resume[0].status",
            "must be one of resolved, cancelled",
        ),
        (
            json!({"resume": [{"status": "resolved"}]}),
            "resume[0].interruptId",
            "is required",
        ),
        (
            json!({"resume": "yes"}),
            "resume",
            "must be an array of answers",
        ),
        (
            json!({"messages": [{"id": "1", "role": "assistant", "toolCalls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": {}}}]}]}),
            "messages[0].toolCalls[0].function.arguments",
            "must be a string",
        ),
    ] {
        refuse(body(&extra), path, message);
    }
    for value in [json!([]), json!("x"), json!(null), json!(7)] {
        refuse(value, "", "must be an object");
    }
}

#[test]
fn unknown_material_is_dropped_and_the_run_goes_on() {
    let (input, warnings) = read(&json!({
        "futureField": {"a": 1},
        "messages": [
            {"id": "x1", "role": "oracle", "content": "?"},
            {"id": "u1", "role": "user", "futureField": 1, "content": [
                {"type": "text", "text": "hi"},
                {"type": "hologram", "beam": 1},
                {"type": "image", "source": {"type": "telepathy", "value": "x"}},
            ]},
        ],
        "tools": [{"name": "f", "description": "d", "futureFlag": true}],
    }));
    let expected = vec![UserMessage::new("u1", vec![TextPart::new("hi").into()]).into()];
    assert_eq!(input.messages, expected);
    assert_eq!(
        warnings,
        [
            "messages[0] has an unknown role \"oracle\" and is dropped",
            "messages[1].content[1] has an unknown type \"hologram\" and is dropped",
            "messages[1].content[2].source has an unknown type \"telepathy\" and is dropped",
            "messages[1] has an unknown member \"futureField\", which is dropped",
            "tools[0] has an unknown member \"futureFlag\", which is dropped",
            "the document has an unknown member \"futureField\", which is dropped",
        ]
    );
}

#[test]
fn null_in_an_optional_member_is_absent() {
    for key in [
        "parentRunId",
        "state",
        "forwardedProps",
        "resume",
        "tools",
        "context",
    ] {
        let (input, warnings) = read(&json!({key: null}));
        assert_eq!(input, read(&json!({})).0, "{key}");
        assert_eq!(warnings, [format!("{key} is null and read as absent")]);
    }
    let (input, _) = read(&json!({"messages": [{
        "id": "a1", "role": "assistant", "content": null, "toolCalls": null, "name": null,
    }]}));
    assert_eq!(input.messages, [AssistantMessage::new("a1").into()]);
}

#[test]
fn state_may_be_any_json_and_null_inside_of_it_is_data() {
    for state in [
        json!([]),
        json!("text"),
        json!(0),
        json!(false),
        json!({"a": [null]}),
    ] {
        assert_eq!(read(&json!({"state": state})).0.state, Some(state));
    }
    let metadata = json!({"ag-ui": {}, "x": null});
    let (input, warnings) =
        read(&json!({"tools": [{"name": "f", "description": "d", "metadata": metadata}]}));
    assert_eq!(input.tools[0].metadata, metadata.as_object().cloned());
    assert!(warnings.is_empty());
}

#[test]
fn snake_case_is_read_everywhere() {
    let read = RunAgentInput::read(json!({
        "thread_id": "t1",
        "run_id": "r1",
        "parent_run_id": "r0",
        "protocol_version": "1.0",
        "forwarded_props": {"snake_case": 1},
        "messages": [
            {"id": "a1", "role": "assistant", "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"},
                    "encrypted_value": "x"}]},
            {"id": "m1", "role": "tool", "tool_call_id": "c1", "content": "ok"},
            {"id": "u1", "role": "user", "content": [{"type": "image", "source":
                {"type": "data", "value": "AA", "mime_type": "image/png"}}]},
        ],
        "resume": [{"interrupt_id": "i1", "status": "cancelled"}],
    }))
    .unwrap();
    assert_eq!(read.warnings, []);
    let mut call = ToolCall::new("c1", FunctionCall::new("f", "{}"));
    call.encrypted_value = Some("x".to_owned());
    let image = ImagePart::new(DataSource::new("AA", "image/png"));
    let expected = RunAgentInput {
        parent_run_id: Some("r0".to_owned()),
        protocol_version: Some("1.0".to_owned()),
        forwarded_props: Some(json!({"snake_case": 1})),
        resume: vec![ResumeEntry::new("i1", ResumeStatus::Cancelled)],
        ..RunAgentInput::new(
            "t1",
            "r1",
            vec![
                AssistantMessage {
                    tool_calls: vec![call],
                    ..AssistantMessage::new("a1")
                }
                .into(),
                ToolMessage::new("m1", "c1", "ok").into(),
                UserMessage::new("u1", vec![image.into()]).into(),
            ],
        )
    };
    assert_eq!(read.value, expected);
}

#[test]
fn both_spellings_have_to_agree() {
    assert!(RunAgentInput::read(body(&json!({"thread_id": "t1"}))).is_ok());
    refuse(
        body(&json!({"thread_id": "t2"})),
        "threadId",
        "and thread_id are both given and differ",
    );
    refuse(
        body(
            &json!({"messages": [{"id": "m", "role": "tool", "content": "",
            "toolCallId": "a", "tool_call_id": "b"}]}),
        ),
        "messages[0].toolCallId",
        "and tool_call_id are both given and differ",
    );
}

#[test]
fn the_shape_of_the_agent_framework_client_is_read() {
    let read = RunAgentInput::read(json!({
        "thread_id": "thread_1",
        "run_id": "run_1",
        "messages": [
            {"id": "1", "role": "user", "content": "Hello"},
            {"id": "2", "role": "assistant", "content": "", "tool_calls":
                [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
            {"id": "3", "role": "tool", "toolCallId": "c1", "content": "ok"},
        ],
        "availableInterrupts": [],
    }))
    .unwrap();
    assert_eq!(read.value.messages.len(), 3);
    assert_eq!(read.value.messages[1].tool_calls()[0].id, "c1");
    assert_eq!(read.value.protocol_version, None);
}

#[test]
fn answers_are_read_in_all_their_shapes() {
    let approved = ResumeEntry {
        payload: Some(json!({"approved": true})),
        ..ResumeEntry::new("i1", ResumeStatus::Resolved)
    };
    for resume in [
        json!([{"interruptId": "i1", "status": "resolved", "payload": {"approved": true}}]),
        json!({"interrupts": [{"id": "i1", "status": "resolved", "value": {"approved": true}}]}),
        json!({"interrupt": [{"interrupt_id": "i1", "response": {"approved": true}}]}),
        json!({"toolCallId": "i1", "payload": {"approved": true}}),
        json!({"interrupts": {"id": "i1", "payload": {"approved": true}}}),
    ] {
        assert_eq!(
            read(&json!({"resume": resume})).0.resume,
            std::slice::from_ref(&approved)
        );
    }
    let cancelled = json!([{"interruptId": "i1", "status": "cancelled", "payload": null}]);
    let expected = [ResumeEntry::new("i1", ResumeStatus::Cancelled)];
    assert_eq!(read(&json!({"resume": cancelled})).0.resume, expected);
}

#[test]
fn an_id_names_something() {
    for blank in ["", " ", "\u{a0}"] {
        let user = |id: &str| json!({"id": id, "role": "user", "content": "hi"});
        for (change, place) in [
            (
                json!({"messages": [user("u"), user(blank)]}),
                "messages[1].id",
            ),
            (json!({"threadId": blank}), "threadId"),
            (json!({"runId": blank}), "runId"),
        ] {
            refuse(body(&change), place, "must not be empty");
        }
    }
}

#[test]
fn an_answer_in_the_protocols_names_needs_a_status() {
    let resolved = json!({"interruptId": "i1", "status": "resolved"});
    for entry in [
        json!({"id": "i1"}),
        json!({"interruptId": "i1", "payload": {"approved": true}}),
        json!({"interrupt_id": "i1", "payload": {"approved": true}}),
        json!({"interruptId": "i1", "Status": "resolved", "payload": {"approved": true}}),
        json!({"interruptId": "i1", "status": null, "payload": {"approved": true}}),
    ] {
        for (resume, place) in [
            (json!([entry]), "resume[0].status"),
            (json!([resolved, entry]), "resume[1].status"),
            (json!({"interrupts": [entry]}), "resume[0].status"),
            (entry.clone(), "resume.status"),
        ] {
            let read = RunAgentInput::read(body(&json!({ "resume": resume })));
            assert_eq!(read.unwrap_err().path, place, "{resume}");
        }
    }
}

#[test]
fn binary_parts_are_read_as_their_successors() {
    let (input, warnings) = read(
        &json!({"messages": [{"id": "u1", "role": "user", "content": [
            {"type": "binary", "mimeType": "image/png", "data": "AAAA"},
            {"type": "binary", "mimeType": "audio/wav", "url": "https://example.com/a"},
            {"type": "binary", "mimeType": "video/mp4", "id": "file-1"},
            {"type": "binary", "mimeType": "application/pdf", "data": "AAAA", "filename": "a.pdf"},
        ]}]}),
    );
    let url = UrlSource {
        mime_type: Some("audio/wav".to_owned()),
        ..UrlSource::new("https://example.com/a")
    };
    let file = FileSource {
        mime_type: Some("video/mp4".to_owned()),
        ..FileSource::new("file-1")
    };
    let document = DocumentPart {
        metadata: Some(json!({"filename": "a.pdf"})),
        ..DocumentPart::new(DataSource::new("AAAA", "application/pdf"))
    };
    let parts: Vec<ContentPart> = vec![
        ImagePart::new(DataSource::new("AAAA", "image/png")).into(),
        AudioPart::new(url).into(),
        VideoPart::new(file).into(),
        document.into(),
    ];
    assert_eq!(input.messages, [UserMessage::new("u1", parts).into()]);
    assert_eq!(warnings.len(), 4);
    refuse(
        body(
            &json!({"messages": [{"id": "u1", "role": "user", "content": [
            {"type": "binary", "mimeType": "image/png"}]}]}),
        ),
        "messages[0].content[0]",
        "needs data, url or id",
    );
}

#[test]
fn a_message_that_is_there_twice_is_taken_once() {
    let hi = json!({"id": "u1", "role": "user", "content": "hi"});
    let more = json!({"id": "u2", "role": "user", "content": "more"});
    let (input, warnings) = read(&json!({"messages": [hi, more, hi, hi]}));
    let ids: Vec<_> = input.messages.iter().map(Message::id).collect();
    assert_eq!(ids, ["u1", "u2"]);
    assert_eq!(warnings.len(), 2);
    let other = json!({"id": "u1", "role": "user", "content": "other"});
    refuse(
        body(&json!({"messages": [hi, more, other]})),
        "messages[2].id",
        "names two different messages",
    );
}

#[test]
fn ids_are_short_and_printable() {
    let long = "é".repeat(129);
    let longest = "é".repeat(128);
    for (path, extra) in [
        ("threadId", json!({"threadId": long})),
        ("runId", json!({"runId": long})),
        (
            "messages[0].id",
            json!({"messages": [{"id": long, "role": "user", "content": ""}]}),
        ),
    ] {
        refuse(body(&extra), path, "must not be longer than 256 bytes");
    }
    for id in ["a\nb", "a\0b", "a\u{7f}", "a\u{85}b"] {
        refuse(
            body(&json!({"threadId": id})),
            "threadId",
            "must not hold control characters",
        );
    }
    assert_eq!(read(&json!({"threadId": longest})).0.thread_id, longest);
}

#[test]
fn warnings_are_bounded() {
    let unknown: serde_json::Map<_, _> = (0..5000)
        .map(|at| (format!("x{at}"), Value::Null))
        .collect();
    let (_, warnings) = read(&Value::Object(unknown));
    assert_eq!(warnings.len(), 64);
}

fn read_event(value: Value) -> Result<(Option<Event>, Vec<String>), FieldError> {
    let read = Event::read(value)?;
    Ok((
        read.value,
        read.warnings.iter().map(ToString::to_string).collect(),
    ))
}

#[test]
fn an_unknown_event_and_unknown_members_are_dropped() {
    let (event, warnings) = read_event(json!({"type": "QUANTUM_EVENT", "spin": 1})).unwrap();
    assert_eq!(event, None);
    assert_eq!(
        warnings,
        ["the document is an unknown event \"QUANTUM_EVENT\" and dropped"]
    );
    let (event, warnings) = read_event(json!({
        "type": "RUN_FINISHED", "threadId": "t", "runId": "r", "later": 1,
        "outcome": {"type": "postponed"},
    }))
    .unwrap();
    assert_eq!(event, Some(RunFinished::new("t", "r").into()));
    assert_eq!(
        warnings,
        [
            "outcome is an unknown outcome, which is dropped",
            "the document has an unknown member \"later\", which is dropped",
        ]
    );
}

#[test]
fn an_unknown_patch_operation_is_dropped_alone() {
    let (event, warnings) = read_event(json!({"type": "STATE_DELTA", "delta": [
        {"op": "append", "path": "/a", "value": 1},
        {"op": "add", "path": "/b", "value": 2, "note": "kept or not"},
    ]}))
    .unwrap();
    let Some(Event::StateDelta(delta)) = event else {
        panic!("a delta")
    };
    assert_eq!(delta.delta.len(), 1);
    assert_eq!(
        warnings,
        ["delta[0] is an unknown patch operation, which is dropped"]
    );
}

#[test]
fn nulls_that_older_agents_send_are_absent() {
    for value in [
        json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "rawEvent": null}),
        json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "result": null}),
        json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": null}),
    ] {
        let (event, warnings) = read_event(value).unwrap();
        assert_eq!(event, Some(RunFinished::new("t", "r").into()));
        assert_eq!(warnings.len(), 1);
    }
    let start = json!({"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "f",
        "parentMessageId": null});
    assert_eq!(
        read_event(start).unwrap().0,
        Some(ToolCallStart::new("c", "f").into())
    );
}

#[test]
fn malformed_events_are_refused_with_their_place() {
    let finished = |outcome: Value| json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": outcome});
    for (value, path) in [
        (json!({"messageId": "m"}), "type"),
        (json!({"type": 7}), "type"),
        (
            json!({"type": "TEXT_MESSAGE_START", "messageId": 7}),
            "messageId",
        ),
        (
            json!({"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "tool"}),
            "role",
        ),
        (
            json!({"type": "TEXT_MESSAGE_START", "messageId": "m", "name": null}),
            "name",
        ),
        (
            json!({"type": "TEXT_MESSAGE_START", "messageId": "m", "subagentRunId": null}),
            "subagentRunId",
        ),
        (
            json!({"type": "TEXT_MESSAGE_END", "messageId": "m", "timestamp": 1.5}),
            "timestamp",
        ),
        (
            json!({"type": "TEXT_MESSAGE_END", "messageId": "m", "timestamp": 9_007_199_254_740_992_i64}),
            "timestamp",
        ),
        (
            json!({"type": "TEXT_MESSAGE_END", "messageId": "m", "metadata": null}),
            "metadata",
        ),
        (
            json!({"type": "TEXT_MESSAGE_END", "messageId": "m", "metadata": []}),
            "metadata",
        ),
        (
            json!({"type": "TEXT_MESSAGE_END", "message_id": "m"}),
            "messageId",
        ),
        (
            json!({"type": "REASONING_MESSAGE_START", "messageId": "m"}),
            "role",
        ),
        (
            json!({"type": "TOOL_CALL_RESULT", "messageId": "m", "toolCallId": "c"}),
            "content",
        ),
        (json!({"type": "STATE_SNAPSHOT"}), "snapshot"),
        (
            json!({"type": "STATE_DELTA", "delta": [{"op": "add", "path": "/a"}]}),
            "delta[0]",
        ),
        (
            json!({"type": "STATE_DELTA", "delta": [{"op": "remove", "path": "a"}]}),
            "delta[0]",
        ),
        (
            json!({"type": "ACTIVITY_SNAPSHOT", "messageId": "m", "activityType": "x", "content": []}),
            "content",
        ),
        (finished(json!([])), "outcome"),
        (
            finished(json!({"type": "interrupt", "interrupts": []})),
            "outcome.interrupts",
        ),
        (
            finished(json!({"type": "interrupt", "interrupts": [{"id": "i"}]})),
            "outcome.interrupts[0].reason",
        ),
        (
            finished(json!({"type": "success", "pendingToolCallIds": [7]})),
            "outcome.pendingToolCallIds[0]",
        ),
    ] {
        let error = read_event(value.clone()).unwrap_err();
        assert_eq!(error.path, path, "{value}: {error}");
    }
    assert!(read_event(json!("text")).is_err());
}

#[test]
fn a_whole_number_may_be_written_with_a_fraction() {
    let end = json!({"type": "TEXT_MESSAGE_END", "messageId": "m", "timestamp": 12.0});
    let event = common::event(end);
    assert_eq!(event.base().timestamp, Some(12));
}

#[test]
fn text_of_parts_is_the_text_parts_joined() {
    let content = Content::from(vec![
        TextPart::new("a").into(),
        ImagePart::new(UrlSource::new("u")).into(),
        TextPart::new("b").into(),
    ]);
    assert_eq!(content.text(), "ab");
    assert_eq!(Content::from("a").text(), "a");
    assert_eq!(Content::Parts(Vec::new()).text(), "");
}

#[test]
fn an_answer_may_come_without_messages() {
    let entry = json!({"interruptId": "i", "status": "cancelled"});
    let input = json!({"threadId": "t", "runId": "r", "resume": [entry]});
    assert!(
        RunAgentInput::read(input)
            .unwrap()
            .value
            .messages
            .is_empty()
    );
    let input = json!({"threadId": "t", "runId": "r", "resume": []});
    assert_eq!(RunAgentInput::read(input).unwrap_err().path, "messages");
}
