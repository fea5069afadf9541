//! The grammar of event streams, each stream whole and cut at every byte.

use std::time::Duration;

use antiphon_sse::{Decoder, Error, SseEvent};
use proptest::prelude::*;

const LIMIT: usize = 1024;

fn event(data: &str) -> SseEvent {
    SseEvent {
        event: None,
        data: data.to_owned().into(),
        id: None,
    }
}

fn named(name: &str, data: &str) -> SseEvent {
    SseEvent {
        event: Some(name.to_owned()),
        ..event(data)
    }
}

fn with_id(id: &str, data: &str) -> SseEvent {
    SseEvent {
        id: Some(id.to_owned()),
        ..event(data)
    }
}

fn drain(decoder: &mut Decoder, into: &mut Vec<SseEvent>) {
    while let Some(event) = decoder.next_event() {
        into.push(event.expect("the stream is within its limit"));
    }
}

fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<SseEvent> {
    let mut decoder = Decoder::new(LIMIT);
    let mut events = Vec::new();
    for piece in pieces {
        decoder.push(piece);
        drain(&mut decoder, &mut events);
    }
    decoder.finish();
    drain(&mut decoder, &mut events);
    events
}

/// Streams and what they say.
fn goldens() -> Vec<(&'static str, Vec<SseEvent>)> {
    vec![
        ("", vec![]),
        ("data: a\n\n", vec![event("a")]),
        ("data: a\r\n\r\n", vec![event("a")]),
        ("data: a\r\r", vec![event("a")]),
        (
            "data: a\r\ndata: b\rdata: c\ndata: d\r\n\n",
            vec![event("a\nb\nc\nd")],
        ),
        ("data: a\r\n\rdata: b\n\r\n", vec![event("a"), event("b")]),
        ("\u{feff}data: a\n\n", vec![event("a")]),
        ("\u{feff}\u{feff}data: a\n\ndata: b\n\n", vec![event("b")]),
        (
            "data:a\n\ndata:  b\n\ndata: : c\n\n",
            vec![event("a"), event(" b"), event(": c")],
        ),
        (
            ": comment\n:\n\ndata: a\n: between\ndata: b\n\n",
            vec![event("a\nb")],
        ),
        (
            "event: x\ndata: 1\n\ndata: 2\n\n",
            vec![named("x", "1"), event("2")],
        ),
        ("event: x\n\ndata: 2\n\n", vec![event("2")]),
        ("event: x\nevent:\ndata: 2\n\n", vec![event("2")]),
        (
            "data\n\ndata\ndata\n\ndata:\n\n",
            vec![event(""), event("\n"), event("")],
        ),
        (
            "id: 7\ndata: a\n\ndata: b\n\n",
            vec![with_id("7", "a"), event("b")],
        ),
        (
            "id: a\0b\ndata: a\n\nid\ndata: b\n\n",
            vec![event("a"), with_id("", "b")],
        ),
        (
            "datax: a\nDATA: b\n data: c\nunknown\ndata: d\n\n",
            vec![event("d")],
        ),
        (
            "data: é🧪\u{2028}e\u{301}\n\n",
            vec![event("é🧪\u{2028}e\u{301}")],
        ),
        ("data: a\n\n\n\n\ndata: b\n\n", vec![event("a"), event("b")]),
        ("data: a\n\ndata: b", vec![event("a"), event("b")]),
        ("data: a\n\nevent: x\nda", vec![event("a")]),
        ("data: [DONE]\n", vec![event("[DONE]")]),
    ]
}

#[test]
fn every_stream_says_the_same_wherever_it_is_cut() {
    for (stream, expected) in goldens() {
        let bytes = stream.as_bytes();
        assert_eq!(decode([bytes]), expected, "whole: {stream:?}");
        assert_eq!(
            decode(bytes.chunks(1)),
            expected,
            "byte by byte: {stream:?}"
        );
        for cut in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(cut);
            assert_eq!(decode([head, tail]), expected, "cut at {cut}: {stream:?}");
        }
    }
}

