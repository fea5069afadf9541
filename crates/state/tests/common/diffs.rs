//! Diffs there and back.

use antiphon_state::{Change, diff};
use serde_json::Value;

use super::source::Source;

/// A diff applies to the old document and makes the new one of it, both ways round, and the
/// change that is told is never longer than the new document.
pub(crate) fn a_diff_leads_from_one_document_to_the_other(bytes: &[u8]) {
    let mut source = Source::new(bytes);
    let old = source.value(4);
    let new = if source.byte().is_multiple_of(4) {
        source.value(4)
    } else {
        source.changed(&old)
    };
    check(&old, &new);
    check(&new, &old);
    assert!(diff(&old, &old).is_empty());
}

fn check(old: &Value, new: &Value) {
    let patch = diff(old, new);
    assert_eq!(patch.is_empty(), old == new);
    let mut patched = old.clone();
    patch.apply(&mut patched).unwrap();
    assert_eq!(&patched, new);

    let patch_len = serde_json::to_string(&patch).unwrap().len();
    let new_len = new.to_string().len();
    match Change::between(old, new) {
        Change::Same => assert_eq!(old, new),
        Change::Delta(told) => assert!(told == patch && patch_len < new_len),
        Change::Snapshot => assert!(new_len <= patch_len),
    }
}
