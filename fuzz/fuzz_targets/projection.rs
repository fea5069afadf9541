//! Shows arguments, cut anywhere, to readers that hold something.

#![no_main]

#[path = "../../crates/state/tests/common/mod.rs"]
#[allow(
    dead_code,
    unused_imports,
    reason = "each target uses one of the bodies"
)]
mod common;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| common::a_projection_ends_in_the_arguments(bytes));
