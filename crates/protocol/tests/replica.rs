//! How events are folded, beyond what the cases from the field show.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::needless_pass_by_value,
    reason = "JSON literals read better without `&`"
)]

mod common;

use antiphon_protocol::*;
use common::event;
use serde_json::{Value, json};

struct Fold {
    replica: Replica,
    warnings: usize,
}

impl Fold {
    fn of(messages: Value, state: Value) -> Self {
        let messages: Vec<Message> = serde_json::from_value(messages).unwrap();
        Self {
            replica: Replica::new(messages, state),
            warnings: 0,
        }
    }

    fn apply(&mut self, events: Value) -> &mut Self {
        for value in events.as_array().unwrap() {
            self.warnings += self.replica.apply(&event(value.clone())).len();
        }
        self
    }

    fn messages(&self) -> Value {
        serde_json::to_value(self.replica.messages()).unwrap()
    }

    fn ids(&self) -> Vec<&str> {
        self.replica.messages().iter().map(Message::id).collect()
    }
}

fn fold(messages: Value, events: Value) -> Fold {
    let mut fold = Fold::of(messages, json!({}));
    fold.apply(events);
    fold
}

fn assistant(id: &str, calls: &[&str]) -> Value {
    let calls: Vec<_> = calls
        .iter()
        .map(|id| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}}))
        .collect();
    json!({"id": id, "role": "assistant", "toolCalls": calls})
}

#[test]
fn a_text_keeps_its_role_name_owner_and_metadata() {
    let fold = fold(
        json!([]),
        json!([
            {"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "user", "name": "Ann",
                "subagentRunId": "s", "metadata": {"a": 1, "b": {"x": 1}}},
            {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "hi", "metadata": {"b": {"y": 2}}},
            {"type": "TEXT_MESSAGE_END", "messageId": "m", "metadata": {"c": null}},
        ]),
    );
    assert_eq!(
        fold.messages(),
        json!([{"role": "user", "id": "m", "content": "hi", "name": "Ann",
        "subagentRunId": "s", "metadata": {"a": 1, "b": {"y": 2}, "c": null}}])
    );
    assert_eq!(fold.warnings, 0);
}

