//! The `antiphon` command.
fn main() {}
