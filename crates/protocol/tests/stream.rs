//! The event stream decoder for clients, and the cases from the field, cut at every byte.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs;
use std::path::Path;

use antiphon_protocol::{DecodeError, Event, Message, sse};
use common::{Played, bare_events, play, whole_events};
use serde_json::Value;

const LIMIT: usize = 1 << 20;

fn decode<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Result<(Vec<Event>, usize), DecodeError> {
    let mut decoder = sse::Decoder::new(LIMIT);
    let mut events = Vec::new();
    let mut warnings = 0;
    let mut drain = |decoder: &mut sse::Decoder| {
        while let Some(received) = decoder.next_event() {
            let received = received?;
            warnings += received.warnings.len();
            events.extend(received.event);
        }
        Ok(())
    };
    for piece in pieces {
        decoder.push(piece);
        drain(&mut decoder)?;
    }
    decoder.finish();
    drain(&mut decoder)?;
    Ok((events, warnings))
}

#[test]
fn a_body_says_the_same_wherever_it_is_cut() {
    let events = bare_events();
    let frames = events.iter().enumerate();
    let body: Vec<u8> = frames
        .flat_map(|(at, event)| sse::frame(Some(&format!("r1:{at}")), &event.to_json()))
        .collect();
    assert_eq!(decode(body.chunks(1)).unwrap(), (events.clone(), 0));
    for cut in 0..body.len() {
        let (head, tail) = body.split_at(cut);
        assert_eq!(
            decode([head, tail]).unwrap(),
            (events.clone(), 0),
            "cut at {cut}"
        );
    }
}

#[test]
fn an_event_carries_the_id_to_join_again_behind_it() {
    let mut decoder = sse::Decoder::new(LIMIT);
    for (at, event) in whole_events().iter().enumerate() {
        let id = format!("r1:{at}");
        decoder.push(&sse::frame(Some(&id), &event.to_json()));
        let received = decoder.next_event().unwrap().unwrap();
        assert_eq!(received.id, Some(id.clone()));
        assert_eq!(decoder.last_event_id(), Some(id.as_str()));
        assert_eq!(received.event.as_ref(), Some(event));
    }
}

