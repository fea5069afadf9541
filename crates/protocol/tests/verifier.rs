//! Each rule of the verifier, broken once and kept where that is legal.

mod common;

use antiphon_protocol::*;
use common::event;
use serde_json::{Value, json};

fn start() -> Value {
    json!({"type": "RUN_STARTED", "threadId": "t1", "runId": "r1", "protocolVersion": "1.0"})
}

fn finish() -> Value {
    json!({"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1"})
}

fn error() -> Value {
    json!({"type": "RUN_ERROR", "message": "gone"})
}

/// Returns the rule that the stream breaks and the event that breaks it.
fn judge(mut verifier: Verifier, stream: &[Value]) -> Option<(Rule, usize)> {
    for (at, value) in stream.iter().enumerate() {
        if let Err(violation) = verifier.check(&event(value.clone())) {
            assert!(!violation.message.ends_with('.') && !violation.message.is_empty());
            return Some((violation.rule, at));
        }
    }
    verifier
        .finish()
        .err()
        .map(|violation| (violation.rule, stream.len()))
}

/// The last of these events breaks the rule, after a start.
#[track_caller]
fn breaks(rule: Rule, events: &[Value]) {
    let stream = [&[start()], events].concat();
    assert_eq!(
        judge(Verifier::consumer(), &stream),
        Some((rule, events.len()))
    );
    assert_eq!(
        judge(Verifier::producer(), &stream),
        Some((rule, events.len()))
    );
}

/// These events are legal between a start and an end.
#[track_caller]
fn passes(events: &[Value]) {
    let stream = [&[start()], events, &[finish()]].concat();
    assert_eq!(judge(Verifier::consumer(), &stream), None);
    assert_eq!(judge(Verifier::producer(), &stream), None);
}

/// Clients take it, but a server may not send it.
#[track_caller]
fn only_producer(verifier: Verifier, rule: Rule, events: &[Value]) {
    assert_eq!(judge(Verifier::consumer(), events), None);
    let Some((broken, _)) = judge(verifier, events) else {
        panic!("{rule} is not broken")
    };
    assert_eq!(broken, rule);
}

fn text(kind: &str, id: &str) -> Value {
    let mut event = json!({"type": format!("TEXT_MESSAGE_{kind}"), "messageId": id});
    if kind == "CONTENT" {
        event["delta"] = json!("x");
    }
    event
}

fn call(kind: &str, id: &str) -> Value {
    match kind {
        "START" => json!({"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": "f"}),
        "ARGS" => json!({"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": "{}"}),
        "RESULT" => json!({"type": "TOOL_CALL_RESULT", "toolCallId": id,
            "messageId": format!("result-{id}"), "content": "ok"}),
        _ => json!({"type": "TOOL_CALL_END", "toolCallId": id}),
    }
}

fn reasoning(kind: &str, id: &str) -> Value {
    let mut event = json!({"type": format!("REASONING_{kind}"), "messageId": id});
    match kind {
        "MESSAGE_START" => event["role"] = json!("reasoning"),
        "MESSAGE_CONTENT" => event["delta"] = json!("x"),
        _ => {}
    }
    event
}

fn step(kind: &str, name: &str) -> Value {
    json!({"type": format!("STEP_{kind}"), "stepName": name})
}

fn subagent(kind: &str, id: &str) -> Value {
    match kind {
        "STARTED" => json!({"type": "SUBAGENT_STARTED", "subagentRunId": id, "name": "helper"}),
        "ERROR" => json!({"type": "SUBAGENT_ERROR", "subagentRunId": id, "message": "gone"}),
        _ => json!({"type": "SUBAGENT_FINISHED", "subagentRunId": id}),
    }
}

fn tagged(mut event: Value, owner: &str) -> Value {
    event["subagentRunId"] = json!(owner);
    event
}

