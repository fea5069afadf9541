//! What was dropped, mended or let pass.

use antiphon_protocol::Warning;

/// How many are kept of one run; a hostile server must not cost memory.
const MAX_WARNINGS: usize = 64;

/// The first warnings of a run.
#[derive(Debug, Default)]
pub(crate) struct Warnings(Vec<Warning>);

impl Warnings {
    pub(crate) fn push(&mut self, warning: Warning) {
        if self.0.len() < MAX_WARNINGS {
            self.0.push(warning);
        }
    }

    pub(crate) fn extend(&mut self, warnings: impl IntoIterator<Item = Warning>) {
        warnings.into_iter().for_each(|warning| self.push(warning));
    }

    pub(crate) fn as_slice(&self) -> &[Warning] {
        &self.0
    }
}
