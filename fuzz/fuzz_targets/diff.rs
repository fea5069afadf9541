//! Compares documents, related and not.

#![no_main]

#[path = "../../crates/state/tests/common/mod.rs"]
#[allow(
    dead_code,
    unused_imports,
    reason = "each target uses one of the bodies"
)]
mod common;

libfuzzer_sys::fuzz_target!(
    |bytes: &[u8]| common::a_diff_leads_from_one_document_to_the_other(bytes)
);