#[test]
fn a_stream_begins_with_a_run_or_an_error() {
    let judge = |stream: &[Value]| judge(Verifier::consumer(), stream);
    assert_eq!(judge(&[text("START", "m")]), Some((Rule::FirstEvent, 0)));
    assert_eq!(judge(&[finish()]), Some((Rule::FirstEvent, 0)));
    assert_eq!(judge(&[error()]), None);
    assert_eq!(judge(&[error(), start(), finish()]), None);
    assert_eq!(judge(&[]), Some((Rule::Terminal, 0)));
}

#[test]
fn a_run_ends_before_the_next_one_begins() {
    breaks(Rule::RunActive, &[start()]);
    let stream = [start(), finish(), start(), error(), start(), finish()];
    assert_eq!(judge(Verifier::producer(), &stream), None);
}

#[test]
fn nothing_comes_after_the_end() {
    breaks(Rule::AfterFinish, &[finish(), text("START", "m")]);
    breaks(Rule::AfterFinish, &[finish(), finish()]);
    breaks(Rule::AfterError, &[error(), finish()]);
    breaks(Rule::AfterError, &[error(), error()]);
    only_producer(
        Verifier::producer(),
        Rule::AfterFinish,
        &[start(), finish(), error()],
    );
}

#[test]
fn a_stream_that_is_cut_off_is_no_success() {
    let stream = [start(), text("START", "m"), text("CONTENT", "m")];
    assert_eq!(
        judge(Verifier::consumer(), &stream),
        Some((Rule::Terminal, 3))
    );
}

#[test]
fn a_new_run_forgets_what_the_failed_one_left_open() {
    let stream = [
        start(),
        text("START", "m"),
        error(),
        start(),
        text("START", "m"),
        text("END", "m"),
        finish(),
    ];
    assert_eq!(judge(Verifier::consumer(), &stream), None);
}

#[test]
fn items_are_opened_continued_and_closed_in_order() {
    for make in [text as fn(&str, &str) -> Value, call] {
        let going_on = if make("START", "a")["type"] == "TOOL_CALL_START" {
            "ARGS"
        } else {
            "CONTENT"
        };
        breaks(Rule::NotOpen, &[make(going_on, "a")]);
        breaks(Rule::NotOpen, &[make("END", "a")]);
        breaks(Rule::AlreadyOpen, &[make("START", "a"), make("START", "a")]);
        breaks(
            Rule::NotOpen,
            &[make("START", "a"), make("END", "a"), make(going_on, "a")],
        );
        breaks(Rule::StillOpen, &[make("START", "a"), finish()]);
        passes(&[
            make("START", "a"),
            make("START", "b"),
            make(going_on, "a"),
            make("END", "a"),
            make("START", "a"),
            make(going_on, "a"),
            make("END", "b"),
            make("END", "a"),
        ]);
    }
}

#[test]
fn reasoning_spans_and_messages_are_apart() {
    breaks(
        Rule::NotOpen,
        &[reasoning("START", "a"), reasoning("MESSAGE_CONTENT", "a")],
    );
    breaks(
        Rule::NotOpen,
        &[reasoning("MESSAGE_START", "a"), reasoning("END", "a")],
    );
    breaks(
        Rule::AlreadyOpen,
        &[reasoning("START", "a"), reasoning("START", "a")],
    );
    breaks(
        Rule::AlreadyOpen,
        &[
            reasoning("MESSAGE_START", "a"),
            reasoning("MESSAGE_START", "a"),
        ],
    );
    breaks(Rule::StillOpen, &[reasoning("START", "a"), finish()]);
    breaks(
        Rule::StillOpen,
        &[reasoning("MESSAGE_START", "a"), finish()],
    );
    passes(&[
        reasoning("START", "a"),
        reasoning("MESSAGE_START", "a"),
        reasoning("MESSAGE_CONTENT", "a"),
        reasoning("MESSAGE_END", "a"),
        reasoning("END", "a"),
    ]);
}