#[test]
fn an_event_is_delivered_without_waiting_for_the_lf_of_a_crlf() {
    let mut decoder = Decoder::new(LIMIT);
    decoder.push(b"data: a\r\n\r");
    assert_eq!(decoder.next_event(), Some(Ok(event("a"))));
    decoder.push(b"\ndata: b\n\n");
    assert_eq!(decoder.next_event(), Some(Ok(event("b"))));
    assert_eq!(decoder.next_event(), None);
}

#[test]
fn an_unfinished_block_can_be_discarded() {
    let mut decoder = Decoder::new(LIMIT).deliver_unfinished(false);
    decoder.push(b"data: a\n\ndata: b\n");
    decoder.finish();
    assert_eq!(decoder.next_event(), Some(Ok(event("a"))));
    assert_eq!(decoder.next_event(), None);
}

#[test]
fn the_last_event_id_outlives_its_block() {
    let mut decoder = Decoder::new(LIMIT);
    decoder.push(b"id: run:4\ndata: a\n\ndata: b\n\nid: run:5\n\n");
    assert_eq!(decoder.next_event(), Some(Ok(with_id("run:4", "a"))));
    assert_eq!(decoder.next_event(), Some(Ok(event("b"))));
    assert_eq!(decoder.last_event_id(), Some("run:4"));
    assert_eq!(decoder.next_event(), None);
    assert_eq!(decoder.last_event_id(), Some("run:5"));
}

#[test]
fn only_a_number_sets_the_reconnection_time() {
    let mut decoder = Decoder::new(LIMIT);
    decoder.push(b"retry: 1500\nretry: soon\nretry:\nretry: 99999999999999999999999\n\n");
    assert_eq!(decoder.next_event(), None);
    assert_eq!(decoder.retry(), Some(Duration::from_millis(1500)));
}

#[test]
fn an_event_over_the_limit_is_an_error_and_the_end() {
    let endless_line = vec![b'x'; 100];
    let many_lines = b"data: 0123456789\n".repeat(10);
    for stream in [endless_line, many_lines] {
        let mut decoder = Decoder::new(64);
        let mut seen = Vec::new();
        for piece in stream.chunks(7) {
            decoder.push(piece);
            seen.extend(decoder.next_event());
        }
        assert_eq!(seen, [Err(Error::TooLarge { limit: 64 })]);
        decoder.push(b"\n\ndata: a\n\n");
        decoder.finish();
        assert_eq!(decoder.next_event(), None);
    }
}

#[test]
fn small_events_never_add_up_to_the_limit() {
    let mut decoder = Decoder::new(64);
    decoder.push(&b"event: e\nid: 1\ndata: 0123456789\n\n".repeat(1000));
    let mut events = Vec::new();
    drain(&mut decoder, &mut events);
    assert_eq!(events.len(), 1000);
}

#[test]
fn invalid_utf8_in_data_is_left_to_its_reader() {
    let events = decode([&b"event: \xff\ndata: \xff\xfe\n\n"[..]]);
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].event.as_deref(), Some("\u{fffd}"));
    assert_eq!(&events[0].data[..], b"\xff\xfe");
}

proptest! {
    #[test]
    fn any_bytes_say_the_same_in_any_pieces(
        lines in prop::collection::vec("(data|event|id|retry|)(: ?)?[a-z:\u{e9}]{0,6}(\n|\r|\r\n)", 0..20),
        cuts in prop::collection::vec(1usize..9, 1..40),
    ) {
        let stream = lines.concat();
        let mut rest = stream.as_bytes();
        let mut pieces = Vec::new();
        for cut in cuts {
            let (piece, tail) = rest.split_at(cut.min(rest.len()));
            pieces.push(piece);
            rest = tail;
        }
        pieces.push(rest);
        prop_assert_eq!(decode(pieces), decode([stream.as_bytes()]));
    }
}
