//! What projections cost their readers, measured in bytes of events.

#![expect(
    clippy::unwrap_used,
    reason = "a patch that does not apply is a failed test"
)]

#[path = "../benches/documents/mod.rs"]
mod documents;

use antiphon_state::{Mapping, Projection};
use serde_json::{Value, json};

/// The bytes of a `STATE_DELTA` event besides its patch.
const ENVELOPE: usize = 60;

const SIZES: [usize; 5] = [1_000, 4_000, 16_000, 64_000, 256_000];

/// What readers were sent.
struct Sent {
    events: usize,
    bytes: usize,
    /// The bytes of the last event, which completes the picture.
    last: usize,
}

/// Shows the argument `key` to readers that hold `held`; they must end with the arguments.
fn show(key: &str, held: Value, arguments: &Value, text: &str, fragment: usize) -> Sent {
    let mut readers = held;
    let mut projection = Projection::new([Mapping::new(key, key)], &readers);
    let mut sent = Sent {
        events: 0,
        bytes: 0,
        last: 0,
    };
    let mut patches: Vec<_> = documents::fragments(text, fragment)
        .filter_map(|fragment| projection.push(fragment))
        .collect();
    patches.extend(projection.finish());
    for patch in patches {
        patch.apply(&mut readers).unwrap();
        sent.last = serde_json::to_string(&patch).unwrap().len() + ENVELOPE;
        sent.bytes += sent.last;
        sent.events += 1;
    }
    assert_eq!(readers[key], arguments[key]);
    sent
}

#[test]
fn structured_arguments_cost_at_most_four_times_their_bytes() {
    type Shape = fn(usize) -> Value;
    // A paragraph that is most of the document, as long as it is, counts as a long string.
    let shapes: [(&str, Shape, usize); 5] = [
        ("recipe", documents::recipe, 0),
        ("rows", numbers, 0),
        ("table", members, 0),
        ("tree", nested, 0),
        ("sections", sections, 2_000),
    ];
    for (key, shape, more) in shapes {
        for size in SIZES {
            let arguments = shape(size);
            let text = arguments.to_string();
            for fragment in [1, 4, 16] {
                let held = json!({key: {"title": "old"}});
                let sent = show(key, held, &arguments, &text, fragment);
                let most = 4 * text.len() + more;
                assert!(
                    sent.bytes <= most,
                    "{key} of {} bytes in {fragment}: {} bytes in {} events, the last {}",
                    text.len(),
                    sent.bytes,
                    sent.events,
                    sent.last,
                );
                assert!(sent.events >= 10, "{key}: {} events", sent.events);
            }
        }
    }
}

#[test]
fn one_long_string_costs_at_most_twenty_times_its_bytes() {
    for size in SIZES {
        let arguments = documents::report(size);
        let text = arguments.to_string();
        for fragment in [1, 4, 16] {
            let sent = show("document", json!({}), &arguments, &text, fragment);
            assert!(
                sent.bytes <= 16 * text.len(),
                "{size} bytes in {fragment}: {} bytes",
                sent.bytes
            );
            assert!(sent.events >= 20, "{size} bytes: {} events", sent.events);
        }
    }
}

#[test]
fn escaped_text_costs_no_more_than_plain_text() {
    let text = format!(
        r#"{{"document":"{}"}}"#,
        r"\u6771\u4eac \ud83d\ude80\n".repeat(2_000)
    );
    let arguments: Value = serde_json::from_str(&text).unwrap();
    let sent = show("document", json!({}), &arguments, &text, 4);
    assert!(sent.bytes <= 16 * text.len(), "{} bytes", sent.bytes);
    assert!(sent.events >= 30, "{} events", sent.events);
}

#[test]
fn pretty_printed_arguments_cost_no_more_than_compact_ones() {
    let arguments = documents::recipe(16_000);
    let text = serde_json::to_string_pretty(&arguments).unwrap();
    let sent = show("recipe", json!({}), &arguments, &text, 4);
    assert!(sent.bytes <= 4 * text.len(), "{} bytes", sent.bytes);
}

#[test]
fn the_gaps_between_events_grow_with_the_document_only() {
    let arguments = documents::report(64_000);
    let text = arguments.to_string();
    let mut projection = Projection::new([Mapping::new("document", "document")], &json!({}));
    let (mut taken, mut last) = (0_usize, 0);
    for fragment in documents::fragments(&text, 4) {
        taken += fragment.len();
        if projection.push(fragment).is_some() {
            assert!(
                taken - last <= 120 + last / 8,
                "nothing from {last} to {taken}"
            );
            last = taken;
        }
    }
}

/// Rows of small numbers, whose operations are many times as long as they are.
fn numbers(bytes: usize) -> Value {
    let row: Value = (0..10).collect();
    json!({"rows": vec![row; bytes / 22]})
}

/// One object with many small members.
fn members(bytes: usize) -> Value {
    let member = |index: usize| (format!("key {index:05}"), json!(index % 7));
    json!({"table": Value::Object((0..bytes / 15).map(member).collect())})
}

/// Paragraphs of some hundred bytes, each in an object.
fn sections(bytes: usize) -> Value {
    let text = "One sentence after the other makes a paragraph. ".repeat(8);
    let section = |index: usize| json!({"heading": format!("Section {index}"), "text": text});
    json!({"sections": (0..=bytes / 430).map(section).collect::<Value>()})
}

/// Deep branches with little in them.
fn nested(bytes: usize) -> Value {
    let branch = |index: usize| {
        (0..20).fold(json!({"leaf": index}), |inner, level| {
            if level % 2 == 0 {
                json!([inner])
            } else {
                json!({"branch": inner})
            }
        })
    };
    json!({"tree": (0..=bytes / 150).map(branch).collect::<Value>()})
}
