//! Patches against the same patches, one operation at a time.

use antiphon_state::{Operation, Patch};
use serde_json::Value;

use super::source::Source;

/// A patch does what its operations do one by one, or leaves the document exactly as it was; and
/// it survives being written and read.
pub(crate) fn a_patch_applies_whole_or_not_at_all(bytes: &[u8]) {
    let mut source = Source::new(bytes);
    let document = source.value(4);
    let mut expected = Ok(document.clone());
    let mut patch = Patch::default();
    for index in 0..source.below(12) {
        let now = expected.as_ref().unwrap_or(&document).clone();
        let operation = operation(&mut source, &now);
        if let Ok(before) = &mut expected
            && Patch::from(operation.clone()).apply(before).is_err()
        {
            expected = Err(index);
        }
        patch.push(operation);
    }

    let written = serde_json::to_string(&patch).unwrap();
    assert_eq!(serde_json::from_str::<Patch>(&written).unwrap(), patch);

    let mut patched = document.clone();
    match (patch.apply(&mut patched), expected) {
        (Ok(()), Ok(expected)) => assert_eq!(patched.to_string(), expected.to_string()),
        (Err(error), Err(index)) => {
            assert_eq!(error.index, index);
            assert_eq!(patched.to_string(), document.to_string(), "{written}");
        }
        (result, expected) => panic!("{result:?} but {expected:?}: {written} on {document}"),
    }
}

fn operation(source: &mut Source<'_>, document: &Value) -> Operation {
    let kind = source.byte() % 6;
    let path = source.pointer(document);
    match kind {
        0 => Operation::Add {
            path,
            value: source.value(2),
        },
        1 => Operation::Remove { path },
        2 => Operation::Replace {
            path,
            value: source.value(2),
        },
        3 => Operation::Move {
            from: source.pointer(document),
            path,
        },
        4 => Operation::Copy {
            from: source.pointer(document),
            path,
        },
        _ => Operation::Test {
            value: document.pointer(path.as_str()).cloned().unwrap_or_default(),
            path,
        },
    }
}
