//! Reports for people and for programs.

mod junit;
mod text;

use super::Report;

impl Report {
    /// Returns the report as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self)
            .expect("writing maps with string keys into memory cannot fail")
    }
}
