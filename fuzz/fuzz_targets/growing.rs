//! Feeds a growing document texts that are JSON, nearly JSON and not JSON, cut anywhere.

#![no_main]

#[path = "../../crates/state/tests/common/mod.rs"]
#[allow(
    dead_code,
    unused_imports,
    reason = "each target uses one of the bodies"
)]
mod common;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| common::growing_equals_parsing(bytes));
