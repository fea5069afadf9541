//! The #[tool] family of attribute macros.
