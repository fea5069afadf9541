//! Shared state: JSON pointers, patches, diffs, a push parser for growing JSON, and projections of it.
//!
//! A page and an agent hold the same JSON document and keep it the same by exchanging
//! [patches](Patch). While a model still writes a value, readers can already see it grow.
//! The pieces, from small to large:
//!
//! - [`Pointer`] names a place in a document (RFC 6901).
//! - [`Patch`] is a list of operations on a document (RFC 6902), applied as one.
//! - [`diff`] finds the patch between two documents, and [`Change`] whether it is worth it.
//! - [`GrowingJson`] is a document whose text is still arriving, always valid so far.
//! - [`shallow_merge`] takes in the state that a page sends, but not a [`reserved_key`].
//! - [`Projection`] shows readers the state that a tool call will set while its arguments arrive.
//!
//! ```
//! use antiphon_state::Patch;
//! use serde_json::json;
//!
//! let mut state = json!({"steps": ["plan"]});
//! let patch: Patch = serde_json::from_value(json!([
//!     {"op": "add", "path": "/steps/-", "value": "do"},
//! ]))?;
//! patch.apply(&mut state)?;
//! assert_eq!(state, json!({"steps": ["plan", "do"]}));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing here does I/O, reads a clock or needs a runtime.

mod diff;
mod grow;
mod measure;
mod merge;
mod patch;
mod pointer;
mod projection;

pub use diff::{Change, diff};
pub use grow::{GrowError, GrowReason, GrowingJson, Growth, Place};
pub use measure::{MAX_DEPTH, json_eq};
pub use merge::{reserved_key, shallow_merge};
pub use patch::{MAX_COPIED_BYTES, MAX_OPERATIONS, Operation, Patch, PatchError, PatchReason};
pub use pointer::{Pointer, PointerError};
pub use projection::{Argument, Mapping, Projection};
