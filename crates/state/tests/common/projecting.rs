//! Projections against the arguments that they show.

use antiphon_state::{Argument, Mapping, Operation, Patch, Projection};
use serde_json::{Value, json};

use super::growing::grows;
use super::source::Source;

/// The bytes of an event besides its patch.
const ENVELOPE: usize = 60;

/// Whatever a call's arguments are and however they are cut, every patch applies to what readers
/// hold, what they see only grows, they end with the arguments, and it costs a bounded multiple
/// of the arguments.
pub(crate) fn a_projection_ends_in_the_arguments(bytes: &[u8]) {
    let mut source = Source::new(bytes);
    let arguments = Value::Object(source.object(4));
    let mut readers = match source.byte() % 4 {
        0 => json!({}),
        1 => source.value(2),
        _ => source.changed(&arguments),
    };
    let mappings = mappings(&mut source, &arguments);
    let before = readers.clone();
    let text = source.written(&arguments);
    let mut projection = Projection::new(mappings.iter().cloned(), &readers);
    let mut sent = 0;
    let mut shown: Vec<Option<Value>> = vec![None; mappings.len()];

    let mut at = 0;
    for fragment in source.cut(text.as_bytes()) {
        // Fragments of a projection are text, so they end between characters.
        let end = text.ceil_char_boundary(at + fragment.len());
        let patch = projection.push(&text[at.min(end)..end]);
        at = end.max(at);
        sent += show(patch, &mut readers);
        for (mapping, last) in mappings.iter().zip(&mut shown) {
            see(mapping, &before, &readers, last);
        }
    }
    sent += show(projection.finish(), &mut readers);
    assert!(projection.is_settled());

    let mut expected = before;
    for mapping in &mappings {
        let value = match &mapping.argument {
            Argument::All => Some(&arguments),
            Argument::Named(name) => arguments.get(name),
        };
        assert_eq!(projection.value_for(&mapping.state_key), value);
        if let Some(value) = value {
            if !expected.is_object() {
                expected = json!({});
            }
            expected[&mapping.state_key] = value.clone();
        }
    }
    assert_eq!(readers, expected);
    let most = (13 + 5 * mappings.len()) * text.len() + 4000;
    assert!(sent <= most, "{sent} bytes for {} bytes", text.len());
    assert_eq!(projection.into_arguments(), Ok(arguments));
}

/// Up to three mappings to different keys.
fn mappings(source: &mut Source<'_>, arguments: &Value) -> Vec<Mapping> {
    let keys = ["a", "a/b", "m~n"];
    let mut mappings = Vec::new();
    for key in keys.iter().take(1 + source.below(3)) {
        let names = arguments
            .as_object()
            .into_iter()
            .flat_map(|object| object.keys());
        let name = names.cycle().nth(source.below(7)).cloned();
        let argument = match (source.byte() % 3, name) {
            (0, _) | (_, None) => Argument::All,
            (_, Some(name)) => Argument::Named(name),
        };
        mappings.push(Mapping {
            state_key: (*key).to_owned(),
            argument,
        });
    }
    mappings
}

/// Applies a patch, which must add what is missing and replace what is there, and returns the
/// bytes of its event.
fn show(patch: Option<Patch>, readers: &mut Value) -> usize {
    let Some(patch) = patch else { return 0 };
    assert!(!patch.is_empty());
    for operation in &patch {
        let is_there = readers.pointer(operation.path().as_str()).is_some();
        match operation {
            Operation::Add { .. } => assert!(!is_there, "{operation:?} on {readers}"),
            Operation::Replace { .. } => assert!(is_there, "{operation:?} on {readers}"),
            other => panic!("{other:?} in a projection"),
        }
        Patch::from(operation.clone()).apply(readers).unwrap();
    }
    serde_json::to_string(&patch).unwrap().len() + ENVELOPE
}

/// What readers see under a key is what they held before, until it is the growing value.
fn see(mapping: &Mapping, before: &Value, readers: &Value, last: &mut Option<Value>) {
    let before = before.get(&mapping.state_key);
    let now = readers.get(&mapping.state_key);
    match (&*last, now) {
        (None, now) if now == before => {}
        (None, Some(now)) => *last = Some(now.clone()),
        (Some(shown), Some(now)) => {
            assert!(grows(shown, now), "{shown} became {now}");
            *last = Some(now.clone());
        }
        (_, None) => panic!("{} was shown and is gone", mapping.state_key),
    }
}