#[test]
fn steps_belong_to_who_started_them() {
    breaks(Rule::NotOpen, &[step("FINISHED", "a")]);
    breaks(
        Rule::AlreadyOpen,
        &[step("STARTED", "a"), step("STARTED", "a")],
    );
    breaks(Rule::StillOpen, &[step("STARTED", "a"), finish()]);
    breaks(
        Rule::Owner,
        &[step("STARTED", "a"), tagged(step("FINISHED", "a"), "s")],
    );
    breaks(
        Rule::Owner,
        &[tagged(step("STARTED", "a"), "s"), step("FINISHED", "a")],
    );
    passes(&[
        step("STARTED", "a"),
        tagged(step("STARTED", "a"), "s"),
        step("FINISHED", "a"),
        tagged(step("FINISHED", "a"), "s"),
    ]);
}

#[test]
fn what_one_subagent_opened_no_other_continues() {
    breaks(
        Rule::Owner,
        &[text("START", "m"), tagged(text("CONTENT", "m"), "s")],
    );
    breaks(
        Rule::Owner,
        &[
            tagged(text("START", "m"), "s"),
            tagged(text("END", "m"), "other"),
        ],
    );
    breaks(
        Rule::Owner,
        &[
            tagged(text("START", "m"), "s"),
            text("END", "m"),
            tagged(text("START", "m"), "other"),
        ],
    );
    breaks(
        Rule::Owner,
        &[
            tagged(call("START", "c"), "s"),
            tagged(call("ARGS", "c"), "other"),
        ],
    );
    breaks(
        Rule::Owner,
        &[
            tagged(reasoning("MESSAGE_START", "r"), "s"),
            tagged(reasoning("MESSAGE_END", "r"), "o"),
        ],
    );
    let sealed = |subtype: &str, id: &str| {
        json!({"type": "REASONING_ENCRYPTED_VALUE", "subtype": subtype, "entityId": id,
            "encryptedValue": "x", "subagentRunId": "other"})
    };
    breaks(Rule::Owner, &[text("START", "m"), sealed("message", "m")]);
    breaks(Rule::Owner, &[call("START", "c"), sealed("tool-call", "c")]);
    let shown =
        json!({"type": "ACTIVITY_SNAPSHOT", "messageId": "v", "activityType": "x", "content": {}});
    let changed =
        json!({"type": "ACTIVITY_DELTA", "messageId": "v", "activityType": "x", "patch": []});
    breaks(Rule::Owner, &[shown.clone(), tagged(changed.clone(), "s")]);
    // No tag never disagrees, and an id that nobody opened has no owner.
    passes(&[
        tagged(text("START", "m"), "s"),
        text("CONTENT", "m"),
        text("END", "m"),
        sealed("message", "elsewhere"),
        tagged(shown, "s"),
        changed,
    ]);
}

#[test]
fn a_call_belongs_to_the_message_that_carries_it() {
    let under = |mut call: Value, parent: &str| {
        call["parentMessageId"] = json!(parent);
        call
    };
    let of_s = [tagged(text("START", "m"), "s"), text("END", "m")];
    let with = |events: &[Value]| [&of_s[..], events].concat();
    breaks(
        Rule::Owner,
        &with(&[tagged(under(call("START", "c"), "m"), "other")]),
    );
    breaks(
        Rule::Owner,
        &with(&[
            under(call("START", "c"), "m"),
            tagged(call("ARGS", "c"), "other"),
        ]),
    );
    breaks(
        Rule::Owner,
        &with(&[
            call("START", "c"),
            call("END", "c"),
            under(call("START", "c"), "m"),
        ]),
    );
    passes(&with(&[
        under(call("START", "c"), "m"),
        tagged(call("ARGS", "c"), "s"),
        call("END", "c"),
    ]));
    passes(&[under(call("START", "c"), "unknown"), call("END", "c")]);
}

