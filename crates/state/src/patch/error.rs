//! Why a patch was not applied.

use crate::pointer::Pointer;

/// A patch does not fit the document, which is left as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("operation {index} ({operation} {path:?}): {reason}", path = path.as_str())]
pub struct PatchError {
    /// The position of the operation in the patch, from 0.
    pub index: usize,
    /// Its name in RFC 6902.
    pub operation: &'static str,
    /// The place that it was to change or test.
    pub path: Pointer,
    /// What is wrong.
    pub reason: PatchReason,
}

/// What is wrong with an operation of a patch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatchReason {
    /// An object on the way has no such member.
    #[error("there is no member {0:?}")]
    NoMember(String),
    /// An array on the way has no such element; indices have no sign and no leading zero.
    #[error("there is no element {token:?} in an array of {length}")]
    NoElement {
        /// The token that stands where an index belongs.
        token: String,
        /// The number of elements.
        length: usize,
    },
    /// A string, number, boolean or null on the way has no children.
    #[error("{0:?} is looked for in a value that is neither an object nor an array")]
    NotAContainer(String),
    /// There is no document without its root.
    #[error("the whole document cannot be removed")]
    RemovesRoot,
    /// A value cannot move into itself.
    #[error("{0:?} cannot move to a place inside itself")]
    MovesIntoItself(String),
    /// The value found is not the one that `test` expects.
    #[error("the value there is another one")]
    TestFailed,
    /// The document would be nested deeper than it could be read back.
    #[error("the document would be nested deeper than {}", crate::MAX_DEPTH)]
    TooDeep,
    /// The patch has more operations than are applied at once.
    #[error("a patch has at most {} operations", crate::MAX_OPERATIONS)]
    TooManyOperations,
    /// The `copy` operations of the patch multiply the document.
    #[error("the copies in a patch take at most {} bytes", crate::MAX_COPIED_BYTES)]
    CopiesTooMuch,
}
