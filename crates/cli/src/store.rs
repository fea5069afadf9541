//! Which store a command uses.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use antiphon::clock::SystemClock;
use antiphon::store::{Error, Failure, MemoryStore, Sqlite, Store};
use rustix::fs::Access;

/// Where threads are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StoreUrl {
    /// Nothing outlives the process.
    Memory,
    /// A file.
    Sqlite(File),
}

/// A file that threads are kept in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct File {
    path: PathBuf,
    /// Whether a variable names it, so that nothing may print it.
    hidden: bool,
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
            return Err("a PostgreSQL store is not supported yet by this build; write memory or sqlite:PATH".to_owned());
        }
        let path = text
            .strip_prefix("sqlite://")
            .or_else(|| text.strip_prefix("sqlite:"))
            .filter(|path| !path.is_empty());
        match path {
            Some(path) => Ok(Self::file(folder.join(path))),
            None => Err("expected memory or sqlite:PATH".to_owned()),
        }
    }

    /// This file.
    pub(crate) fn file(path: PathBuf) -> Self {
        let hidden = false;
        Self::Sqlite(File { path, hidden })
    }

    /// The same store, whose name is printed nowhere.
    pub(crate) fn hidden(self) -> Self {
        match self {
            Self::Memory => Self::Memory,
            Self::Sqlite(File { path, .. }) => Self::Sqlite(File { path, hidden: true }),
        }
    }

    /// Opens the store.
    ///
    /// # Errors
    /// Why it can't be used.
    pub(crate) async fn open(&self) -> Result<Arc<dyn Store>, String> {
        match self {
            Self::Memory => Ok(Arc::new(MemoryStore::new(Arc::new(SystemClock)))),
            Self::Sqlite(file) => match Sqlite::open(&file.path).await {
                Ok(store) => Ok(Arc::new(store)),
                Err(error) => Err(file.unusable(&error)),
            },
        }
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory"),
            Self::Sqlite(file) => write!(f, "sqlite:{file}"),
        }
    }
}

impl File {
    /// Judges the file as [`StoreUrl::open`] would, and changes nothing; says whether it is there.
    ///
    /// # Errors
    /// Why it can't be used.
    pub(crate) async fn look(&self) -> Result<bool, String> {
        let unusable = |source| {
            let path = self.path.clone();
            self.unusable(&Failure::File { path, source }.into())
        };
        let path = std::path::absolute(&self.path).map_err(unusable)?;
        match std::fs::metadata(&path) {
            Ok(_) => {
                let looked = Sqlite::look(&path).await;
                looked.map_err(|error| self.unusable(&error))?;
                // Its log is a file beside it.
                may_make_files_below(path.parent()).map_err(unusable)?;
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                may_make_files_below(path.parent()).map_err(unusable)?;
                Ok(false)
            }
            Err(error) => Err(unusable(error)),
        }
    }

    fn unusable(&self, error: &Error) -> String {
        let failure = match error {
            Error::Unavailable(cause) => cause.downcast_ref::<Failure>(),
            _ => None,
        };
        let why = match failure {
            Some(Failure::InUse { .. }) => {
                "another server uses it; stop that one, or choose another store".to_owned()
            }
            Some(Failure::File { path, source }) => {
                let part = if self.hidden || *path == self.path {
                    String::new()
                } else {
                    format!("{}: ", path.display())
                };
                format!("{part}{source}; make it usable, or choose another store")
            }
            Some(failure @ Failure::NewerSchema { .. }) => failure.to_string(),
            Some(failure) => format!("{}; choose another store", chain(failure)),
            None => format!("{}; choose another store", chain(error)),
        };
        format!("the store {self}: {why}")
    }
}

impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.hidden {
            true => f.write_str("that a variable names"),
            false => write!(f, "{}", self.path.display()),
        }
    }
}

/// Whether files, and the folders above them, can be made in a folder that may not be there yet.
fn may_make_files_below(folder: Option<&Path>) -> io::Result<()> {
    let mut folders = folder.into_iter().flat_map(Path::ancestors);
    let Some(folder) = folders.find(|folder| folder.symlink_metadata().is_ok()) else {
        return Err(io::ErrorKind::NotFound.into());
    };
    if !folder.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    Ok(rustix::fs::access(
        folder,
        Access::WRITE_OK | Access::EXEC_OK,
    )?)
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
        let file = |path: &str| Ok(StoreUrl::file(path.into()));
        assert_eq!(parse("memory"), Ok(StoreUrl::Memory));
        assert_eq!(parse("sqlite:a.db"), file("/data/a.db"));
        assert_eq!(parse("sqlite:/b.db"), file("/b.db"));
        assert_eq!(parse("sqlite:///b.db"), file("/b.db"));
        for wrong in ["", "sqlite:", "a.db", "mysql:x", "postgres://x"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
