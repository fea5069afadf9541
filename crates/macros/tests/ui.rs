//! Typical mistakes, and what the compiler says about them.

#[test]
fn mistakes_are_explained() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
