//! What always holds, as functions of arbitrary bytes.
//!
//! The property tests and the fuzz targets share these bodies, so that a fuzzer's finding is a
//! test case and a property that holds is worth fuzzing.

mod diffs;
mod growing;
mod patches;
mod projecting;
mod source;

pub(crate) use diffs::a_diff_leads_from_one_document_to_the_other;
pub(crate) use growing::growing_equals_parsing;
pub(crate) use patches::a_patch_applies_whole_or_not_at_all;
pub(crate) use projecting::a_projection_ends_in_the_arguments;
