//! What a 0.x peer is sent.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use antiphon_protocol::*;
use common::{bare_events, event, whole_events};
use serde_json::{Value, json};

fn translate(value: Value) -> Option<Value> {
    Dialect::V0
        .translate(event(value))
        .map(|event| serde_json::to_value(event).unwrap())
}

#[test]
fn the_dialect_follows_from_the_declared_version() {
    assert_eq!(Dialect::of(None), Dialect::V0);
    assert_eq!(Dialect::of(Some("0.9")), Dialect::V0);
    for version in ["1.0", "1.99", "99.0", "banana", ""] {
        assert_eq!(Dialect::of(Some(version)), Dialect::V1);
    }
}

#[test]
fn a_peer_of_today_is_sent_everything_unchanged() {
    for event in whole_events() {
        assert!(!Dialect::V1.concerns(event.kind()));
        assert_eq!(Dialect::V1.translate(event.clone()), Some(event));
    }
}

#[test]
fn only_what_concerns_the_dialect_changes() {
    for event in [whole_events(), bare_events()].concat() {
        let translated = Dialect::V0.translate(event.clone());
        if !Dialect::V0.concerns(event.kind()) {
            assert_eq!(translated.as_ref(), Some(&event));
        }
        // What was translated once is readable.
        if let Some(translated) = translated {
            assert_eq!(Dialect::V0.translate(translated.clone()), Some(translated));
        }
    }
}

#[test]
fn outcomes_become_what_the_peer_knows() {
    let finished = |outcome: Value| json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": outcome});
    assert_eq!(
        translate(finished(
            json!({"type": "success", "pendingToolCallIds": ["c"]})
        )),
        Some(finished(json!({"type": "success"})))
    );
    assert_eq!(
        translate(finished(json!({"type": "cancelled"}))),
        Some(json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}))
    );
    let interrupt =
        finished(json!({"type": "interrupt", "interrupts": [{"id": "i", "reason": "x"}]}));
    assert_eq!(translate(interrupt.clone()), Some(interrupt));
}

#[test]
fn parts_in_results_become_their_text() {
    let content = json!([{"type": "text", "text": "a"}, {"type": "image",
        "source": {"type": "url", "value": "u"}}, {"type": "text", "text": "b"}]);
    let result = |content: Value| {
        json!({"type": "TOOL_CALL_RESULT", "role": "tool", "messageId": "m", "toolCallId": "c",
            "content": content})
    };
    assert_eq!(
        translate(result(content.clone())),
        Some(result(json!("ab")))
    );
    let snapshot = |content: Value| {
        json!({"type": "MESSAGES_SNAPSHOT", "messages": [
            {"role": "tool", "id": "m", "toolCallId": "c", "content": content}]})
    };
    assert_eq!(translate(snapshot(content)), Some(snapshot(json!("ab"))));
}

#[test]
fn provider_handles_become_a_mention_of_the_part() {
    let user = |part: Value| {
        json!({"type": "MESSAGES_SNAPSHOT", "messages": [
            {"role": "user", "id": "m", "content": [{"type": "text", "text": "see"}, part]}]})
    };
    let handle = json!({"type": "document", "source": {"type": "file", "value": "file-1"}});
    assert_eq!(
        translate(user(handle)),
        Some(user(json!({"type": "text", "text": "[document]"})))
    );
    let url = user(json!({"type": "image", "source": {"type": "url", "value": "u"}}));
    assert_eq!(translate(url.clone()), Some(url));
}

#[test]
fn subagents_are_not_told_of() {
    for kind in ["SUBAGENT_STARTED", "SUBAGENT_FINISHED", "SUBAGENT_ERROR"] {
        let event = json!({"type": kind, "subagentRunId": "s"});
        let event = match kind {
            "SUBAGENT_STARTED" => json!({"type": kind, "subagentRunId": "s", "name": "n"}),
            "SUBAGENT_ERROR" => json!({"type": kind, "subagentRunId": "s", "message": "m"}),
            _ => event,
        };
        assert_eq!(translate(event), None);
    }
}

#[test]
fn our_version_is_declared_to_older_peers_too() {
    let started =
        json!({"type": "RUN_STARTED", "threadId": "t", "runId": "r", "protocolVersion": "1.0"});
    assert_eq!(translate(started.clone()), Some(started));
}

#[test]
fn an_echoed_request_is_whole() {
    let mut started = RunStarted::new("t", "r");
    let parts = vec![TextPart::new("a").into(), TextPart::new("b").into()];
    let messages = vec![ToolMessage::new("m", "c", parts).into()];
    started.input = Some(Box::new(RunAgentInput::new("t", "r", messages)));
    let translated = serde_json::to_value(Dialect::V0.translate(started.into())).unwrap();
    assert_eq!(translated["input"]["tools"], json!([]));
    assert_eq!(translated["input"]["context"], json!([]));
    assert_eq!(translated["input"]["messages"][0]["content"], "ab");
}
