//! The `antiphon` command.

mod agents;
mod file;
mod http_tool;

fn main() {}
