//! Shared state: JSON pointers, patches, diffs, a push parser for growing JSON, and projections of it.
//!
//! A page and an agent hold the same JSON document and keep it the same by exchanging
//! [patches](Patch). While a model still writes a value, readers can already see it grow.
//! The pieces, from small to large:
//!
//! - [`Pointer`] names a place in a document (RFC 6901).
//! - [`Patch`] is a list of operations on a document (RFC 6902), applied as one.
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

mod measure;
mod patch;
mod pointer;

pub use measure::{MAX_DEPTH, json_eq};
pub use patch::{MAX_COPIED_BYTES, MAX_OPERATIONS, Operation, Patch, PatchError, PatchReason};
pub use pointer::{Pointer, PointerError};
