//! What servers make of chat completions beyond the recorded answers.

mod support;

use antiphon_model::{
    AssistantMessage, Collected, Error, ErrorKind, FinishReason, Message, ModelEvent, Request,
    wire::{
        CallIds, Decode, Limits,
        openai::{Decoder, Settings, encode},
    },
};
use serde_json::{Value, json};

use crate::support::checked;

fn events(body: &str) -> Vec<Result<ModelEvent, Error>> {
    let ids = CallIds::new(&Request::default()).made_by(|| "made".to_owned());
    let mut decoder = Decoder::new("m", ids, Limits::default());
    decoder.push(body.as_bytes());
    decoder.finish();
    std::iter::from_fn(|| decoder.next_event()).collect()
}

/// A stream of these deltas with a finish.
fn body(deltas: &[Value], finish: &str) -> String {
    let choice = |delta: &Value, finish: Value| {
        format!(
            "data: {}\n\n",
            json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
        )
    };
    let mut body: String = deltas
        .iter()
        .map(|delta| choice(delta, Value::Null))
        .collect();
    body.push_str(&choice(&json!({}), finish.into()));
    body.push_str("data: [DONE]\n\n");
    body
}

fn decode(deltas: &[Value], finish: &str) -> (Collected, Option<Error>) {
    checked(&events(&body(deltas, finish)))
}

/// A delta of one call.
fn call(fragment: &Value) -> Value {
    json!({"tool_calls": [fragment]})
}

/// The calls as (id, name, arguments).
fn calls(deltas: &[Value]) -> Vec<(String, String, String)> {
    let (turn, failure) = decode(deltas, "tool_calls");
    assert!(failure.is_none(), "{failure:?}");
    assert_eq!(turn.finish, Some(FinishReason::ToolCalls));
    turn.message
        .calls
        .into_iter()
        .map(|call| (call.id, call.name, call.arguments))
        .collect()
}

fn owned(calls: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
    calls
        .iter()
        .map(|(id, name, arguments)| ((*id).into(), (*name).into(), (*arguments).into()))
        .collect()
}

#[test]
fn one_id_for_two_calls_is_made_unique() {
    let deltas = [
        call(
            &json!({"index": 0, "id": "call_0", "function": {"name": "a", "arguments": "{\"x\":"}}),
        ),
        call(&json!({"index": 1, "id": "call_0", "function": {"name": "b", "arguments": "{}"}})),
        call(&json!({"index": 0, "function": {"arguments": "1}"}})),
    ];
    assert_eq!(
        calls(&deltas),
        owned(&[("call_0", "a", "{\"x\":1}"), ("call_0-2", "b", "{}")])
    );
}

#[test]
fn a_name_that_comes_late_keeps_the_arguments_before_it() {
    let deltas = [
        call(&json!({"index": 0, "function": {"arguments": "{\"x\""}})),
        call(&json!({"index": 0, "id": "late", "function": {"name": "a", "arguments": ":1}"}})),
    ];
    assert_eq!(calls(&deltas), owned(&[("late", "a", "{\"x\":1}")]));
}

#[test]
fn calls_without_an_index_are_told_apart_by_id_and_order() {
    let deltas = [
        call(&json!({"id": "1", "function": {"name": "a", "arguments": "{\"x\":"}})),
        call(&json!({"function": {"arguments": "1}"}})),
        call(&json!({"id": "2", "function": {"name": "b"}})),
        call(&json!({"id": "2", "function": {"arguments": "{\"y\":2}"}})),
    ];
    assert_eq!(
        calls(&deltas),
        owned(&[("1", "a", "{\"x\":1}"), ("2", "b", "{\"y\":2}")])
    );
}

#[test]
fn whole_calls_at_one_index_without_ids_are_separate() {
    let whole = |name: &str, x: u8| {
        call(
            &json!({"index": 0, "id": "", "function": {"name": name, "arguments": format!("{{\"x\":{x}}}")}}),
        )
    };
    let expected = owned(&[
        ("made", "a", "{\"x\":1}"),
        ("made-2", "a", "{\"x\":2}"),
        ("made-3", "b", "{\"x\":3}"),
    ]);
    assert_eq!(
        calls(&[whole("a", 1), whole("a", 2), whole("b", 3)]),
        expected
    );
}

