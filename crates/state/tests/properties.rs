//! What always holds, tried on arbitrary bytes.

#![expect(clippy::unwrap_used, reason = "a property that does not hold panics")]

mod common;

use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(2000), ..ProptestConfig::default() })]

    #[test]
    fn growing_equals_parsing(bytes in vec(any::<u8>(), 0..300)) {
        common::growing_equals_parsing(&bytes);
    }

    #[test]
    fn a_patch_applies_whole_or_not_at_all(bytes in vec(any::<u8>(), 0..300)) {
        common::a_patch_applies_whole_or_not_at_all(&bytes);
    }

    #[test]
    fn a_diff_leads_from_one_document_to_the_other(bytes in vec(any::<u8>(), 0..300)) {
        common::a_diff_leads_from_one_document_to_the_other(&bytes);
    }

    #[test]
    fn a_projection_ends_in_the_arguments(bytes in vec(any::<u8>(), 0..600)) {
        common::a_projection_ends_in_the_arguments(&bytes);
    }

    #[test]
    fn text_that_looks_like_json_is_accepted_exactly_if_serde_json_does(
        text in r#"[\[\]{}:,"\\u0-9a-eE.tfn\-+ \n]{0,24}"#,
        kind in Just(0_u8),
        cuts in any::<[u8; 4]>(),
    ) {
        let mut bytes = vec![kind];
        bytes.extend(cuts);
        bytes.extend(text.as_bytes());
        common::growing_equals_parsing(&bytes);
    }
}
