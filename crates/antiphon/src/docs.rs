//! The Rust blocks of the pages in `docs/` compile, and run where they can.
//! `tests/docs.rs` sees to it that no page with such blocks is missing here.

macro_rules! pages {
    ($($name:ident $file:literal)*) => {
        $(
            #[doc = include_str!(concat!("../../../docs/", $file))]
            struct $name;
        )*
    };
}

pages! {
    Auth "auth.md"
    Embedding "embedding.md"
    ExternalWaits "external-waits.md"
    FromMaf "from-maf.md"
    Interactions "interactions.md"
    Predictions "predictions.md"
    Storage "storage.md"
}