#[test]
fn a_new_id_on_every_fragment_does_not_split_a_call() {
    let deltas = [
        call(&json!({"index": 0, "id": "r1", "function": {"name": "a", "arguments": "{\"x\""}})),
        call(&json!({"index": 0, "id": "r2", "function": {"arguments": ":1"}})),
        call(&json!({"index": 0, "id": "r3", "function": {"arguments": "}"}})),
    ];
    assert_eq!(calls(&deltas), owned(&[("r1", "a", "{\"x\":1}")]));
}

#[test]
fn a_name_on_every_fragment_does_not_split_a_call() {
    let fragment = |arguments: &str| {
        call(&json!({"index": 0, "function": {"name": "a", "arguments": arguments}}))
    };
    assert_eq!(
        calls(&[fragment("{\"x\":"), fragment("1}"), fragment("")]),
        owned(&[("made", "a", "{\"x\":1}")])
    );
}

#[test]
fn fragments_that_name_their_call_by_id_reach_it_at_a_shared_index() {
    let deltas = [
        call(&json!({"index": 0, "id": "1", "function": {"name": "a", "arguments": "{}"}})),
        call(&json!({"index": 0, "id": "2", "function": {"name": "b", "arguments": "{}"}})),
        call(&json!({"index": 0, "id": "1", "function": {"arguments": "{\"late\":1}"}})),
    ];
    // The first call has ended; giving its arguments to the second would be worse than failing.
    assert_eq!(
        decode(&deltas, "tool_calls").1.unwrap().kind(),
        ErrorKind::Malformed
    );
}

#[test]
fn calls_repeated_with_or_after_the_finish_are_made_once() {
    let delta =
        call(&json!({"index": 0, "id": "1", "function": {"name": "a", "arguments": "{\"x\":1}"}}));
    let repeated =
        json!({"choices": [{"index": 0, "delta": delta, "finish_reason": "tool_calls"}]});
    let body = body(&[delta], "tool_calls").replace(
        "data: [DONE]",
        &format!("data: {repeated}\n\ndata: {repeated}"),
    );
    let (turn, failure) = checked(&events(&body));
    assert!(failure.is_none());
    assert_eq!(turn.message.calls.len(), 1);
    assert_eq!(turn.message.calls[0].arguments, "{\"x\":1}");
}

#[test]
fn the_older_function_call_is_read() {
    let deltas = [
        json!({"function_call": {"name": "a", "arguments": ""}}),
        json!({"function_call": {"arguments": "{\"x\""}}),
        json!({"function_call": {"arguments": ":1}"}}),
    ];
    assert_eq!(calls(&deltas), owned(&[("made", "a", "{\"x\":1}")]));
}

#[test]
fn a_call_that_never_gets_a_name_is_an_error() {
    let (turn, failure) = decode(
        &[call(
            &json!({"index": 0, "id": "1", "function": {"arguments": "{}"}}),
        )],
        "tool_calls",
    );
    assert_eq!(failure.unwrap().kind(), ErrorKind::Malformed);
    assert!(turn.message.calls.is_empty());
}

#[test]
fn the_reason_is_decided_from_the_content() {
    let text = [json!({"content": "hi"})];
    let reason = |finish| decode(&text, finish).0.finish.unwrap();
    assert_eq!(reason("stop"), FinishReason::Stop);
    assert_eq!(reason("tool_calls"), FinishReason::Stop);
    assert_eq!(reason("length"), FinishReason::Length);
    assert_eq!(reason("content_filter"), FinishReason::ContentFilter);
    assert_eq!(reason("moonrise"), FinishReason::Other("moonrise".into()));
    assert_eq!(
        decode(&text, "error").1.unwrap().kind(),
        ErrorKind::Unavailable
    );
}

#[test]
fn a_refusal_is_text_with_a_reason_of_its_own() {
    let (turn, _) = decode(
        &[
            json!({"refusal": "I can't "}),
            json!({"refusal": "do that."}),
        ],
        "stop",
    );
    assert_eq!(turn.message.text, "I can't do that.");
    assert_eq!(turn.finish, Some(FinishReason::Refusal));
}

#[test]
fn the_sentinel_alone_finishes_nothing() {
    let (_, failure) = checked(&events(
        "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n",
    ));
    assert_eq!(failure.unwrap().kind(), ErrorKind::Truncated);
}

