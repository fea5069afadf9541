//! Applies patches, whole or not at all.
//!
//! A patch that fails half way must leave the document as it was, and a document may be large
//! while its patches are small. So nothing is cloned up front: every step that is taken records
//! how it is undone, and a failure walks the records backwards.

use std::borrow::Cow;
use std::mem;

use serde_json::Value;

use super::{Operation, Patch, PatchError, PatchReason};
use crate::measure::{MAX_DEPTH, is_within_depth, json_eq, json_len};
use crate::pointer::{self, Pointer};

/// The most operations that one patch may hold.
pub const MAX_OPERATIONS: usize = 100_000;

/// The most bytes of JSON that the `copy` operations of one patch may add together.
///
/// Each `copy` can double the document, so a few dozen of them would fill any memory.
pub const MAX_COPIED_BYTES: usize = 16 << 20;

impl Patch {
    /// Applies all operations in order, or none.
    ///
    /// The members of an object keep their order: a replaced member stays in its place and a
    /// removed one leaves the others as they were.
    ///
    /// # Errors
    /// An operation does not fit the document, or a limit is passed ([`MAX_OPERATIONS`],
    /// [`MAX_COPIED_BYTES`], [`MAX_DEPTH`](crate::MAX_DEPTH)). The document is then what it
    /// was before.
    ///
    /// ```
    /// use antiphon_state::Patch;
    /// use serde_json::json;
    ///
    /// let patch: Patch = serde_json::from_value(json!([
    ///     {"op": "add", "path": "/a", "value": 1},
    ///     {"op": "replace", "path": "/missing", "value": 2},
    /// ]))?;
    /// let mut state = json!({});
    /// let error = patch.apply(&mut state).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "operation 1 (replace \"/missing\"): there is no member \"missing\"",
    /// );
    /// assert_eq!(state, json!({}));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn apply(&self, document: &mut Value) -> Result<(), PatchError> {
        let mut run = Run {
            document,
            steps: Vec::with_capacity(self.len().min(MAX_OPERATIONS)),
            copied: 0,
        };
        for (index, operation) in self.iter().enumerate() {
            let result = if index < MAX_OPERATIONS {
                run.take(operation)
            } else {
                Err(PatchReason::TooManyOperations)
            };
            if let Err(reason) = result {
                run.undo();
                return Err(PatchError {
                    index,
                    operation: operation.name(),
                    path: operation.path().clone(),
                    reason,
                });
            }
        }
        Ok(())
    }
}

/// A patch that is being applied.
struct Run<'a> {
    document: &'a mut Value,
    /// What has been done so far, to be undone from the end.
    steps: Vec<Step<'a>>,
    /// The bytes of JSON that `copy` operations have added.
    copied: usize,
}

/// A step that changed one child of the container at `parent`.
struct Step<'a> {
    parent: &'a str,
    child: Child<'a>,
    undo: Undo,
}

/// Where a value is within its container.
enum Child<'a> {
    Member(Cow<'a, str>),
    Element(usize),
    /// The whole document, which has no container.
    Root,
}

enum Undo {
    /// A new child goes away again.
    Remove,
    /// The child becomes what it was.
    Restore(Value),
    /// The child comes back at this position among its siblings. A moved value is `None` here:
    /// it is the one that the step after this one put elsewhere.
    Insert(usize, Option<Value>),
}

impl<'a> Run<'a> {
    fn take(&mut self, operation: &'a Operation) -> Result<(), PatchReason> {
        match operation {
            Operation::Add { path, value } => {
                check_depth(value, path)?;
                self.add(path, &mut value.clone())
            }
            Operation::Replace { path, value } => {
                check_depth(value, path)?;
                self.replace(path, value.clone())
            }
            Operation::Remove { path } => {
                let value = self.remove(path)?;
                self.keep_removed(value);
                Ok(())
            }
            Operation::Move { from, path } => self.relocate(from, path),
            Operation::Copy { from, path } => {
                let value = find(self.document, from.as_str())?;
                check_depth(value, path)?;
                self.copied = self.copied.saturating_add(json_len(value));
                if self.copied > MAX_COPIED_BYTES {
                    return Err(PatchReason::CopiesTooMuch);
                }
                let mut value = value.clone();
                self.add(path, &mut value)
            }
            Operation::Test { path, value } => {
                if json_eq(find(self.document, path.as_str())?, value) {
                    Ok(())
                } else {
                    Err(PatchReason::TestFailed)
                }
            }
        }
    }

