//! Shared state: JSON pointers, patches, diffs, a push parser for growing JSON, and projections of it.
