//! The patch that turns one document into another.
//!
//! Objects are compared member by member. Arrays are aligned first (see [`align`]), so that one
//! inserted element is one operation. An array, or an object of which no member stays, is replaced
//! whole where that takes fewer bytes than the operations inside it.

mod align;

use serde_json::{Map, Value};

use self::align::{Run, align};
use crate::measure::{fits_in, json_len};
use crate::patch::{Operation, Patch};
use crate::pointer::Pointer;

/// How readers learn of a new version of a document they hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// They hold it already.
    Same,
    /// By this patch to what they hold.
    Delta(Patch),
    /// By the new version, whose JSON is no longer than that of the patch.
    Snapshot,
}

impl Change {
    /// Returns the way from `old` to `new` that takes the fewest bytes.
    ///
    /// ```
    /// use antiphon_state::Change;
    /// use serde_json::json;
    ///
    /// let old = json!({"title": "A long title that stays as it is", "steps": 1});
    /// let new = json!({"title": "A long title that stays as it is", "steps": 2});
    /// assert!(matches!(Change::between(&old, &new), Change::Delta(patch) if patch.len() == 1));
    /// assert_eq!(Change::between(&old, &old), Change::Same);
    /// assert_eq!(Change::between(&old, &json!({})), Change::Snapshot);
    /// ```
    #[must_use]
    pub fn between(old: &Value, new: &Value) -> Self {
        let patch = diff(old, new);
        if patch.is_empty() {
            Self::Same
        } else if fits_in(new, json_len(&patch)) {
            Self::Snapshot
        } else {
            Self::Delta(patch)
        }
    }
}

/// Returns a patch that turns `old` into `new`; it is empty if they are equal.
///
/// Members that are equal are never mentioned, and the order of members is not compared.
///
/// ```
/// use antiphon_state::diff;
/// use serde_json::json;
///
/// let old = json!({"steps": ["plan", "check"], "draft": true});
/// let new = json!({"steps": ["plan", "do", "check"]});
/// let patch = diff(&old, &new);
/// assert_eq!(
///     serde_json::to_value(&patch)?,
///     json!([
///         {"op": "remove", "path": "/draft"},
///         {"op": "add", "path": "/steps/1", "value": "do"},
///     ]),
/// );
/// let mut document = old;
/// patch.apply(&mut document)?;
/// assert_eq!(document, new);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn diff(old: &Value, new: &Value) -> Patch {
    let mut comparison = Comparison::default();
    comparison.values(old, new);
    Patch::new(comparison.operations)
}

#[derive(Default)]
struct Comparison {
    operations: Vec<Operation>,
    /// The place that is being compared, in the document as patched so far.
    path: Pointer,
    /// The bytes of JSON of the operations, near enough to choose by.
    bytes: usize,
}

impl Comparison {
    fn values(&mut self, old: &Value, new: &Value) {
        let (operations, bytes) = (self.operations.len(), self.bytes);
        let may_be_whole = match (old, new) {
            (Value::Object(old), Value::Object(new)) => {
                self.objects(old, new);
                !self.path.is_root() && !old.keys().any(|key| new.contains_key(key))
            }
            (Value::Array(old), Value::Array(new)) => {
                self.arrays(old, new);
                true
            }
            (old, new) => {
                if old != new {
                    self.replace(new);
                }
                false
            }
        };
        let inside = self.bytes - bytes;
        if may_be_whole && inside > 0 && fits_in(new, inside.saturating_sub(self.overhead())) {
            self.operations.truncate(operations);
            self.bytes = bytes;
            self.replace(new);
        }
    }

    fn objects(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        for key in old.keys().filter(|key| !new.contains_key(*key)) {
            self.within(key, Self::remove);
        }
        for (key, value) in new {
            self.within(key, |this| match old.get(key) {
                Some(old) => this.values(old, value),
                None => this.add(value),
            });
        }
    }

    fn arrays(&mut self, old: &[Value], new: &[Value]) {
        let (mut olds, mut news) = (old.iter(), new.iter());
        let mut index = 0;
        for run in align(old, new) {
            match run {
                Run::Same(count) => {
                    olds.by_ref().take(count).for_each(drop);
                    news.by_ref().take(count).for_each(drop);
                    index += count;
                }
                Run::Different { old, new } => {
                    let paired = old.min(new);
                    for (old, new) in olds.by_ref().zip(news.by_ref()).take(paired) {
                        self.at(index, |this| this.values(old, new));
                        index += 1;
                    }
                    for _ in olds.by_ref().take(old - paired) {
                        self.at(index, Self::remove);
                    }
                    for added in news.by_ref().take(new - paired) {
                        self.at(index, |this| this.add(added));
                        index += 1;
                    }
                }
            }
        }
    }

    fn within(&mut self, key: &str, compare: impl FnOnce(&mut Self)) {
        self.path.push(key);
        compare(self);
        self.path.pop();
    }

