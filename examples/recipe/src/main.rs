//! A recipe agent with typed state.
fn main() {}
