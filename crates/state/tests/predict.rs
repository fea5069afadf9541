//! Streams of arguments that other servers got wrong: cut within escapes, numbers and keys.
//!
//! A fixture holds the mappings, the state before, the fragments, the state after, and what may
//! be seen at a place of the state meanwhile.

#![expect(
    clippy::unwrap_used,
    reason = "a fixture that does not fit is a failed test"
)]

use std::path::Path;

use antiphon_state::{Mapping, Patch, Projection};
use serde_json::Value;

/// All states that readers held, one for each patch.
fn states(fixture: &Value) -> Vec<Value> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mappings = fixture["mappings"].as_array().unwrap().iter();
    let mappings = mappings.map(|pair| Mapping::new(text(&pair[0]), text(&pair[1])));
    let mut readers = fixture["state"].clone();
    let mut projection = Projection::new(mappings, &readers);
    let mut states = Vec::new();
    let mut show = |patch: Option<Patch>| {
        if let Some(patch) = patch {
            patch.apply(&mut readers).unwrap();
            states.push(readers.clone());
        }
    };
    for fragment in fixture["fragments"].as_array().unwrap() {
        show(projection.push(fragment.as_str().unwrap()));
    }
    show(projection.finish());
    assert!(projection.is_settled());
    assert_eq!(readers, fixture["final_state"]);
    states
}

/// Checks what was seen at one place.
fn check(check: &Value, states: &[Value]) {
    let place = check["at"].as_array().unwrap();
    let seen: Vec<&Value> = states
        .iter()
        .filter_map(|state| {
            place
                .iter()
                .try_fold(state, |value, key| value.get(key.as_str()?))
        })
        .collect();
    for value in &seen {
        if let Some(whole) = check["prefix_of"].as_str() {
            assert!(whole.starts_with(value.as_str().unwrap()), "{value}");
        }
        if let Some(only) = check["only"].as_array() {
            let is = |allowed: &Value| antiphon_state::json_eq(allowed, value);
            assert!(only.iter().any(is), "{value}");
        }
        if let Some(whole) = check["list_prefix_of"].as_array() {
            assert!(whole.starts_with(value.as_array().unwrap()), "{value}");
        }
        if let (Some(keys), Some(object)) = (check["keys"].as_array(), value.as_object()) {
            assert!(
                object
                    .keys()
                    .all(|key| keys.contains(&Value::from(key.as_str())))
            );
        }
    }
    let least = check["shown"].as_u64().unwrap_or(1);
    assert!(seen.len() as u64 >= least, "seen {} times", seen.len());
}

#[test]
fn nothing_is_seen_that_does_not_last() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/predict");
    let mut count = 0;
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let fixture: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let states = states(&fixture);
        for expected in fixture["checks"].as_array().unwrap() {
            check(expected, &states);
        }
        count += 1;
    }
    assert_eq!(count, 5);
}
