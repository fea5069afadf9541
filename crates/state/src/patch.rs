//! JSON patches (RFC 6902): the operations and how they read and write as JSON.
//!
//! Applying them lives in [`apply`], which keeps a patch all or nothing.

mod apply;
mod error;

use std::ops::Deref;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use apply::{MAX_COPIED_BYTES, MAX_OPERATIONS};
pub use error::{PatchError, PatchReason};

use crate::pointer::Pointer;

/// One operation of a [`Patch`].
///
/// Its JSON is that of RFC 6902; members that the RFC does not know are ignored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum Operation {
    /// Adds a member or replaces it, inserts an element, or replaces the whole document.
    Add {
        /// Where: the parent must be there. The index `-` is the end of an array.
        path: Pointer,
        /// What.
        value: Value,
    },
    /// Removes the value at `path`, which must be there and not be the whole document.
    Remove {
        /// Where.
        path: Pointer,
    },
    /// Replaces the value at `path`, which must be there.
    Replace {
        /// Where.
        path: Pointer,
        /// By what.
        value: Value,
    },
    /// Removes the value at `from` and adds it at `path`, which must not lie inside `from`.
    Move {
        /// Where the value is.
        from: Pointer,
        /// Where it goes, in the document without it.
        path: Pointer,
    },
    /// Adds the value at `from` at `path` as well.
    Copy {
        /// Where the value is.
        from: Pointer,
        /// Where its copy goes.
        path: Pointer,
    },
    /// Lets the patch fail unless the value at `path` equals `value` (see [`json_eq`](crate::json_eq)).
    Test {
        /// Where.
        path: Pointer,
        /// What must be there.
        value: Value,
    },
}

impl Operation {
    /// Returns the name of the operation as RFC 6902 writes it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Add { .. } => "add",
            Self::Remove { .. } => "remove",
            Self::Replace { .. } => "replace",
            Self::Move { .. } => "move",
            Self::Copy { .. } => "copy",
            Self::Test { .. } => "test",
        }
    }

    /// Returns the place that the operation changes or tests.
    #[must_use]
    pub const fn path(&self) -> &Pointer {
        match self {
            Self::Add { path, .. }
            | Self::Remove { path }
            | Self::Replace { path, .. }
            | Self::Move { path, .. }
            | Self::Copy { path, .. }
            | Self::Test { path, .. } => path,
        }
    }
}

/// Operations that are applied to a document as one.
///
/// It reads and writes as the JSON array of its operations, and derefs to their slice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Patch {
    operations: Vec<Operation>,
}

impl Patch {
    /// Returns a patch of these operations, in this order.
    #[must_use]
    pub const fn new(operations: Vec<Operation>) -> Self {
        Self { operations }
    }

    /// Appends an operation.
    pub fn push(&mut self, operation: Operation) {
        self.operations.push(operation);
    }

    /// Returns the operations, giving up the patch.
    #[must_use]
    pub fn into_operations(self) -> Vec<Operation> {
        self.operations
    }
}

impl Deref for Patch {
    type Target = [Operation];

    fn deref(&self) -> &[Operation] {
        &self.operations
    }
}

impl From<Vec<Operation>> for Patch {
    fn from(operations: Vec<Operation>) -> Self {
        Self::new(operations)
    }
}

impl From<Operation> for Patch {
    fn from(operation: Operation) -> Self {
        Self::new(vec![operation])
    }
}

impl FromIterator<Operation> for Patch {
    fn from_iter<Operations: IntoIterator<Item = Operation>>(operations: Operations) -> Self {
        Self::new(operations.into_iter().collect())
    }
}

impl Extend<Operation> for Patch {
    fn extend<Operations: IntoIterator<Item = Operation>>(&mut self, operations: Operations) {
        self.operations.extend(operations);
    }
}

impl IntoIterator for Patch {
    type Item = Operation;
    type IntoIter = std::vec::IntoIter<Operation>;

    fn into_iter(self) -> Self::IntoIter {
        self.operations.into_iter()
    }
}

impl<'a> IntoIterator for &'a Patch {
    type Item = &'a Operation;
    type IntoIter = std::slice::Iter<'a, Operation>;

    fn into_iter(self) -> Self::IntoIter {
        self.operations.iter()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_operation_reads_and_writes_as_in_the_rfc() {
        let written = json!([
            {"op": "add", "path": "/a", "value": {"b": 1}},
            {"op": "remove", "path": "/a"},
            {"op": "replace", "path": "", "value": null},
            {"op": "move", "from": "/a", "path": "/b"},
            {"op": "copy", "from": "/a", "path": "/b"},
            {"op": "test", "path": "/a~1b", "value": [1.5]},
        ]);
        let patch: Patch = serde_json::from_value(written.clone()).unwrap();
        let names: Vec<_> = patch.iter().map(Operation::name).collect();
        assert_eq!(names, ["add", "remove", "replace", "move", "copy", "test"]);
        assert_eq!(serde_json::to_value(&patch).unwrap(), written);
        assert!(
            serde_json::to_string(&patch)
                .unwrap()
                .starts_with(r#"[{"op":"add","path":"/a","value":"#)
        );
    }

    #[test]
    fn members_that_the_rfc_does_not_know_are_ignored() {
        let patch: Patch =
            serde_json::from_str(r#"[{"note":1,"path":"/a","op":"remove","value":2}]"#).unwrap();
        assert_eq!(
            *patch,
            [Operation::Remove {
                path: Pointer::member("a")
            }]
        );
    }

    #[test]
    fn an_operation_without_what_it_needs_is_refused() {
        for text in [
            r#"[{"op":"add","path":"/a"}]"#,
            r#"[{"op":"add","value":1}]"#,
            r#"[{"op":"move","path":"/a"}]"#,
            r#"[{"op":"append","path":"/a","value":1}]"#,
            r#"[{"op":"remove","path":"a"}]"#,
            r#"{"op":"remove","path":"/a"}"#,
        ] {
            assert!(serde_json::from_str::<Patch>(text).is_err(), "{text}");
        }
    }
}
