//! What several tests need: one event of every type, whole and bare, and how streams are played.

#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]

use antiphon_protocol::*;
use serde_json::{Map, Value, json};

pub fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("not an object: {other}"),
    }
}

pub fn base() -> Base {
    Base {
        timestamp: Some(1_790_000_000_000),
        raw_event: Some(json!({"chunk": [1, null]})),
        metadata: Some(object(json!({"trace": {"id": "x"}, "none": null}))),
    }
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn metadata() -> Option<Metadata> {
    Some(object(json!({"note": "é🧪"})))
}

pub fn tool_call() -> ToolCall {
    ToolCall {
        encrypted_value: some("sealed-call"),
        metadata: metadata(),
        ..ToolCall::new("c1", FunctionCall::new("search", r#"{"q":"tea"}"#))
    }
}

pub fn parts() -> Vec<ContentPart> {
    let url = UrlSource {
        mime_type: some("image/png"),
        ..UrlSource::new("https://example.com/a.png")
    };
    let file = FileSource {
        provider: some("openai"),
        mime_type: some("application/pdf"),
        ..FileSource::new("file-1")
    };
    vec![
        TextPart {
            id: some("p1"),
            metadata: Some(json!([1])),
            ..TextPart::new("look")
        }
        .into(),
        ImagePart {
            id: some("p2"),
            metadata: Some(json!({"w": 1})),
            ..ImagePart::new(url)
        }
        .into(),
        AudioPart::new(DataSource::new("AAAA", "audio/wav")).into(),
        VideoPart::new(UrlSource::new("https://example.com/v")).into(),
        DocumentPart::new(file).into(),
    ]
}

/// One message of every role, with everything it can hold.
pub fn messages() -> Vec<Message> {
    let name = || some("speaker");
    let sealed = || some("sealed");
    let sub = || some("s1");
    vec![
        DeveloperMessage {
            name: name(),
            encrypted_value: sealed(),
            metadata: metadata(),
            subagent_run_id: sub(),
            ..DeveloperMessage::new("d1", "be brief")
        }
        .into(),
        SystemMessage {
            name: name(),
            encrypted_value: sealed(),
            metadata: metadata(),
            subagent_run_id: sub(),
            ..SystemMessage::new("y1", "be kind")
        }
        .into(),
        UserMessage {
            name: name(),
            encrypted_value: sealed(),
            metadata: metadata(),
            subagent_run_id: sub(),
            ..UserMessage::new("u1", parts())
        }
        .into(),
        ReasoningMessage {
            encrypted_value: sealed(),
            metadata: metadata(),
            subagent_run_id: sub(),
            ..ReasoningMessage::new("r1", "tea, then")
        }
        .into(),
        AssistantMessage {
            content: some("searching"),
            name: name(),
            encrypted_value: sealed(),
            metadata: metadata(),
            subagent_run_id: sub(),
            tool_calls: vec![tool_call()],
            ..AssistantMessage::new("a1")
        }
        .into(),
        ToolMessage {
            error: some("half"),
            encrypted_value: sealed(),
            metadata: metadata(),
            subagent_run_id: sub(),
            ..ToolMessage::new("t1", "c1", parts())
        }
        .into(),
        ActivityMessage {
            metadata: metadata(),
            subagent_run_id: sub(),
            ..ActivityMessage::new("v1", "plan", object(json!({"steps": [{"done": null}]})))
        }
        .into(),
    ]
}

pub fn usage() -> TokenUsage {
    TokenUsage {
        provider: some("openai"),
        model: some("gpt"),
        input_tokens: Some(100),
        output_tokens: Some(20),
        total_tokens: Some(120),
        reasoning_tokens: Some(5),
        cached_input_tokens: Some(50),
        cache_write_input_tokens: Some(10),
    }
}

pub fn interrupt() -> Interrupt {
    Interrupt {
        message: some("Delete it?"),
        tool_call_id: some("c1"),
        response_schema: Some(object(json!({"type": "object"}))),
        expires_at: some("2026-11-30T12:00:00Z"),
        metadata: metadata(),
        subagent_run_id: some("s1"),
        ..Interrupt::new("i1", "tool_call")
    }
}

pub fn input() -> RunAgentInput {
    RunAgentInput {
        protocol_version: some("1.0"),
        parent_run_id: some("r0"),
        state: Some(json!({"document": null})),
        tools: vec![Tool {
            parameters: Some(json!({"type": "object"})),
            metadata: metadata(),
            ..Tool::new("search", "Searches")
        }],
        context: vec![Context::new("name", "Bob")],
        forwarded_props: Some(json!({"a": 1})),
        resume: vec![ResumeEntry {
            payload: Some(json!({"approved": true})),
            metadata: metadata(),
            ..ResumeEntry::new("i0", ResumeStatus::Resolved)
        }],
        ..RunAgentInput::new("t1", "r1", messages())
    }
}

fn patch() -> antiphon_state::Patch {
    serde_json::from_value(json!([
        {"op": "add", "path": "/a~1b", "value": null},
        {"op": "remove", "path": "/old"},
        {"op": "replace", "path": "", "value": {"n": 1.5}},
        {"op": "move", "from": "/x", "path": "/y/-"},
        {"op": "copy", "from": "/x", "path": "/z"},
        {"op": "test", "path": "/ok", "value": true},
    ]))
    .expect("a patch")
}

/// One event of every type with all its members, and further ones for every kind of union.
pub fn whole_events() -> Vec<Event> {
    let sub = || some("s1");
    let started = RunStarted {
        protocol_version: some("1.0"),
        parent_run_id: some("r0"),
        input: Some(Box::new(input())),
        ..RunStarted::new("t1", "r1")
    };
    let finished = RunFinished {
        result: Some(json!({"answer": [42, -1, 1.5]})),
        outcome: Some(Outcome::Interrupt {
            interrupts: vec![interrupt()],
        }),
        usage: Some(vec![usage()]),
        ..RunFinished::new("t1", "r1")
    };
    let pending = Outcome::Success {
        pending_tool_call_ids: Some(vec!["c1".to_owned()]),
    };
    let suspended = SubagentOutcome::Suspended {
        interrupt_ids: Some(vec!["i1".to_owned()]),
    };
    let mut events: Vec<Event> = vec![
        started.into(),
        finished.into(),
        RunFinished {
            outcome: Some(pending),
            ..RunFinished::new("t1", "r1")
        }
        .into(),
        RunFinished {
            outcome: Some(Outcome::success()),
            ..RunFinished::new("t1", "r1")
        }
        .into(),
        RunFinished {
            outcome: Some(Outcome::Cancelled),
            ..RunFinished::new("t1", "r1")
        }
        .into(),
        RunError {
            code: some("provider"),
            usage: Some(vec![usage()]),
            ..RunError::new("gone")
        }
        .into(),
        StepStarted {
            subagent_run_id: sub(),
            ..StepStarted::new("plan")
        }
        .into(),
        StepFinished {
            subagent_run_id: sub(),
            ..StepFinished::new("plan")
        }
        .into(),
        TextMessageStart {
            role: Some(TextRole::Assistant),
            name: some("speaker"),
            subagent_run_id: sub(),
            ..TextMessageStart::new("m1")
        }
        .into(),
        TextMessageContent {
            subagent_run_id: sub(),
            ..TextMessageContent::new("m1", "a\n\"é🧪")
        }
        .into(),
        TextMessageEnd {
            subagent_run_id: sub(),
            ..TextMessageEnd::new("m1")
        }
        .into(),
        TextMessageChunk {
            message_id: some("m1"),
            role: Some(TextRole::User),
            delta: some(""),
            name: some("speaker"),
            subagent_run_id: sub(),
            ..TextMessageChunk::new()
        }
        .into(),
        ToolCallStart {
            parent_message_id: some("m1"),
            subagent_run_id: sub(),
            ..ToolCallStart::new("c1", "search")
        }
        .into(),
        ToolCallArgs {
            subagent_run_id: sub(),
            ..ToolCallArgs::new("c1", "{\"q\":")
        }
        .into(),
        ToolCallEnd {
            subagent_run_id: sub(),
            ..ToolCallEnd::new("c1")
        }
        .into(),
        ToolCallChunk {
            tool_call_id: some("c1"),
            tool_call_name: some("search"),
            parent_message_id: some("m1"),
            delta: some("{}"),
            subagent_run_id: sub(),
            ..ToolCallChunk::new()
        }
        .into(),
        ToolCallResult {
            subagent_run_id: sub(),
            ..ToolCallResult::new("t1", "c1", "found")
        }
        .into(),
        ToolCallResult::new("t1", "c1", parts()).into(),
        StateSnapshot {
            subagent_run_id: sub(),
            ..StateSnapshot::new(json!({"a": {"b": []}}))
        }
        .into(),
        StateSnapshot::new(Value::Null).into(),
        StateDelta {
            subagent_run_id: sub(),
            ..StateDelta::new(patch())
        }
        .into(),
        MessagesSnapshot::new(messages()).into(),
        ActivitySnapshot {
            replace: Some(false),
            subagent_run_id: sub(),
            ..ActivitySnapshot::new("v1", "plan", object(json!({"steps": []})))
        }
        .into(),
        ActivityDelta {
            subagent_run_id: sub(),
            ..ActivityDelta::new("v1", "plan", patch())
        }
        .into(),
        ReasoningStart {
            subagent_run_id: sub(),
            ..ReasoningStart::new("r1")
        }
        .into(),
        ReasoningMessageStart {
            subagent_run_id: sub(),
            ..ReasoningMessageStart::new("r1")
        }
        .into(),
        ReasoningMessageContent {
            subagent_run_id: sub(),
            ..ReasoningMessageContent::new("r1", "hm")
        }
        .into(),
        ReasoningMessageEnd {
            subagent_run_id: sub(),
            ..ReasoningMessageEnd::new("r1")
        }
        .into(),
        ReasoningMessageChunk {
            message_id: some("r1"),
            delta: some("hm"),
            subagent_run_id: sub(),
            ..ReasoningMessageChunk::new()
        }
        .into(),
        ReasoningEnd {
            subagent_run_id: sub(),
            ..ReasoningEnd::new("r1")
        }
        .into(),
        ReasoningEncryptedValue {
            subagent_run_id: sub(),
            ..ReasoningEncryptedValue::new(EncryptedValueSubtype::ToolCall, "c1", "sealed")
        }
        .into(),
        SubagentStarted {
            description: some("looks it up"),
            parent_subagent_run_id: some("s0"),
            parent_tool_call_id: some("c1"),
            parent_message_id: some("m1"),
            ..SubagentStarted::new("s1", "researcher")
        }
        .into(),
        SubagentFinished {
            result: Some(json!("done")),
            outcome: Some(suspended),
            ..SubagentFinished::new("s1")
        }
        .into(),
        SubagentFinished {
            outcome: Some(SubagentOutcome::Success),
            ..SubagentFinished::new("s1")
        }
        .into(),
        SubagentError {
            code: some("lost"),
            ..SubagentError::new("s1", "gave up")
        }
        .into(),
        Raw {
            source: some("langgraph"),
            subagent_run_id: sub(),
            ..Raw::new(json!([{"a": null}]))
        }
        .into(),
        Custom {
            subagent_run_id: sub(),
            ..Custom::new("acme:progress", json!(null))
        }
        .into(),
    ];
    for event in &mut events {
        *event.base_mut() = base();
    }
    events
}

/// One event of every type with what is required and nothing else.
pub fn bare_events() -> Vec<Event> {
    vec![
        RunStarted::new("t1", "r1").into(),
        RunFinished::new("t1", "r1").into(),
        RunError::new("gone").into(),
        StepStarted::new("plan").into(),
        StepFinished::new("plan").into(),
        TextMessageStart::new("m1").into(),
        TextMessageContent::new("m1", "").into(),
        TextMessageEnd::new("m1").into(),
        TextMessageChunk::new().into(),
        ToolCallStart::new("c1", "search").into(),
        ToolCallArgs::new("c1", "{").into(),
        ToolCallEnd::new("c1").into(),
        ToolCallChunk::new().into(),
        ToolCallResult::new("t1", "c1", "found").into(),
        StateSnapshot::new(json!({})).into(),
        StateDelta::new(Vec::new()).into(),
        MessagesSnapshot::new(Vec::new()).into(),
        ActivitySnapshot::new("v1", "plan", Map::new()).into(),
        ActivityDelta::new("v1", "plan", Vec::new()).into(),
        ReasoningStart::new("r1").into(),
        ReasoningMessageStart::new("r1").into(),
        ReasoningMessageContent::new("r1", "hm").into(),
        ReasoningMessageEnd::new("r1").into(),
        ReasoningMessageChunk::new().into(),
        ReasoningEnd::new("r1").into(),
        ReasoningEncryptedValue::new(EncryptedValueSubtype::Message, "r1", "sealed").into(),
        SubagentStarted::new("s1", "researcher").into(),
        SubagentFinished::new("s1").into(),
        SubagentError::new("s1", "gave up").into(),
        Raw::new(json!(1)).into(),
        Custom::new("acme:progress", json!({"done": 1})).into(),
    ]
}

/// What a client holds and thinks after a stream.
pub struct Played {
    pub replica: Replica,
    pub warnings: Vec<Warning>,
    pub failure: Option<String>,
}

/// Plays events through chunks, verifier and replica.
pub fn play(
    messages: Vec<Message>,
    state: Option<Value>,
    events: impl IntoIterator<Item = Event>,
) -> Played {
    let mut chunks = Chunks::default();
    let mut verifier = Verifier::consumer();
    let mut played = Played {
        replica: Replica::new(messages, state),
        warnings: Vec::new(),
        failure: None,
    };
    let mut expanded = Vec::new();
    for event in events {
        if let Err(violation) = chunks.expand(event, &mut expanded) {
            played.failure = Some(violation.to_string());
            return played;
        }
        for event in expanded.drain(..) {
            if let Err(violation) = verifier.check(&event) {
                played.failure = Some(violation.to_string());
                return played;
            }
            played.warnings.extend(played.replica.apply(&event));
            match event {
                Event::RunStarted(_) => played.failure = None,
                Event::RunError(error) => played.failure = Some(error.message),
                _ => {}
            }
        }
    }
    if played.failure.is_none() {
        played.failure = verifier
            .finish()
            .err()
            .map(|violation| violation.to_string());
    }
    played
}

/// Reads an event that is known and needs no mending.
pub fn event(value: Value) -> Event {
    let read = Event::read(value).expect("a well-formed event");
    assert_eq!(read.warnings, []);
    read.value.expect("a known event")
}