    /// Takes `value` to `path`, unless that fails: then `value` is still there for the caller.
    fn add(&mut self, path: &'a Pointer, value: &mut Value) -> Result<(), PatchReason> {
        let Some((parent, token)) = path.split_last() else {
            let old = mem::replace(self.document, mem::take(value));
            self.record("", Child::Root, Undo::Restore(old));
            return Ok(());
        };
        let (child, undo) = match find_mut(self.document, parent)? {
            Value::Object(members) => {
                if let Some(old) = members.get_mut(&*token) {
                    let old = mem::replace(old, mem::take(value));
                    (Child::Member(token), Undo::Restore(old))
                } else {
                    members.insert(token.to_string(), mem::take(value));
                    (Child::Member(token), Undo::Remove)
                }
            }
            Value::Array(elements) => {
                let index = index_to_insert(&token, elements.len())?;
                elements.insert(index, mem::take(value));
                (Child::Element(index), Undo::Remove)
            }
            _ => return Err(PatchReason::NotAContainer(token.into_owned())),
        };
        self.record(parent, child, undo);
        Ok(())
    }

    fn replace(&mut self, path: &'a Pointer, value: Value) -> Result<(), PatchReason> {
        let old = mem::replace(find_mut(self.document, path.as_str())?, value);
        let (parent, child) = match path.split_last() {
            None => ("", Child::Root),
            Some((parent, token)) => match find(self.document, parent)? {
                Value::Array(elements) => {
                    let index = index_of(&token, elements.len())?;
                    (parent, Child::Element(index))
                }
                _ => (parent, Child::Member(token)),
            },
        };
        self.record(parent, child, Undo::Restore(old));
        Ok(())
    }

    fn remove(&mut self, path: &'a Pointer) -> Result<Value, PatchReason> {
        let Some((parent, token)) = path.split_last() else {
            return Err(PatchReason::RemovesRoot);
        };
        let (child, position, value) = match find_mut(self.document, parent)? {
            Value::Object(members) => {
                let Some(position) = members.keys().position(|key| *key == token) else {
                    return Err(PatchReason::NoMember(token.into_owned()));
                };
                let value = members.shift_remove(&*token).unwrap_or_default();
                (Child::Member(token), position, value)
            }
            Value::Array(elements) => {
                let index = index_of(&token, elements.len())?;
                (Child::Element(index), index, elements.remove(index))
            }
            _ => return Err(PatchReason::NotAContainer(token.into_owned())),
        };
        self.record(parent, child, Undo::Insert(position, None));
        Ok(value)
    }

    fn relocate(&mut self, from: &'a Pointer, path: &'a Pointer) -> Result<(), PatchReason> {
        let value = find(self.document, from.as_str())?;
        if from == path {
            return Ok(());
        }
        if from.is_above(path) {
            return Err(PatchReason::MovesIntoItself(from.to_string()));
        }
        check_depth(value, path)?;
        let mut value = self.remove(from)?;
        let added = self.add(path, &mut value);
        if added.is_err() {
            self.keep_removed(value);
        }
        added
    }

    fn record(&mut self, parent: &'a str, child: Child<'a>, undo: Undo) {
        self.steps.push(Step {
            parent,
            child,
            undo,
        });
    }

    /// Keeps the value that the last step removed and nothing put elsewhere.
    fn keep_removed(&mut self, value: Value) {
        if let Some(Step {
            undo: Undo::Insert(_, kept),
            ..
        }) = self.steps.last_mut()
        {
            *kept = Some(value);
        }
    }