#[test]
fn restated_messages_bring_their_owners() {
    let snapshot = json!({"type": "MESSAGES_SNAPSHOT", "messages": [
        {"id": "m", "role": "assistant", "subagentRunId": "s", "toolCalls": [
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}]});
    breaks(
        Rule::Owner,
        &[snapshot.clone(), tagged(text("START", "m"), "other")],
    );
    breaks(
        Rule::Owner,
        &[snapshot, tagged(call("START", "c"), "other")],
    );
}

#[test]
fn a_subagent_lives_once() {
    breaks(Rule::Subagent, &[subagent("FINISHED", "s")]);
    breaks(Rule::Subagent, &[subagent("ERROR", "s")]);
    breaks(
        Rule::Subagent,
        &[subagent("STARTED", "s"), subagent("STARTED", "s")],
    );
    breaks(
        Rule::Subagent,
        &[
            subagent("STARTED", "s"),
            subagent("FINISHED", "s"),
            subagent("STARTED", "s"),
        ],
    );
    breaks(Rule::StillOpen, &[subagent("STARTED", "s"), finish()]);
    let mut child = subagent("STARTED", "child");
    child["parentSubagentRunId"] = json!("s");
    breaks(Rule::Subagent, std::slice::from_ref(&child));
    passes(&[
        subagent("STARTED", "s"),
        subagent("ERROR", "s"),
        child,
        subagent("FINISHED", "child"),
        // A tag that nobody announced is taken.
        tagged(text("START", "m"), "unannounced"),
        text("END", "m"),
    ]);
}

#[test]
fn a_server_closes_everything_before_an_error() {
    only_producer(
        Verifier::producer(),
        Rule::StillOpen,
        &[start(), text("START", "m"), error()],
    );
}

fn asked() -> RunAgentInput {
    RunAgentInput {
        protocol_version: Some("1.0".to_owned()),
        tools: vec![Tool::new("f", "the client's")],
        ..RunAgentInput::new("t1", "r1", vec![UserMessage::new("u1", "hi").into()])
    }
}

#[test]
fn a_server_answers_the_request_that_was_made() {
    let answering = || Verifier::producer().answering(&asked());
    assert_eq!(judge(answering(), &[start(), finish()]), None);
    let with = |mut event: Value, key: &str, value: Value| {
        event[key] = value;
        event
    };
    let other_thread = with(start(), "threadId", json!("t2"));
    only_producer(answering(), Rule::ThreadId, &[other_thread, finish()]);
    let other_run = with(start(), "runId", json!("r2"));
    only_producer(answering(), Rule::RunId, &[other_run, finish()]);
    let ends_other = with(finish(), "runId", json!("r2"));
    only_producer(Verifier::producer(), Rule::RunId, &[start(), ends_other]);
    let ends_other = with(finish(), "threadId", json!("t2"));
    only_producer(Verifier::producer(), Rule::ThreadId, &[start(), ends_other]);
    for version in ["1", "one.two", "", "1."] {
        let started = with(start(), "protocolVersion", json!(version));
        only_producer(answering(), Rule::ProtocolVersion, &[started, finish()]);
    }
    let mut silent = start();
    silent.as_object_mut().unwrap().remove("protocolVersion");
    only_producer(answering(), Rule::ProtocolVersion, &[silent, finish()]);
}

#[test]
fn a_server_leaves_the_clients_tools_to_the_client() {
    let called = [
        start(),
        call("START", "c"),
        call("END", "c"),
        call("RESULT", "c"),
        finish(),
    ];
    only_producer(
        Verifier::producer().answering(&asked()),
        Rule::FrontendAnswered,
        &called,
    );
    assert_eq!(judge(Verifier::producer(), &called), None);
}

#[test]
fn results_answer_calls_that_were_made_and_once() {
    let result = [start(), call("RESULT", "c"), finish()];
    only_producer(
        Verifier::producer().after(&[]),
        Rule::ResultUnknownCall,
        &result,
    );
    assert_eq!(judge(Verifier::producer(), &result), None);
    let history = vec![Message::Assistant(AssistantMessage {
        tool_calls: vec![ToolCall::new("c", FunctionCall::new("f", "{}"))],
        ..AssistantMessage::new("a1")
    })];
    assert_eq!(judge(Verifier::producer().after(&history), &result), None);
    let mut again = call("RESULT", "c");
    again["messageId"] = json!("another");
    only_producer(
        Verifier::producer(),
        Rule::ResultTwice,
        &[start(), call("RESULT", "c"), again, finish()],
    );
}

#[test]
fn message_ids_name_one_message() {
    let history = vec![Message::User(UserMessage::new("m", "hi"))];
    let streams = [start(), text("START", "m"), text("END", "m"), finish()];
    only_producer(
        Verifier::producer().after(&history),
        Rule::MessageIdReused,
        &streams,
    );
    assert_eq!(judge(Verifier::producer(), &streams), None);
    only_producer(
        Verifier::producer(),
        Rule::MessageIdReused,
        &[
            start(),
            text("START", "m"),
            text("END", "m"),
            reasoning("MESSAGE_START", "m"),
            reasoning("MESSAGE_END", "m"),
            finish(),
        ],
    );
    let mut result = call("RESULT", "c");
    result["messageId"] = json!("m");
    only_producer(
        Verifier::producer(),
        Rule::MessageIdReused,
        &[
            start(),
            text("START", "m"),
            text("END", "m"),
            result,
            finish(),
        ],
    );
    let twice = json!({"type": "MESSAGES_SNAPSHOT", "messages": [
        {"id": "m", "role": "user", "content": "a"}, {"id": "m", "role": "user", "content": "b"}]});
    only_producer(
        Verifier::producer(),
        Rule::SnapshotDuplicateId,
        &[start(), twice, finish()],
    );
}

#[test]
fn pending_calls_are_named_exactly() {
    let calls = [
        start(),
        call("START", "a"),
        call("END", "a"),
        call("START", "b"),
        call("END", "b"),
        call("START", "c"),
        call("END", "c"),
        call("RESULT", "b"),
    ];
    let ending = |ids: Value| {
        let mut finish = finish();
        finish["outcome"] = json!({"type": "success", "pendingToolCallIds": ids});
        [&calls[..], &[finish]].concat()
    };
    assert_eq!(
        judge(Verifier::producer(), &ending(json!(["a", "c"]))),
        None
    );
    for ids in [
        json!([]),
        json!(["a"]),
        json!(["c", "a"]),
        json!(["a", "b", "c"]),
    ] {
        only_producer(Verifier::producer(), Rule::PendingToolCalls, &ending(ids));
    }
}

#[test]
fn interrupts_have_ids_of_their_own_and_name_calls_that_were_made() {
    let ending = |interrupts: Value| {
        let mut finish = finish();
        finish["outcome"] = json!({"type": "interrupt", "interrupts": interrupts});
        [start(), call("START", "c"), call("END", "c"), finish]
    };
    let of = |id: &str, call: &str| json!({"id": id, "reason": "tool_call", "toolCallId": call});
    let verifier = || Verifier::producer().after(&[]);
    assert_eq!(
        judge(verifier(), &ending(json!([of("i1", "c"), of("i2", "c")]))),
        None
    );
    only_producer(
        verifier(),
        Rule::InterruptId,
        &ending(json!([of("i1", "c"), of("i1", "c")])),
    );
    only_producer(verifier(), Rule::InterruptId, &ending(json!([of("", "c")])));
    only_producer(
        verifier(),
        Rule::InterruptToolCall,
        &ending(json!([of("i1", "unmade")])),
    );
    let mut none = Verifier::producer();
    none.check(&event(start())).unwrap();
    let outcome = Some(Outcome::Interrupt {
        interrupts: Vec::new(),
    });
    let finished = RunFinished {
        outcome,
        ..RunFinished::new("t1", "r1")
    };
    assert_eq!(
        none.check(&finished.into()).unwrap_err().rule,
        Rule::InterruptId
    );
}

#[test]
fn a_cancelled_run_has_no_result() {
    let mut finish = finish();
    finish["outcome"] = json!({"type": "cancelled"});
    assert_eq!(
        judge(Verifier::producer(), &[start(), finish.clone()]),
        None
    );
    finish["result"] = json!(1);
    only_producer(
        Verifier::producer(),
        Rule::CancelledResult,
        &[start(), finish],
    );
}

#[test]
fn an_activity_changes_after_its_snapshot() {
    let changed =
        json!({"type": "ACTIVITY_DELTA", "messageId": "v", "activityType": "x", "patch": []});
    only_producer(
        Verifier::producer(),
        Rule::ActivityBaseline,
        &[start(), changed, finish()],
    );
}

#[test]
fn usage_adds_up() {
    let ending = |usage: Value| {
        let mut finish = finish();
        finish["usage"] = json!([usage]);
        [start(), finish]
    };
    let whole = json!({"inputTokens": 10, "outputTokens": 5, "totalTokens": 15,
        "cachedInputTokens": 10, "reasoningTokens": 5});
    assert_eq!(judge(Verifier::producer(), &ending(whole)), None);
    assert_eq!(
        judge(Verifier::producer(), &ending(json!({"totalTokens": 15}))),
        None
    );
    let wrong = json!({"inputTokens": 10, "outputTokens": 5, "totalTokens": 16});
    only_producer(Verifier::producer(), Rule::UsageTotal, &ending(wrong));
    for part in ["cachedInputTokens", "cacheWriteInputTokens"] {
        let wrong = json!({"inputTokens": 10, part: 11});
        only_producer(Verifier::producer(), Rule::UsagePart, &ending(wrong));
    }
    let wrong = json!({"outputTokens": 5, "reasoningTokens": 6});
    only_producer(Verifier::producer(), Rule::UsagePart, &ending(wrong));
}

#[test]
fn optional_members_are_never_null() {
    let mut verifier = Verifier::producer();
    verifier.check(&event(start())).unwrap();
    let mut note = Custom::new("acme:note", Value::Null);
    verifier.check(&note.clone().into()).unwrap();
    note.base.raw_event = Some(Value::Null);
    assert_eq!(
        verifier.check(&note.into()).unwrap_err().rule,
        Rule::NullOptional
    );
    let finished = RunFinished {
        result: Some(Value::Null),
        ..RunFinished::new("t1", "r1")
    };
    assert_eq!(
        verifier.check(&finished.into()).unwrap_err().rule,
        Rule::NullOptional
    );
}

#[test]
fn an_old_peer_is_sent_what_it_can_read() {
    let old = || Verifier::producer().speaking(Dialect::V0);
    let mut silent = start();
    silent.as_object_mut().unwrap().remove("protocolVersion");
    assert_eq!(judge(old(), &[silent.clone(), finish()]), None);
    assert_eq!(judge(old(), &[start(), finish()]), None);
    let mut cancelled = finish();
    cancelled["outcome"] = json!({"type": "cancelled"});
    only_producer(old(), Rule::OldPeer, &[silent.clone(), cancelled]);
    only_producer(
        old(),
        Rule::OldPeer,
        &[
            silent,
            subagent("STARTED", "s"),
            subagent("FINISHED", "s"),
            finish(),
        ],
    );
}

#[test]
fn an_event_that_breaks_a_rule_has_not_happened() {
    let mut verifier = Verifier::consumer();
    verifier.check(&event(start())).unwrap();
    verifier.check(&event(text("START", "m"))).unwrap();
    assert!(verifier.check(&event(finish())).is_err());
    verifier.check(&event(text("END", "m"))).unwrap();
    verifier.check(&event(finish())).unwrap();
    verifier.finish().unwrap();
}
