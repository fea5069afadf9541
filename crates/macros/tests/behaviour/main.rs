//! The macros' tools in runs of an agent.

mod client_tools;
mod private_inputs;
mod support;
mod tools;
