//! Answers of OpenAI and its imitators, with what each must become, whole and cut at every byte.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::{fs, path::PathBuf};

use antiphon_model::{
    Error, ErrorKind, ModelEvent, Request,
    wire::{CallIds, Decode, Limits, openai::Decoder},
};
use serde_json::{Value, json};

use crate::support::checked;

type Stream = Vec<Result<ModelEvent, Error>>;

fn decoder() -> Decoder {
    let ids = CallIds::new(&Request::default()).made_by(|| "call_made".to_owned());
    Decoder::new("asked-model", ids, Limits::default())
}

fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Stream {
    let mut decoder = decoder();
    let mut stream = Stream::new();
    for piece in pieces {
        decoder.push(piece);
        stream.extend(std::iter::from_fn(|| decoder.next_event()));
    }
    decoder.finish();
    stream.extend(std::iter::from_fn(|| decoder.next_event()));
    stream
}

/// Every fixture: its name, its bytes, what it must become.
fn fixtures() -> Vec<(String, Vec<u8>, Value)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/openai");
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "sse") {
            let expected = fs::read_to_string(path.with_extension("json")).unwrap();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            found.push((
                name,
                fs::read(&path).unwrap(),
                serde_json::from_str(&expected).unwrap(),
            ));
        }
    }
    assert!(found.len() >= 20, "the fixtures are missing");
    found
}

fn fixture(name: &str) -> Vec<u8> {
    fixtures()
        .into_iter()
        .find(|(found, ..)| found == name)
        .unwrap()
        .1
}

/// A stream in the words of the expectation files.
fn assembled(stream: &Stream) -> Value {
    let (turn, failure) = checked(stream);
    let complete = turn
        .finish
        .as_ref()
        .is_some_and(antiphon_model::FinishReason::is_complete);
    let calls: Vec<Value> = if complete {
        let arguments = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let calls = turn.message.calls.iter();
        calls
            .map(|call| json!({"name": call.name, "args": arguments(&call.arguments)}))
            .collect()
    } else {
        Vec::new()
    };
    let mut value = json!({"text": turn.message.text, "tool_calls": calls, "complete": complete});
    if !turn.message.reasoning.is_empty() {
        let passages = turn
            .message
            .reasoning
            .iter()
            .map(|passage| passage.text.as_str());
        value["reasoning"] = passages.collect::<String>().into();
    }
    if failure.is_some() {
        value["error"] = true.into();
    } else if !complete {
        value["truncated"] = true.into();
    }
    value
}

/// Streams can be compared by what they show.
fn shown(stream: &Stream) -> String {
    format!("{stream:?}")
}

#[test]
fn every_answer_becomes_what_it_means() {
    for (name, bytes, expected) in fixtures() {
        assert_eq!(assembled(&decode([bytes.as_slice()])), expected, "{name}");
    }
}

#[test]
fn an_answer_cut_anywhere_gives_the_same_events() {
    for (name, bytes, _) in fixtures() {
        let whole = shown(&decode([bytes.as_slice()]));
        for cut in 1..bytes.len() {
            let (left, right) = bytes.split_at(cut);
            assert_eq!(shown(&decode([left, right])), whole, "{name} cut at {cut}");
        }
    }
}

#[test]
fn an_answer_that_comes_byte_by_byte_gives_the_same_events() {
    for (name, bytes, _) in fixtures() {
        assert_eq!(
            shown(&decode(bytes.chunks(1))),
            shown(&decode([bytes.as_slice()])),
            "{name}"
        );
    }
}

#[test]
fn an_answer_that_ends_anywhere_before_its_finish_is_an_error() {
    for name in [
        "parallel-interleaved-args",
        "plain-text",
        "sse-comments-crlf-nospace",
    ] {
        let bytes = fixture(name);
        let finish = bytes
            .windows(20)
            .position(|window| window.starts_with(b"\"finish_reason\":\""))
            .unwrap();
        for end in 0..=finish {
            let (_, failure) = checked(&decode([&bytes[..end]]));
            assert_eq!(
                failure.unwrap().kind(),
                ErrorKind::Truncated,
                "{name} ends at {end}"
            );
        }
    }
}

#[test]
fn a_call_ends_when_the_next_one_takes_its_place() {
    let stream = decode([fixture("parallel-same-index").as_slice()]);
    let position = |wanted: &dyn Fn(&ModelEvent) -> bool| {
        stream
            .iter()
            .position(|item| wanted(item.as_ref().unwrap()))
    };
    let ended = position(&|event| matches!(event, ModelEvent::CallEnded { index: 0 })).unwrap();
    let next =
        position(&|event| matches!(event, ModelEvent::CallStarted { index: 1, .. })).unwrap();
    assert!(ended < next, "{stream:?}");
}

#[test]
fn usage_of_a_chunk_without_choices_is_reported_with_the_model_that_answered() {
    let (turn, _) = checked(&decode([fixture("azure-filter-chunks").as_slice()]));
    let usage = turn.usage.unwrap();
    assert_eq!(
        (usage.input_tokens, usage.output_tokens, usage.total_tokens),
        (Some(14), Some(4), Some(18))
    );
    assert_eq!(
        (usage.provider.as_str(), usage.model.as_str()),
        ("openai", "mock-model")
    );
}

#[test]
fn an_error_inside_the_stream_keeps_its_kind_and_its_words_stay_in_the_detail() {
    let (turn, failure) = checked(&decode([fixture("error-chunk-empty-choices").as_slice()]));
    let failure = failure.unwrap();
    assert_eq!(turn.message.text, "Looking");
    assert_eq!(failure.kind(), ErrorKind::Unavailable);
    assert!(
        failure
            .detail()
            .unwrap()
            .contains("upstream worker limit reached")
    );
    assert!(!failure.to_string().contains("worker"));
}
