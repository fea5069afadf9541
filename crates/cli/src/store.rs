//! Which store a command uses.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use antiphon::clock::SystemClock;
use antiphon::store::{MemoryStore, Sqlite, Store};

/// Where threads are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StoreUrl {
    /// Nothing outlives the process.
    Memory,
    /// A file.
    Sqlite(PathBuf),
}

impl StoreUrl {
    /// Reads `memory` or `sqlite:PATH`; a relative path is relative to `folder`.
    ///
    /// # Errors
    /// What was expected.
    pub(crate) fn parse(text: &str, folder: &Path) -> Result<Self, String> {
        if text == "memory" {
            return Ok(Self::Memory);
        }
        if text.starts_with("postgres:") || text.starts_with("postgresql:") {
            return Err("a PostgreSQL store is not supported yet by this build".to_owned());
        }
        let path = text
            .strip_prefix("sqlite://")
            .or_else(|| text.strip_prefix("sqlite:"))
            .filter(|path| !path.is_empty());
        match path {
            Some(path) => Ok(Self::Sqlite(folder.join(path))),
            None => Err("expected memory or sqlite:PATH".to_owned()),
        }
    }

    /// Opens the store.
    ///
    /// # Errors
    /// Why it can't be used.
    pub(crate) async fn open(&self) -> Result<Arc<dyn Store>, String> {
        match self {
            Self::Memory => Ok(Arc::new(MemoryStore::new(Arc::new(SystemClock)))),
            Self::Sqlite(path) => match Sqlite::open(path).await {
                Ok(store) => Ok(Arc::new(store)),
                Err(error) => Err(format!("the store {}: {}", path.display(), chain(&error))),
            },
        }
    }
}

/// An error with its causes, each once.
fn chain(error: &dyn std::error::Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !line.contains(&text) {
            line = format!("{line}: {text}");
        }
        cause = error.source();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_folder() {
        let parse = |text| StoreUrl::parse(text, Path::new("/data"));
        let file = |path: &str| Ok(StoreUrl::Sqlite(path.into()));
        assert_eq!(parse("memory"), Ok(StoreUrl::Memory));
        assert_eq!(parse("sqlite:a.db"), file("/data/a.db"));
        assert_eq!(parse("sqlite:/b.db"), file("/b.db"));
        assert_eq!(parse("sqlite:///b.db"), file("/b.db"));
        for wrong in ["", "sqlite:", "a.db", "mysql:x", "postgres://x"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
