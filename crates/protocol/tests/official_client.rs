//! Random streams with what the official client, `@ag-ui/client` 1.0.0, made of them: how many
//! events it accepted and what it held at the end.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use antiphon_protocol::{Chunks, Event, Message, Replica, Verifier};
use common::event;
use serde_json::{Value, json};

const RECORDED: &str = include_str!("fixtures/official-client.jsonl");

struct Outcome {
    accepted: u64,
    refused: bool,
    replica: Replica,
}

/// Plays the events up to the first that is refused.
fn play(held: Vec<Message>, state: Value, events: Vec<Event>) -> Outcome {
    let mut chunks = Chunks::default();
    let mut verifier = Verifier::consumer();
    let mut outcome = Outcome {
        accepted: 0,
        refused: false,
        replica: Replica::new(held, state),
    };
    let mut expanded = Vec::new();
    for event in events {
        outcome.refused = chunks.expand(event, &mut expanded).is_err();
        for event in expanded.drain(..) {
            if verifier.check(&event).is_err() {
                outcome.refused = true;
                break;
            }
            outcome.replica.apply(&event);
            outcome.accepted += 1;
        }
        if outcome.refused {
            break;
        }
    }
    outcome
}

/// The client leaves an empty list of calls where it was made for one that never came.
fn without_empty_calls(mut messages: Value) -> Value {
    for message in messages.as_array_mut().unwrap() {
        let message = message.as_object_mut().unwrap();
        if message.get("toolCalls") == Some(&json!([])) {
            message.remove("toolCalls");
        }
    }
    messages
}

#[test]
fn streams_are_accepted_and_folded_as_by_the_official_client() {
    for (at, line) in RECORDED.lines().enumerate() {
        let recorded: Value = serde_json::from_str(line).unwrap();
        let held = serde_json::from_value(recorded["held"].clone()).unwrap();
        let events = recorded["events"]
            .as_array()
            .unwrap()
            .iter()
            .cloned()
            .map(event)
            .collect();
        let outcome = play(held, recorded["state"].clone(), events);
        assert_eq!(
            outcome.accepted,
            recorded["accepted"].as_u64().unwrap(),
            "stream {at}"
        );
        assert_eq!(
            outcome.refused,
            recorded.get("refused").is_some(),
            "stream {at}"
        );
        if !outcome.refused {
            let messages = serde_json::to_value(outcome.replica.messages()).unwrap();
            assert_eq!(
                messages,
                without_empty_calls(recorded["messages"].clone()),
                "stream {at}"
            );
            assert_eq!(*outcome.replica.state(), recorded["result"], "stream {at}");
        }
    }
}
