//! Applies patches that fit, nearly fit and do not fit.

#![no_main]

#[path = "../../crates/state/tests/common/mod.rs"]
#[allow(
    dead_code,
    unused_imports,
    reason = "each target uses one of the bodies"
)]
mod common;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| common::a_patch_applies_whole_or_not_at_all(bytes));
