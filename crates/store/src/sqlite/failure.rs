//! What can go wrong with a database file, in an operator's words.

use std::io;
use std::path::PathBuf;

use antiphon_agent::store::Error;

/// Why a SQLite store is not available.
///
/// It is the source of the store's error:
///
/// ```
/// use antiphon_agent::store::Error;
/// use antiphon_store::{Failure, Sqlite};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("antiphon.db");
/// let _first = Sqlite::open(&path).await?;
/// let Err(Error::Unavailable(cause)) = Sqlite::open(&path).await else {
///     panic!("one server at a time");
/// };
/// assert!(matches!(cause.downcast_ref(), Some(Failure::InUse { .. })));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// Another server has the file open.
    #[error("the database {} is in use by another server", path.display())]
    InUse {
        /// The database.
        path: PathBuf,
    },
    /// A newer version of this program has changed the file's schema.
    #[error(
        "the database has schema {found}, this version knows schemas up to {known}: \
         run the version that wrote it, or a newer one"
    )]
    NewerSchema {
        /// The schema that was found.
        found: i64,
        /// The newest schema that this version knows.
        known: i64,
    },
    /// The file, its lock or its folder can't be opened or made.
    #[error("{} can't be used: {source}", path.display())]
    File {
        /// What could not be opened or made.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no space left for the database.
    #[error("the disk is full")]
    Full(#[source] sqlx::Error),
    /// Another program has kept the database locked for longer than this one waits.
    #[error("another program keeps the database locked")]
    Locked(#[source] sqlx::Error),
    /// The file or its folder may not be written.
    #[error("the database or its folder is read-only")]
    ReadOnly(#[source] sqlx::Error),
    /// Anything else.
    #[error(transparent)]
    Other(sqlx::Error),
}

/// SQLite's primary result codes, which are the low byte of the extended ones.
mod code {
    pub(super) const BUSY: u32 = 5;
    pub(super) const LOCKED: u32 = 6;
    pub(super) const READONLY: u32 = 8;
    pub(super) const CORRUPT: u32 = 11;
    pub(super) const FULL: u32 = 13;
    pub(super) const CANTOPEN: u32 = 14;
    pub(super) const NOTADB: u32 = 26;
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self::Unavailable(Box::new(failure))
    }
}

/// Says what an error of SQLite means for the store.
pub(super) fn failed(error: sqlx::Error) -> Error {
    let code = error
        .as_database_error()
        .and_then(|error| error.code()?.parse::<u32>().ok());
    match code.map(|code| code & 0xff) {
        Some(code::CORRUPT | code::NOTADB) => Error::Damaged {
            what: "database",
            why: error.to_string(),
        },
        Some(code::BUSY | code::LOCKED) => Failure::Locked(error).into(),
        Some(code::FULL) => Failure::Full(error).into(),
        Some(code::READONLY | code::CANTOPEN) => Failure::ReadOnly(error).into(),
        _ => Failure::Other(error).into(),
    }
}
