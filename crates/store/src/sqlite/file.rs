//! The database's file: made for its owner alone, and used by one server at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::failure::Failure;

/// A database file that is ours until this value is dropped.
#[derive(Debug)]
pub(super) struct DatabaseFile {
    path: PathBuf,
    /// The open file carries the lock; the system takes it back even from a process that dies.
    _lock: File,
}

impl DatabaseFile {
    /// Makes the file where it is missing, and locks it by a file of the same name with `.lock` added.
    pub(super) fn claim(path: &Path) -> Result<Self, Failure> {
        let unusable = |path: &Path| {
            let path = path.to_owned();
            move |source| Failure::File { path, source }
        };
        // SQLite reads a name that begins with `file:` as an address; an absolute one never does.
        let path = std::path::absolute(path).map_err(unusable(path))?;
        if let Some(folder) = path.parent() {
            make_folders(folder).map_err(unusable(folder))?;
        }
        private(&path).map_err(unusable(&path))?;
        // A file that has two names has one lock.
        let path = fs::canonicalize(&path).map_err(unusable(&path))?;
        let lock_path = lock_of(&path);
        let lock = private(&lock_path).map_err(unusable(&lock_path))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(Failure::InUse { path }),
            Err(TryLockError::Error(source)) => Err(unusable(&lock_path)(source)),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// The file that is locked while a server uses the database at this path.
pub(super) fn lock_of(path: &Path) -> PathBuf {
    let mut lock = path.as_os_str().to_owned();
    lock.push(".lock");
    lock.into()
}

/// Opens a file to write; a new one can be read by its owner alone, and so can the log that SQLite
/// makes beside it. One that exists keeps its mode.
fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn make_folders(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
