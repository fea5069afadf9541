//! The macros' tools in runs of an agent.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

mod client_tools;
mod private_inputs;
mod questions;
mod support;
mod tools;