#[test]
fn a_message_that_begins_again_is_continued() {
    let held = json!([{"id": "m", "role": "assistant", "content": "a"}]);
    let fold = fold(
        held,
        json!([
            {"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "user"},
            {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "b"},
        ]),
    );
    assert_eq!(
        fold.messages(),
        json!([{"role": "assistant", "id": "m", "content": "ab"}])
    );
}

#[test]
fn text_for_an_activity_or_for_nothing_is_left_out_with_a_warning() {
    let held = json!([{"id": "v", "role": "activity", "activityType": "x", "content": {}}]);
    let fold = fold(
        held.clone(),
        json!([
            {"type": "TEXT_MESSAGE_START", "messageId": "v"},
            {"type": "TEXT_MESSAGE_CONTENT", "messageId": "v", "delta": "a"},
            {"type": "TEXT_MESSAGE_END", "messageId": "v"},
            {"type": "REASONING_MESSAGE_START", "messageId": "v", "role": "reasoning"},
            {"type": "TEXT_MESSAGE_CONTENT", "messageId": "nobody", "delta": "a"},
            {"type": "TOOL_CALL_ARGS", "toolCallId": "nobody", "delta": "a"},
            {"type": "TOOL_CALL_END", "toolCallId": "nobody"},
            {"type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "delta": "a"},
        ]),
    );
    assert_eq!(
        fold.messages(),
        json!([{"role": "activity", "id": "v", "activityType": "x", "content": {}}])
    );
    assert_eq!(fold.warnings, 8);
}

#[test]
fn a_call_finds_its_message() {
    let held =
        json!([{"id": "u", "role": "user", "content": "x"}, {"id": "a", "role": "assistant"}]);
    let start = |id: &str, parent: Option<&str>| {
        let mut start = json!({"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": "f"});
        if let Some(parent) = parent {
            start["parentMessageId"] = json!(parent);
        }
        start
    };
    let fold = fold(
        held,
        json!([
            start("c1", Some("a")),
            start("c2", Some("new")),
            start("c3", Some("new")),
            start("c4", None),
            start("c5", Some("u")),
        ]),
    );
    assert_eq!(fold.ids(), ["u", "a", "new", "c4", "c5"]);
    let calls: Vec<Vec<_>> = fold
        .replica
        .messages()
        .iter()
        .map(|message| {
            message
                .tool_calls()
                .iter()
                .map(|call| call.id.as_str())
                .collect()
        })
        .collect();
    assert_eq!(
        calls,
        [vec![], vec!["c1"], vec!["c2", "c3"], vec!["c4"], vec!["c5"]]
    );
    assert_eq!(fold.warnings, 1);
}

#[test]
fn a_call_that_begins_again_is_kept_and_may_be_renamed() {
    let fold = fold(
        json!([assistant("a", &["c"])]),
        json!([
            {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "g", "metadata": {"n": 1}},
            {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "!"},
            {"type": "TOOL_CALL_END", "toolCallId": "c"},
        ]),
    );
    assert_eq!(
        fold.messages(),
        json!([{"role": "assistant", "id": "a", "toolCalls": [{"type": "function",
        "id": "c", "function": {"name": "g", "arguments": "{}!"}, "metadata": {"n": 1}}]}])
    );
    assert_eq!(fold.warnings, 1);
}

#[test]
fn results_stand_behind_their_calls() {
    let result = |id: &str, call: &str| json!({"type": "TOOL_CALL_RESULT", "messageId": id, "toolCallId": call, "content": "ok"});
    let held = json!([
        assistant("a", &["c1", "c2"]),
        {"id": "u", "role": "user", "content": "x"},
        assistant("b", &["c3"]),
    ]);
    let mut fold = fold(
        held,
        json!([
            result("r1", "c2"),
            result("r2", "c1"),
            result("r3", "c3"),
            result("r4", "unknown"),
        ]),
    );
    assert_eq!(fold.ids(), ["a", "r1", "r2", "u", "b", "r3", "r4"]);
    // What was moved is still found.
    fold.apply(json!([
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c3", "delta": "?"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "u", "delta": "y"},
        result("r5", "c3"),
    ]));
    assert_eq!(fold.ids(), ["a", "r1", "r2", "u", "b", "r3", "r4", "r5"]);
    assert_eq!(fold.messages()[3]["content"], "xy");
    assert_eq!(
        fold.messages()[4]["toolCalls"][0]["function"]["arguments"],
        "{}?"
    );
    assert_eq!(fold.warnings, 0);
}

#[test]
fn a_result_with_parts_keeps_them() {
    let parts = json!([{"type": "image", "source": {"type": "file", "value": "f"}}]);
    let fold = fold(
        json!([]),
        json!([
        {"type": "TOOL_CALL_RESULT", "messageId": "r", "toolCallId": "c", "content": parts}]),
    );
    assert_eq!(fold.messages()[0]["content"], parts);
}

#[test]
fn state_is_replaced_by_anything_and_changed_as_a_whole() {
    let mut fold = Fold::of(json!([]), Value::Null);
    assert_eq!(*fold.replica.state(), Value::Null);
    for state in [json!(null), json!(0), json!(""), json!(false), json!([1])] {
        fold.apply(json!([{"type": "STATE_SNAPSHOT", "snapshot": state}]));
        assert_eq!(*fold.replica.state(), state);
    }
    fold.apply(json!([{"type": "STATE_DELTA", "delta": [
        {"op": "add", "path": "/-", "value": 2}, {"op": "remove", "path": "/9"}]}]));
    assert_eq!(*fold.replica.state(), json!([1]));
    assert_eq!(fold.warnings, 1);
    assert_eq!(*Replica::new(Vec::new(), None).state(), json!({}));
}

fn snapshot(messages: Value) -> Value {
    json!({"type": "MESSAGES_SNAPSHOT", "messages": messages})
}

#[test]
fn a_snapshot_keeps_reasoning_and_activities_it_does_not_speak_for() {
    let held = json!([
        {"id": "u", "role": "user", "content": "x"},
        {"id": "r", "role": "reasoning", "content": "hm"},
        {"id": "v", "role": "activity", "activityType": "plan", "content": {}},
        {"id": "w", "role": "activity", "activityType": "map", "content": {}},
        {"id": "gone", "role": "assistant", "content": "y"},
    ]);
    let user = json!({"id": "u", "role": "user", "content": "x2"});
    let case = |snapshot: Value| {
        let mut fold = Fold::of(held.clone(), json!({}));
        fold.apply(json!([snapshot]));
        fold.ids().join(" ")
    };
    assert_eq!(case(snapshot(json!([user]))), "u r v w");
    let reasoning = json!({"id": "r2", "role": "reasoning", "content": "so"});
    assert_eq!(case(snapshot(json!([user, reasoning]))), "u v w r2");
    let activity =
        json!({"id": "w", "role": "activity", "activityType": "map", "content": {"a": 1}});
    assert_eq!(case(snapshot(json!([activity, user]))), "u r w");
    let claiming = |types: Value| {
        let mut snapshot = snapshot(json!([user]));
        snapshot["metadata"] = json!({"@ag-ui/client": {"authoritativeActivityTypes": types}});
        snapshot
    };
    assert_eq!(case(claiming(json!(null))), "u r");
    assert_eq!(case(claiming(json!([]))), "u r v w");
    assert_eq!(case(claiming(json!(["plan"]))), "u r w");
    assert_eq!(case(claiming(json!([7]))), "u r v w");
}

#[test]
fn a_snapshot_moves_nothing_and_its_messages_are_found_afterwards() {
    let held = json!([{"id": "a", "role": "user", "content": "1"}, {"id": "b", "role": "user", "content": "2"}]);
    let mut fold = fold(
        held,
        json!([snapshot(json!([
            {"id": "c", "role": "assistant", "content": "3"},
            {"id": "b", "role": "user", "content": "2!"},
            {"id": "a", "role": "user", "content": "1!"},
        ]))]),
    );
    assert_eq!(fold.ids(), ["a", "b", "c"]);
    fold.apply(json!([
        {"type": "TEXT_MESSAGE_START", "messageId": "c"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "c", "delta": "!"},
    ]));
    assert_eq!(fold.messages()[2]["content"], "3!");
}

#[test]
fn activities_are_shown_replaced_and_changed() {
    let shown = |content: Value, extra: Value| {
        let mut event = json!({"type": "ACTIVITY_SNAPSHOT", "messageId": "v", "activityType": "plan",
            "content": content});
        event
            .as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        event
    };
    let changed = |patch: Value| json!({"type": "ACTIVITY_DELTA", "messageId": "v", "activityType": "plan2", "patch": patch});
    let mut fold = fold(
        json!([]),
        json!([
            changed(json!([])),
            shown(
                json!({"a": 1}),
                json!({"metadata": {"m": 1}, "subagentRunId": "s"})
            ),
            shown(
                json!({"a": 2}),
                json!({"replace": false, "metadata": {"n": 2}})
            ),
        ]),
    );
    assert_eq!(fold.warnings, 0);
    let message = |content: Value, kind: &str, extra: Value| {
        let mut message =
            json!({"role": "activity", "id": "v", "activityType": kind, "content": content});
        message
            .as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        json!([message])
    };
    let metadata = json!({"m": 1, "n": 2});
    assert_eq!(
        fold.messages(),
        message(
            json!({"a": 1}),
            "plan",
            json!({"metadata": metadata, "subagentRunId": "s"})
        )
    );
    fold.apply(json!([
        shown(json!({"a": [3]}), json!({})),
        changed(json!([{"op": "add", "path": "/a/-", "value": 4}])),
    ]));
    assert_eq!(
        fold.messages(),
        message(json!({"a": [3, 4]}), "plan2", json!({"metadata": metadata}))
    );
    fold.apply(json!([
        changed(
            json!([{"op": "add", "path": "/b", "value": 1}, {"op": "remove", "path": "/nowhere"}])
        ),
        changed(json!([{"op": "replace", "path": "", "value": 7}])),
    ]));
    assert_eq!(fold.warnings, 2);
    assert_eq!(
        fold.messages(),
        message(json!({"a": [3, 4]}), "plan2", json!({"metadata": metadata}))
    );
}

#[test]
fn an_activity_takes_the_place_of_another_message_only_if_it_replaces() {
    let held = json!([assistant("v", &["c"])]);
    let shown = |replace: bool| {
        json!([{"type": "ACTIVITY_SNAPSHOT", "messageId": "v", "activityType": "plan", "content": {},
            "replace": replace}])
    };
    assert_eq!(
        fold(held.clone(), shown(false)).messages()[0]["role"],
        "assistant"
    );
    let mut replaced = fold(held, shown(true));
    assert_eq!(replaced.messages()[0]["role"], "activity");
    replaced.apply(json!([{"type": "TOOL_CALL_END", "toolCallId": "c"}]));
    assert_eq!(replaced.warnings, 1, "the call is gone with its message");
    replaced.apply(
        json!([{"type": "ACTIVITY_DELTA", "messageId": "v", "activityType": "plan", "patch": []}]),
    );
    assert_eq!(replaced.warnings, 1);
    let user = json!([{"id": "u", "role": "user", "content": "x"}]);
    let delta =
        json!([{"type": "ACTIVITY_DELTA", "messageId": "u", "activityType": "plan", "patch": []}]);
    assert_eq!(fold(user, delta).warnings, 1);
}

#[test]
fn encrypted_values_reach_messages_and_calls_and_nothing_else() {
    let sealed = |subtype: &str, id: &str| json!({"type": "REASONING_ENCRYPTED_VALUE", "subtype": subtype, "entityId": id, "encryptedValue": "e"});
    let held = json!([
        assistant("a", &["c"]),
        {"id": "r", "role": "reasoning", "content": ""},
        {"id": "v", "role": "activity", "activityType": "x", "content": {}},
    ]);
    let fold = fold(
        held,
        json!([
            sealed("tool-call", "c"),
            sealed("message", "r"),
            sealed("message", "v"),
            sealed("message", "nobody"),
            sealed("tool-call", "nobody"),
        ]),
    );
    let messages = fold.messages();
    assert_eq!(messages[0]["toolCalls"][0]["encryptedValue"], "e");
    assert_eq!(messages[0].get("encryptedValue"), None);
    assert_eq!(messages[1]["encryptedValue"], "e");
    assert_eq!(messages[2].get("encryptedValue"), None);
    assert_eq!(fold.warnings, 0);
}

#[test]
fn an_echoed_request_adds_what_is_not_held() {
    let held = json!([{"id": "u1", "role": "user", "content": "x"}]);
    let input = json!({"threadId": "t", "runId": "r", "messages": [
        {"id": "u1", "role": "user", "content": "other"}, {"id": "u2", "role": "user", "content": "y"}]});
    let fold = fold(
        held,
        json!([{"type": "RUN_STARTED", "threadId": "t", "runId": "r", "input": input}]),
    );
    assert_eq!(fold.ids(), ["u1", "u2"]);
    assert_eq!(fold.messages()[0]["content"], "x");
}

#[test]
fn interrupts_and_pending_calls_follow_the_last_end() {
    let started = json!({"type": "RUN_STARTED", "threadId": "t", "runId": "r"});
    let finished = |outcome: Value| json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": outcome});
    let call = |id: &str| json!({"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": "f"});
    let interrupt = json!({"type": "interrupt", "interrupts": [{"id": "i1", "reason": "x"}]});
    let mut fold = fold(json!([]), json!([started, finished(interrupt)]));
    assert_eq!(fold.replica.interrupts(), [Interrupt::new("i1", "x")]);
    fold.apply(json!([started, {"type": "RUN_ERROR", "message": "gone"}]));
    assert_eq!(
        fold.replica.interrupts().len(),
        1,
        "a failure answers nothing"
    );
    fold.apply(json!([started, call("c1"), call("c2"),
        {"type": "TOOL_CALL_RESULT", "messageId": "m", "toolCallId": "c1", "content": ""},
        finished(json!({"type": "success"}))]));
    assert!(fold.replica.interrupts().is_empty());
    assert_eq!(fold.replica.pending_tool_call_ids(), ["c2"]);
    fold.apply(json!([
        started,
        finished(json!({"type": "success", "pendingToolCallIds": ["c9"]}))
    ]));
    assert_eq!(fold.replica.pending_tool_call_ids(), ["c9"]);
    fold.apply(json!([
        started,
        call("c3"),
        finished(json!({"type": "cancelled"}))
    ]));
    assert!(fold.replica.pending_tool_call_ids().is_empty());
}

#[test]
fn what_is_open_is_said_again_without_repeating_what_was_closed() {
    let held = json!([{"id": "m0", "role": "assistant", "content": "closed "}]);
    let mut fold = fold(
        held,
        json!([
            {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
            {"type": "STEP_STARTED", "stepName": "plan"},
            {"type": "TEXT_MESSAGE_START", "messageId": "m0"},
            {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m0", "delta": "open"},
            {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "f", "parentMessageId": "m0"},
            {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": "{\"a\""},
            {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": ":"},
        ]),
    );
    let again = |fold: &Fold| serde_json::to_value(fold.replica.open_items()).unwrap();
    assert_eq!(
        again(&fold),
        json!([
            {"type": "STEP_STARTED", "stepName": "plan"},
            {"type": "TEXT_MESSAGE_START", "messageId": "m0"},
            {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m0", "delta": "open"},
            {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "f", "parentMessageId": "m0"},
            {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": "{\"a\":"},
        ])
    );
    let closed = serde_json::to_value(fold.replica.closed_messages()).unwrap();
    assert_eq!(
        closed,
        json!([{"role": "assistant", "id": "m0", "content": "closed "}])
    );
    fold.apply(json!([
        {"type": "TOOL_CALL_END", "toolCallId": "c1"},
        {"type": "TEXT_MESSAGE_END", "messageId": "m0"},
        {"type": "STEP_FINISHED", "stepName": "plan"},
    ]));
    assert_eq!(again(&fold), json!([]));
    assert_eq!(fold.replica.closed_messages(), fold.replica.messages());
}
