//! The time that growing documents take, against parsing the text so far for every fragment.
//!
//! `cargo bench -p antiphon-state`; the time for a document of ten times the size should be ten
//! times as long where a growing document is measured, and a hundred times where it is parsed
//! again.

mod documents;

use antiphon_state::{GrowingJson, Mapping, Projection};
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use serde_json::{Value, json};

/// The size that models' fragments have on average.
const FRAGMENT: usize = 4;

fn main() {
    divan::main();
}

fn grow(text: &str) -> GrowingJson {
    let mut json = GrowingJson::new();
    for fragment in documents::fragments(text, FRAGMENT) {
        // A document that is JSON is never refused.
        let _ = black_box(json.push(fragment));
    }
    json
}

#[divan::bench(args = [1_000, 10_000, 100_000, 1_000_000])]
fn grow_a_report(bencher: Bencher<'_, '_>, bytes: usize) {
    let text = documents::report(bytes).to_string();
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| grow(&text));
}

#[divan::bench(args = [1_000, 10_000, 100_000, 1_000_000])]
fn grow_a_recipe(bencher: Bencher<'_, '_>, bytes: usize) {
    let text = documents::recipe(bytes).to_string();
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| grow(&text));
}

#[divan::bench(args = [1_000, 10_000, 100_000], sample_count = 3, sample_size = 1)]
fn parse_the_text_so_far_again(bencher: Bencher<'_, '_>, bytes: usize) {
    let text = documents::report(bytes).to_string();
    bencher.counter(BytesCount::of_str(&text)).bench(|| {
        let mut so_far = String::new();
        for fragment in documents::fragments(&text, FRAGMENT) {
            so_far.push_str(fragment);
            // The least that any parser of the text so far does: close it and parse it.
            let open = so_far.len();
            so_far.push_str("\"}");
            let _ = black_box(serde_json::from_str::<Value>(&so_far));
            so_far.truncate(open);
        }
    });
}

#[divan::bench(args = [1_000, 10_000, 100_000, 1_000_000])]
fn project_a_report(bencher: Bencher<'_, '_>, bytes: usize) {
    project(bencher, "document", &documents::report(bytes));
}

#[divan::bench(args = [1_000, 10_000, 100_000, 1_000_000])]
fn project_a_recipe(bencher: Bencher<'_, '_>, bytes: usize) {
    project(bencher, "recipe", &documents::recipe(bytes));
}

fn project(bencher: Bencher<'_, '_>, key: &str, arguments: &Value) {
    let text = arguments.to_string();
    bencher.counter(BytesCount::of_str(&text)).bench(|| {
        let mut projection = Projection::new([Mapping::new(key, key)], &json!({}));
        for fragment in documents::fragments(&text, FRAGMENT) {
            black_box(projection.push(fragment));
        }
        black_box(projection.finish());
        projection
    });
}