    fn undo(self) {
        // What the step undone last took out of the document; a move puts it back.
        let mut carried = Value::Null;
        for step in self.steps.into_iter().rev() {
            // Undone in reverse, every step finds the document as it left it.
            let Ok(parent) = find_mut(self.document, step.parent) else {
                continue;
            };
            carried = step.child.undo(step.undo, parent, carried);
        }
    }
}

impl Child<'_> {
    /// Undoes a step on this child of `parent` and returns the value that was there.
    fn undo(self, undo: Undo, parent: &mut Value, carried: Value) -> Value {
        match (self, parent, undo) {
            (Self::Root, root, Undo::Restore(old)) => mem::replace(root, old),
            (Self::Member(key), Value::Object(members), undo) => match undo {
                Undo::Remove => members.shift_remove(&*key).unwrap_or_default(),
                Undo::Restore(old) => members.insert(key.into_owned(), old).unwrap_or_default(),
                Undo::Insert(position, kept) => {
                    let value = kept.unwrap_or(carried);
                    members.shift_insert(position, key.into_owned(), value);
                    Value::Null
                }
            },
            (Self::Element(index), Value::Array(elements), undo) => match undo {
                Undo::Remove => elements.remove(index),
                Undo::Restore(old) => elements
                    .get_mut(index)
                    .map_or(Value::Null, |element| mem::replace(element, old)),
                Undo::Insert(position, kept) => {
                    elements.insert(position, kept.unwrap_or(carried));
                    Value::Null
                }
            },
            // A step on a container of another kind was never recorded.
            _ => carried,
        }
    }
}

fn check_depth(value: &Value, path: &Pointer) -> Result<(), PatchReason> {
    match MAX_DEPTH.checked_sub(path.depth()) {
        Some(left) if is_within_depth(value, left) => Ok(()),
        _ => Err(PatchReason::TooDeep),
    }
}

fn find<'d>(document: &'d Value, path: &str) -> Result<&'d Value, PatchReason> {
    pointer::tokens(path).try_fold(document, |value, token| match value {
        Value::Object(members) => members
            .get(&*token)
            .ok_or_else(|| PatchReason::NoMember(token.into_owned())),
        Value::Array(elements) => {
            let index = index_of(&token, elements.len())?;
            Ok(&elements[index])
        }
        _ => Err(PatchReason::NotAContainer(token.into_owned())),
    })
}

fn find_mut<'d>(document: &'d mut Value, path: &str) -> Result<&'d mut Value, PatchReason> {
    pointer::tokens(path).try_fold(document, |value, token| match value {
        Value::Object(members) => members
            .get_mut(&*token)
            .ok_or_else(|| PatchReason::NoMember(token.into_owned())),
        Value::Array(elements) => {
            let index = index_of(&token, elements.len())?;
            Ok(&mut elements[index])
        }
        _ => Err(PatchReason::NotAContainer(token.into_owned())),
    })
}

/// Reads the index of an element that is there.
fn index_of(token: &str, length: usize) -> Result<usize, PatchReason> {
    parse_index(token)
        .filter(|&index| index < length)
        .ok_or_else(|| PatchReason::NoElement {
            token: token.to_owned(),
            length,
        })
}

/// Reads the index at which an element can be inserted.
fn index_to_insert(token: &str, length: usize) -> Result<usize, PatchReason> {
    if token == "-" {
        return Ok(length);
    }
    index_of(token, length + 1).map_err(|_| PatchReason::NoElement {
        token: token.to_owned(),
        length,
    })
}