#[test]
fn thinking_of_older_agents_is_read_as_reasoning() {
    let thought = [
        r#"{"type":"THINKING_START","title":"hm"}"#,
        r#"{"type":"THINKING_TEXT_MESSAGE_START"}"#,
        r#"{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"so"}"#,
        r#"{"type":"THINKING_TEXT_MESSAGE_END"}"#,
        r#"{"type":"THINKING_END"}"#,
    ];
    let run = |id: &str| {
        let started = format!(r#"{{"type":"RUN_STARTED","threadId":"t","runId":"{id}"}}"#);
        let finished = format!(r#"{{"type":"RUN_FINISHED","threadId":"t","runId":"{id}"}}"#);
        let events = [&[started.as_str()], &thought[..], &[finished.as_str()]].concat();
        events
            .iter()
            .map(|json| format!("data: {json}\n\n"))
            .collect::<String>()
    };
    let body = run("r1") + &run("r2");
    let (events, warnings) = decode([body.as_bytes()]).unwrap();
    assert_eq!(warnings, 10);
    let played = play(Vec::new(), None, events);
    assert_eq!(played.failure, None);
    let expected: Vec<Message> = ["r1-thinking-2", "r2-thinking-2"]
        .map(|id| antiphon_protocol::ReasoningMessage::new(id, "so").into())
        .to_vec();
    assert_eq!(played.replica.messages(), expected);
}

#[test]
fn what_is_not_an_event_ends_the_stream() {
    for frame in [
        "{not json",
        "7",
        "[]",
        "{}",
        r#"{"type":7}"#,
        r#"{"type":"RUN_ERROR"}"#,
    ] {
        let body = format!("data: {frame}\n\n");
        assert!(decode([body.as_bytes()]).is_err(), "{frame}");
    }
}

/// A recorded stream with what the client has to make of it.
struct Case {
    name: String,
    body: String,
    messages: Vec<Message>,
    state: Option<Value>,
    expect: Value,
}

fn cases() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/cases");
    let folders = fs::read_dir(root)
        .unwrap()
        .map(|folder| folder.unwrap().path());
    let mut cases: Vec<_> = folders
        .map(|folder| {
            let read = |name| fs::read_to_string(folder.join(name)).unwrap();
            let input: Value = serde_json::from_str(&read("input.json")).unwrap();
            let expect: Value = serde_json::from_str(&read("expect.json")).unwrap();
            Case {
                name: folder.file_name().unwrap().to_string_lossy().into_owned(),
                body: read("events.sse"),
                messages: serde_json::from_value(input["messages"].clone()).unwrap(),
                state: input.get("state").cloned().filter(|state| !state.is_null()),
                expect: expect["client"].clone(),
            }
        })
        .collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

fn play_body(case: &Case, body: &str, size: usize) -> (Played, usize) {
    match decode(body.as_bytes().chunks(size)) {
        Ok((events, warnings)) => {
            let played = play(case.messages.clone(), case.state.clone(), events);
            let warnings = warnings + played.warnings.len();
            (played, warnings)
        }
        Err(error) => {
            let mut played = play(case.messages.clone(), case.state.clone(), []);
            played.failure = Some(error.to_string());
            (played, 0)
        }
    }
}

fn judge(case: &str, expect: &Value, (played, warnings): &(Played, usize)) {
    let failure = &played.failure;
    if let Some(ok) = expect["ok"].as_bool() {
        assert_eq!(failure.is_none(), ok, "{case}: {failure:?}");
    }
    if expect["must_report_failure"] == true {
        assert!(
            failure.is_some(),
            "{case}: the failed run is reported as ok"
        );
    }
    if let Some(text) = expect["run_error"].as_str() {
        assert!(
            failure.as_deref().is_some_and(|error| error.contains(text)),
            "{case}: {failure:?}"
        );
    }
    if let Some(state) = expect.get("state") {
        assert_eq!(played.replica.state(), state, "{case}");
    }
    let messages = serde_json::to_value(played.replica.messages()).unwrap();
    let messages = messages.as_array().unwrap();
    if let Some(ids) = expect["message_ids"].as_array() {
        let held: Vec<_> = messages
            .iter()
            .map(|message| message["id"].clone())
            .collect();
        assert_eq!(&held, ids, "{case}");
    }
    let message = |id: &str| messages.iter().find(|message| message["id"] == id).unwrap();
    for (id, content) in expect["contents"].as_object().into_iter().flatten() {
        assert_eq!(&message(id)["content"], content, "{case}: {id}");
    }
    for (id, calls) in expect["tool_calls"].as_object().into_iter().flatten() {
        let held = message(id)["toolCalls"].as_array().unwrap();
        let held: Vec<_> = held
            .iter()
            .map(|call| {
                serde_json::json!({"id": call["id"], "arguments": call["function"]["arguments"]})
            })
            .collect();
        assert_eq!(&held, calls.as_array().unwrap(), "{case}: {id}");
    }
    let least = expect["warnings_at_least"].as_u64().unwrap_or(0);
    assert!(
        u64::try_from(*warnings).unwrap() >= least,
        "{case}: {warnings} warnings"
    );
}

#[test]
fn the_cases_from_the_field_end_as_they_should() {
    let cases = cases();
    assert_eq!(cases.len(), 11);
    for case in &cases {
        for size in [1, 3, 7, 4096] {
            judge(&case.name, &case.expect, &play_body(case, &case.body, size));
            for also in case.expect["also"].as_array().into_iter().flatten() {
                let change = |at: usize| also["replace"][at].as_str().unwrap();
                let body = case.body.replace(change(0), change(1));
                assert_ne!(body, case.body);
                judge(&case.name, &also["client"], &play_body(case, &body, size));
            }
        }
    }
}