    fn at(&mut self, index: usize, compare: impl FnOnce(&mut Self)) {
        self.path.push_index(index);
        compare(self);
        self.path.pop();
    }

    fn add(&mut self, value: &Value) {
        self.bytes += self.overhead() + json_len(value);
        let path = self.path.clone();
        let value = value.clone();
        self.operations.push(Operation::Add { path, value });
    }

    fn replace(&mut self, value: &Value) {
        self.bytes += self.overhead() + json_len(value);
        let path = self.path.clone();
        let value = value.clone();
        self.operations.push(Operation::Replace { path, value });
    }

    fn remove(&mut self) {
        self.bytes += self.overhead();
        let path = self.path.clone();
        self.operations.push(Operation::Remove { path });
    }

    /// The bytes that an operation here takes besides its value.
    const fn overhead(&self) -> usize {
        r#"{"op":"replace","path":"","value":},"#.len() + self.path.as_str().len()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The operations from `old` to `new` in short; they must lead there.
    fn steps(old: &Value, new: &Value) -> Vec<String> {
        let patch = diff(old, new);
        let mut patched = old.clone();
        patch.apply(&mut patched).unwrap();
        assert_eq!(&patched, new);
        patch
            .iter()
            .map(|operation| format!("{} {}", operation.name(), operation.path()))
            .collect()
    }

    /// Elements that are long enough not to be replaced together.
    fn people(names: &[&str]) -> Value {
        names
            .iter()
            .map(|name| json!({"name": name, "about": "x".repeat(100)}))
            .collect()
    }

    #[test]
    fn equal_documents_need_no_operation() {
        let document = json!({"a": [1, {"b": null}], "c": "d"});
        assert!(steps(&document, &document.clone()).is_empty());
        assert!(steps(&json!({"a": 1, "b": 2}), &json!({"b": 2, "a": 1})).is_empty());
    }

    #[test]
    fn only_members_that_differ_are_mentioned() {
        let old =
            json!({"keep": {"x": [1, 2]}, "drop": 1, "a/b": {"deep": 1, "same": people(&["x"])}});
        let new = json!({"keep": {"x": [1, 2]}, "a/b": {"deep": 2, "same": people(&["x"])}, "more": null});
        assert_eq!(
            steps(&old, &new),
            ["remove /drop", "replace /a~1b/deep", "add /more"]
        );
    }

    #[test]
    fn an_inserted_element_is_one_operation() {
        let old = people(&["a", "b", "c"]);
        assert_eq!(steps(&old, &people(&["new", "a", "b", "c"])), ["add /0"]);
        assert_eq!(steps(&old, &people(&["a", "b", "new", "c"])), ["add /2"]);
        assert_eq!(steps(&old, &people(&["a", "b", "c", "new"])), ["add /3"]);
    }

    #[test]
    fn removed_and_changed_elements_are_found_between_equal_ones() {
        let old = people(&["a", "b", "c", "d", "e"]);
        assert_eq!(steps(&old, &people(&["b", "c", "d", "e"])), ["remove /0"]);
        assert_eq!(
            steps(&old, &people(&["b", "c", "x", "e", "f"])),
            ["remove /0", "replace /2/name", "add /4"]
        );
    }

    #[test]
    fn a_value_is_replaced_whole_where_that_is_shorter() {
        let old = json!({"numbers": [1, 2, 3, 4], "other": "x".repeat(100)});
        let new = json!({"numbers": [5, 6, 7, 8], "other": "x".repeat(100)});
        assert_eq!(steps(&old, &new), ["replace /numbers"]);
        let old = json!({"as": {"a": 1, "b": 2, "c": 3}});
        assert_eq!(steps(&old, &json!({"as": {"d": 4}})), ["replace /as"]);
        assert_eq!(steps(&json!([1]), &json!({"0": 1})), ["replace "]);
    }

    #[test]
    fn one_and_one_point_zero_are_told_apart() {
        assert_eq!(steps(&json!([1]), &json!([1.0])), ["replace "]);
    }

    #[test]
    fn long_arrays_with_nothing_in_common_stay_affordable() {
        let old: Value = (0..20_000).collect();
        let new: Value = (50_000..71_000).collect();
        assert_eq!(steps(&old, &new), ["replace "]);
    }

    #[test]
    fn a_change_is_told_in_the_fewest_bytes() {
        let old = json!({"a": people(&["x", "y"]), "n": 1});
        let new = json!({"a": people(&["x", "y"]), "n": 2});
        let Change::Delta(patch) = Change::between(&old, &new) else {
            panic!("a small change of a large document is a delta");
        };
        assert_eq!(patch.len(), 1);
        assert_eq!(Change::between(&old, &old), Change::Same);
        assert_eq!(
            Change::between(&json!({"n": 1}), &json!({"n": 2})),
            Change::Snapshot
        );
    }
}
