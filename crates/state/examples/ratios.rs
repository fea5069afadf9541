//! Prints what growing documents and projections cost, in one run:
//! `cargo run --release -p antiphon-state --example ratios`.

#![expect(clippy::print_stdout, reason = "printing is what this example is for")]

#[path = "../benches/documents/mod.rs"]
mod documents;

use std::time::{Duration, Instant};

use antiphon_state::{GrowingJson, Mapping, Patch, Projection};
use serde_json::{Value, json};

/// The size of the fragments of the arguments.
const FRAGMENT: usize = 4;

/// The bytes of a `STATE_DELTA` event besides its patch.
const ENVELOPE: usize = 60;

fn main() {
    println!("arguments in fragments of {FRAGMENT} bytes");
    let text = documents::report(100_000).to_string();
    let grown = shortest(5, || grow(&text));
    let parsed = shortest(5, || parse_so_far(&text));
    println!(
        "100 kB grown in {grown:.2?}, the text so far parsed again in {parsed:.2?}: {:.0} times as long",
        parsed.as_secs_f64() / grown.as_secs_f64()
    );
    for (name, document) in [
        ("report", documents::report as fn(usize) -> Value),
        ("recipe", documents::recipe),
    ] {
        let small = document(100_000).to_string();
        let large = document(1_000_000).to_string();
        let small = shortest(20, || grow(&small));
        let large = shortest(5, || grow(&large));
        println!(
            "1 MB {name} grown in {large:.2?}, 100 kB in {small:.2?}: {:.1} times as long",
            large.as_secs_f64() / small.as_secs_f64()
        );
    }
    println!();
    for kilobytes in [1, 4, 16, 64, 256] {
        report("recipe", &documents::recipe(kilobytes * 1_000));
    }
    for kilobytes in [1, 4, 16, 64, 200] {
        report("document", &documents::report(kilobytes * 1_000));
    }
}

fn grow(text: &str) {
    let mut json = GrowingJson::new();
    for fragment in documents::fragments(text, FRAGMENT) {
        json.push(fragment).expect("the document is JSON");
    }
    json.finish().expect("the document is complete");
}

/// The least that any parser of the text so far does: close the text and parse it. The text is
/// closed in place, and the last tree is kept until the next is there, because otherwise the
/// allocator gives the memory of every tree back and half the time is spent on getting it again.
fn parse_so_far(text: &str) {
    let mut so_far = String::new();
    let mut last = Value::Null;
    for fragment in documents::fragments(text, FRAGMENT) {
        so_far.push_str(fragment);
        let open = so_far.len();
        so_far.push_str("\"}");
        if let Ok(tree) = serde_json::from_str(&so_far) {
            last = tree;
        }
        so_far.truncate(open);
    }
    assert!(last.is_object());
}

/// The shortest of several runs, which is the one that was disturbed least.
fn shortest(runs: usize, run: impl Fn()) -> Duration {
    (0..runs)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

/// Prints what it costs to show the argument `key` while it arrives.
fn report(key: &str, arguments: &Value) {
    let text = arguments.to_string();
    let start = Instant::now();
    let patches = project(key, &text);
    let time = start.elapsed();

    let mut readers = json!({});
    let mut bytes = 0;
    for patch in &patches {
        patch.apply(&mut readers).expect("the patch applies");
        bytes += serde_json::to_string(patch).expect("a patch is JSON").len() + ENVELOPE;
    }
    assert_eq!(&readers, arguments);
    println!(
        "{key} of {} bytes: {} patches, {bytes} bytes of events, {:.2} times the arguments, in {time:.2?}",
        text.len(),
        patches.len(),
        bytes as f64 / text.len() as f64
    );
}

fn project(key: &str, text: &str) -> Vec<Patch> {
    let mut projection = Projection::new([Mapping::new(key, key)], &json!({}));
    let mut patches: Vec<Patch> = documents::fragments(text, FRAGMENT)
        .filter_map(|fragment| projection.push(fragment))
        .collect();
    patches.extend(projection.finish());
    patches
}
