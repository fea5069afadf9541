//! Whether a server could use a database that is there, without a change to anything.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use antiphon_agent::store::{Error, Result};
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use super::failure::{Failure, failed};
use super::file::lock_of;
use super::{Sqlite, options, schema};

impl Sqlite {
    /// Judges the database at `path`, which is there, as [`Sqlite::open`] would. Nothing is made,
    /// changed or kept open.
    ///
    /// # Errors
    /// As [`Sqlite::open`].
    pub async fn look(path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let unusable = |source| Failure::File {
            path: path.to_owned(),
            source,
        };
        OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(unusable)?;
        let path = fs::canonicalize(path).map_err(unusable)?;
        is_free(&path)?;
        if is_at_work(&path) {
            return Ok(());
        }
        // What nobody writes needs neither a log nor shared memory, which would be files beside it.
        let options = options(&path).read_only(true).immutable(true);
        let mut connection = options.connect().await.map_err(failed)?;
        let version = newest(&mut connection).await.map_err(failed);
        connection.close().await.map_err(failed)?;
        let (version, known) = (version?, schema::newest_known());
        match version {
            Some(found) if found > known => Err(Failure::NewerSchema { found, known }.into()),
            _ => Ok(()),
        }
    }
}

/// That no server uses the database now.
fn is_free(path: &Path) -> Result<()> {
    let lock_path = lock_of(path);
    let unusable = |source: io::Error| {
        let path = lock_path.clone();
        Error::from(Failure::File { path, source })
    };
    let lock = match File::options().read(true).write(true).open(&lock_path) {
        Ok(lock) => lock,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(unusable(error)),
    };
    match lock.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(Failure::InUse {
            path: path.to_owned(),
        }
        .into()),
        Err(TryLockError::Error(source)) => Err(unusable(source)),
    }
}

/// Whether a server that did not end well left a log: then the file alone is not the database.
fn is_at_work(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    fs::metadata(PathBuf::from(log)).is_ok_and(|facts| facts.len() > 0)
}

/// The newest schema that the database was brought to, if it is one of ours.
async fn newest(
    connection: &mut SqliteConnection,
) -> std::result::Result<Option<i64>, sqlx::Error> {
    let table = "SELECT count(*) FROM sqlite_schema WHERE name = '_sqlx_migrations'";
    let tables: i64 = sqlx::query_scalar(table)
        .fetch_one(&mut *connection)
        .await?;
    if tables == 0 {
        return Ok(None);
    }
    sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations")
        .fetch_one(connection)
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn looked(path: &Path) -> String {
        match Sqlite::look(path).await {
            Ok(()) => "fine".to_owned(),
            Err(Error::Unavailable(cause)) => cause.to_string(),
            Err(error) => error.to_string(),
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<_> = entries
            .map(|entry| name(entry).into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[tokio::test]
    async fn a_look_judges_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("threads.db");
        fs::write(
            &path,
            "no database, although it is long enough to be one".repeat(20),
        )
        .unwrap();
        assert!(looked(&path).await.contains("not a database"));
        assert_eq!(names(folder.path()), ["threads.db"]);
        fs::write(&path, "").unwrap();
        assert_eq!(looked(&path).await, "fine");
        assert_eq!(fs::metadata(&path).unwrap().len(), 0);
        let store = Sqlite::open(&path).await.unwrap();
        assert!(looked(&path).await.contains("in use by another server"));
        drop(store);
        assert!(looked(folder.path()).await.contains("can't be used"));
    }

    #[tokio::test]
    async fn a_look_finds_a_newer_schema() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("threads.db");
        let mut connection = options(&path)
            .create_if_missing(true)
            .connect()
            .await
            .unwrap();
        for script in [
            "CREATE TABLE _sqlx_migrations (version INTEGER)",
            "INSERT INTO _sqlx_migrations VALUES (9999)",
        ] {
            sqlx::query(script).execute(&mut connection).await.unwrap();
        }
        connection.close().await.unwrap();
        assert!(looked(&path).await.contains("the database has schema 9999"));
        assert_eq!(names(folder.path()), ["threads.db"]);
    }
}