/// Reads an index as RFC 6901 writes it: digits, without a leading zero.
fn parse_index(token: &str) -> Option<usize> {
    let canonical = token == "0"
        || (token.bytes().all(|byte| byte.is_ascii_digit()) && !token.starts_with('0'));
    if canonical { token.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Applies `patch` and returns the document, or the message if it fails. A failed patch
    /// must leave the document as it was, the order of its members included.
    fn applied(document: &Value, patch: Value) -> Result<Value, String> {
        let patch: Patch = serde_json::from_value(patch).unwrap();
        let mut patched = document.clone();
        match patch.apply(&mut patched) {
            Ok(()) => Ok(patched),
            Err(error) => {
                assert_eq!(patched.to_string(), document.to_string());
                Err(error.to_string())
            }
        }
    }

    #[test]
    fn add_inserts_replaces_and_appends() {
        let document = json!({"a": [1, 2], "b": {"c": 1}});
        let patch = json!([
            {"op": "add", "path": "/a/0", "value": 0},
            {"op": "add", "path": "/a/-", "value": 3},
            {"op": "add", "path": "/a/4", "value": 4},
            {"op": "add", "path": "/b/c", "value": 2},
            {"op": "add", "path": "/b/d", "value": null},
        ]);
        assert_eq!(
            applied(&document, patch),
            Ok(json!({"a": [0, 1, 2, 3, 4], "b": {"c": 2, "d": null}}))
        );
    }

    #[test]
    fn the_empty_path_is_the_whole_document() {
        let patch = json!([
            {"op": "replace", "path": "", "value": {"x": 1}},
            {"op": "add", "path": "/y", "value": [true, null]},
        ]);
        assert_eq!(
            applied(&json!([1]), patch),
            Ok(json!({"x": 1, "y": [true, null]}))
        );
        assert_eq!(
            applied(&json!({}), json!([{"op": "add", "path": "", "value": 7}])),
            Ok(json!(7))
        );
        assert_eq!(
            applied(&json!({}), json!([{"op": "remove", "path": ""}])),
            Err("operation 0 (remove \"\"): the whole document cannot be removed".into())
        );
    }

    #[test]
    fn escaped_keys_are_found_and_added() {
        let patch = json!([
            {"op": "add", "path": "/a~1b~1c", "value": 1},
            {"op": "add", "path": "/m~0n", "value": 2},
            {"op": "add", "path": "/~01", "value": 3},
            {"op": "add", "path": "/", "value": 4},
            {"op": "test", "path": "/a~1b~1c", "value": 1},
        ]);
        assert_eq!(
            applied(&json!({}), patch),
            Ok(json!({"a/b/c": 1, "m~n": 2, "~1": 3, "": 4}))
        );
    }

    #[test]
    fn array_indices_are_read_strictly() {
        let document = json!({"a": [1, 2]});
        for bad in [
            "01",
            "+1",
            "-1",
            "1.0",
            " 1",
            "",
            "3",
            "-0",
            "٣",
            "1e0",
            "99999999999999999999",
        ] {
            let path = format!("/a/{bad}");
            let patch = json!([{"op": "add", "path": path, "value": 0}]);
            assert!(applied(&document, patch).is_err(), "{bad:?}");
        }
        for op in ["remove", "replace", "test"] {
            for bad in ["-", "2"] {
                let patch = json!([{"op": op, "path": format!("/a/{bad}"), "value": 0}]);
                assert!(applied(&document, patch).is_err(), "{op} {bad:?}");
            }
        }
    }

    #[test]
    fn remove_and_replace_keep_the_order_of_members() {
        let document = json!({"a": 1, "b": 2, "c": 3, "d": 4});
        let patch = json!([
            {"op": "remove", "path": "/b"},
            {"op": "replace", "path": "/a", "value": 9},
        ]);
        assert_eq!(
            applied(&document, patch).unwrap().to_string(),
            r#"{"a":9,"c":3,"d":4}"#
        );
    }

    #[test]
    fn move_takes_and_copy_leaves() {
        let document = json!({"a": {"x": 1}, "l": [1, 2, 3]});
        let patch = json!([
            {"op": "move", "from": "/a/x", "path": "/y"},
            {"op": "move", "from": "/l/0", "path": "/l/2"},
            {"op": "copy", "from": "/l", "path": "/a/l"},
            {"op": "move", "from": "/y", "path": "/y"},
        ]);
        assert_eq!(
            applied(&document, patch),
            Ok(json!({"a": {"l": [2, 3, 1]}, "l": [2, 3, 1], "y": 1}))
        );
    }

    #[test]
    fn a_value_cannot_move_into_itself() {
        let document = json!({"a": {"b": {}}, "ab": {}});
        let patch = json!([{"op": "move", "from": "/a", "path": "/a/b/c"}]);
        assert_eq!(
            applied(&document, patch),
            Err(
                "operation 0 (move \"/a/b/c\"): \"/a\" cannot move to a place inside itself".into()
            )
        );
        let patch = json!([{"op": "move", "from": "/a", "path": "/ab/c"}]);
        assert!(applied(&document, patch).is_ok());
    }

    #[test]
    fn a_failed_patch_is_undone_whatever_it_did_before() {
        let document = json!({"a": 1, "o": {"x": [1, 2, 3], "y": {"z": true}}, "b": 2});
        let steps = [
            json!({"op": "add", "path": "/o/x/1", "value": 9}),
            json!({"op": "add", "path": "/o/x/-", "value": 9}),
            json!({"op": "add", "path": "/a", "value": 9}),
            json!({"op": "remove", "path": "/a"}),
            json!({"op": "remove", "path": "/o/x/0"}),
            json!({"op": "replace", "path": "/o/x/2", "value": {}}),
            json!({"op": "move", "from": "/o/y", "path": "/o/x/0"}),
            json!({"op": "move", "from": "/o/x/1", "path": "/first"}),
            json!({"op": "move", "from": "/o/x", "path": ""}),
            json!({"op": "copy", "from": "", "path": "/self"}),
            json!({"op": "replace", "path": "", "value": {"o": {"x": [0, 1, 2], "y": 0}, "a": 1}}),
        ];
        let failures = [
            json!({"op": "remove", "path": "/never"}),
            json!({"op": "move", "from": "/o/x/0", "path": "/never/there"}),
            json!({"op": "test", "path": "", "value": 0}),
        ];
        for failure in &failures {
            for first in &steps {
                for second in &steps {
                    let patch = json!([first, second, failure]);
                    assert!(applied(&document, patch).is_err());
                }
            }
        }
    }

    #[test]
    fn test_compares_as_json_does() {
        let document = json!({"n": 1, "s": "1"});
        assert!(
            applied(
                &document,
                json!([{"op": "test", "path": "/n", "value": 1.0}])
            )
            .is_ok()
        );
        assert_eq!(
            applied(
                &document,
                json!([{"op": "test", "path": "/n", "value": "1"}])
            ),
            Err("operation 0 (test \"/n\"): the value there is another one".into())
        );
    }

    #[test]
    fn scalars_have_no_children() {
        let patch = json!([{"op": "add", "path": "/a/b", "value": 1}]);
        assert_eq!(
            applied(&json!({"a": "text"}), patch),
            Err("operation 0 (add \"/a/b\"): \"b\" is looked for in a value that is neither an object nor an array".into())
        );
    }

    #[test]
    fn copies_cannot_multiply_a_document_without_end() {
        let mut operations = vec![json!({"op": "add", "path": "/0", "value": "x".repeat(1000)})];
        for round in 0..40 {
            operations.push(json!({"op": "copy", "from": "", "path": format!("/{round}")}));
        }
        let error = applied(&json!({}), Value::Array(operations)).unwrap_err();
        assert!(
            error.ends_with("the copies in a patch take at most 16777216 bytes"),
            "{error}"
        );
    }

    #[test]
    fn no_patch_makes_a_document_too_deep_to_read_back() {
        let mut deep = json!(0);
        for _ in 0..MAX_DEPTH - 1 {
            deep = json!([deep]);
        }
        let document = json!({"deep": deep, "l": []});
        let text = document.to_string();
        assert!(serde_json::from_str::<Value>(&text).is_ok());
        for from in ["move", "copy"] {
            let patch = json!([{"op": from, "from": "/deep", "path": "/l/0"}]);
            assert!(
                applied(&document, patch)
                    .unwrap_err()
                    .contains("nested deeper")
            );
        }
        let patch = json!([{"op": "add", "path": "/l/0", "value": document["deep"]}]);
        assert!(applied(&document, patch).is_err());
    }
}