#[test]
fn a_chunk_that_cannot_be_decoded_is_an_error() {
    for data in ["{\"choices\": 7}", "{\"choices\": [", "ping", "\u{1}"] {
        let body = format!(
            "data: {data}\n\n{}",
            body(&[json!({"content": "a"})], "stop")
        );
        assert_eq!(
            checked(&events(&body)).1.unwrap().kind(),
            ErrorKind::Malformed,
            "{data}"
        );
    }
}

#[test]
fn an_event_named_error_is_an_error_whatever_it_holds() {
    let body = "event: error\ndata: {\"message\":\"worker died\"}\n\n";
    assert!(
        checked(&events(body))
            .1
            .unwrap()
            .detail()
            .unwrap()
            .contains("worker died")
    );
    let body = "data: {\"object\":\"error\",\"message\":\"no memory\",\"code\":503}\n\n";
    assert_eq!(
        checked(&events(body)).1.unwrap().kind(),
        ErrorKind::Unavailable
    );
}

#[test]
fn reasoning_under_two_names_is_read_once() {
    let (turn, _) = decode(
        &[
            json!({"reasoning": "hm", "reasoning_content": "hm"}),
            json!({"content": "a"}),
        ],
        "stop",
    );
    assert_eq!(turn.message.reasoning.len(), 1);
    assert_eq!(turn.message.reasoning[0].text, "hm");
}

#[test]
fn only_the_first_choice_is_read_and_text_may_come_in_parts() {
    let body = body(
        &[json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]})],
        "stop",
    );
    let other = "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"no\"},\"finish_reason\":\"length\"}]}\n\n";
    let (turn, _) = checked(&events(&format!("{other}{body}")));
    assert_eq!(
        (turn.message.text.as_str(), turn.finish),
        ("ab", Some(FinishReason::Stop))
    );
}

#[test]
fn the_last_of_several_usages_is_reported_with_its_details() {
    let counts = json!({
        "prompt_tokens": 10, "completion_tokens": 7, "total_tokens": 17,
        "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 5},
    });
    let chunk = |usage: &Value| {
        format!(
            "data: {}\n\n",
            json!({"model": "m-1", "choices": [], "usage": usage})
        )
    };
    let early = chunk(&json!({"prompt_tokens": 10, "completion_tokens": 1}));
    let text = body(&[json!({"content": "a"})], "stop").replace("data: [DONE]\n\n", "");
    let (turn, _) = checked(&events(&format!("{early}{text}{}", chunk(&counts))));
    let usage = turn.usage.unwrap();
    assert_eq!(
        (usage.input_tokens, usage.output_tokens, usage.total_tokens),
        (Some(10), Some(7), Some(17))
    );
    assert_eq!(
        (usage.cached_input_tokens, usage.reasoning_tokens),
        (Some(4), Some(5))
    );
    assert_eq!(usage.model, "m-1");
}

#[test]
fn what_came_beside_a_call_goes_back_with_it() {
    let extra = json!({"google": {"thought_signature": "c2ln"}});
    let deltas = [
        json!({"reasoning": "hm"}),
        call(
            &json!({"index": 0, "id": "1", "function": {"name": "a", "arguments": "{}"}, "extra_content": extra}),
        ),
    ];
    let (turn, _) = decode(&deltas, "tool_calls");
    let stored = serde_json::to_string(&turn.message).unwrap();
    let message: AssistantMessage = serde_json::from_str(&stored).unwrap();
    let messages = vec![
        Message::user("go"),
        Message::Assistant(message),
        Message::tool_result("1", "a", "ok"),
    ];
    let bytes = encode(
        &Request {
            messages,
            ..Request::default()
        },
        &Settings::new("m"),
    );
    let sent: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(sent["messages"][1]["tool_calls"][0]["extra_content"], extra);
    assert_eq!(sent["messages"][1]["reasoning"], "hm");
}

#[test]
fn a_damaged_answer_keeps_the_guarantees() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/openai");
    let mut random = fastrand::Rng::with_seed(7);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "sse") {
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for _ in 0..100 {
            let mut damaged: Vec<&str> = lines.clone();
            for _ in 0..random.usize(1..4) {
                let (one, other) = (random.usize(..damaged.len()), random.usize(..damaged.len()));
                match random.u8(..3) {
                    0 => damaged.swap(one, other),
                    1 => damaged[one] = damaged[other],
                    _ => {
                        let cut = random.usize(..=damaged[one].len());
                        damaged[one] = &damaged[one][..damaged[one].floor_char_boundary(cut)];
                    }
                }
            }
            checked(&events(&damaged.concat()));
        }
    }
}
