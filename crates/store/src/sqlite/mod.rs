//! Threads in one SQLite file, for one server.
//!
//! The file is kept in WAL mode: readers never wait for the writer, and a commit is on disk before it
//! is acknowledged. One server at a time may use it, which a lock beside it ensures; so whatever
//! lease a server finds at its start belongs to nobody.
//!
//! Each trip to SQLite costs far more than what SQLite does there: sqlx keeps a thread for each
//! connection, and a trip wakes it and waits. So what belongs together travels as one script.

mod commit;
mod early;
mod failure;
mod file;
mod lease;
mod look;
mod read;
mod schema;
mod script;
#[cfg(test)]
mod tests;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use antiphon_agent::clock::{Clock, SystemClock};
use antiphon_agent::store::{
    Audit, Claim, Commit, Early, Interaction, Lease, Opened, Result, RunRecord, Store, Thread,
    ThreadKey, ThreadSummary,
};
use futures_util::future::BoxFuture;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions, SqliteConnection};
use tokio::sync::Mutex;

pub use failure::Failure;

use failure::failed;
use file::DatabaseFile;
use writer::Writer;

/// How long to wait for a lock that another program holds on the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Connections that only read.
const READERS: u32 = 4;

/// Statements that each connection keeps prepared.
const PREPARED: usize = 48;

/// Threads in one SQLite file.
///
/// Dropping the store gives the file back to the next server.
#[derive(Debug)]
pub struct Sqlite {
    clock: Arc<dyn Clock>,
    writer: Mutex<Writer>,
    readers: SqlitePool,
    /// Held for its lock.
    _file: DatabaseFile,
}

impl Sqlite {
    /// Opens the database at `path`, with the system's clock. The file and the folders above it are
    /// made where they are missing, readable by their owner alone.
    ///
    /// # Errors
    /// [`Failure`] inside [`Error::Unavailable`](antiphon_agent::store::Error::Unavailable) when the
    /// file can't be used, another server uses it, or a newer version has written it;
    /// [`Error::Damaged`](antiphon_agent::store::Error::Damaged) when it is not a database of ours.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, Arc::new(SystemClock)).await
    }

    /// Opens the database at `path`, with another clock: it decides when leases lapse and what times
    /// threads bear.
    ///
    /// # Errors
    /// As [`Sqlite::open`].
    pub async fn open_with(path: impl AsRef<Path>, clock: Arc<dyn Clock>) -> Result<Self> {
        let file = DatabaseFile::claim(path.as_ref())?;
        let path = file.path();
        let mut durable = connect(path, SqliteSynchronous::Full, "1000").await?;
        schema::migrate(&mut durable).await?;
        lease::forget_all(&mut durable).await?;
        // Leases don't outlive the process, so they need not survive a loss of power; nor should a
        // claim be the one that carries the log over into the database.
        let leases = connect(path, SqliteSynchronous::Normal, "0").await?;
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            .acquire_timeout(BUSY_TIMEOUT)
            .test_before_acquire(false)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_lazy_with(options(path).read_only(true));
        Ok(Self {
            clock,
            writer: Mutex::new(Writer::new(durable, leases)),
            readers,
            _file: file,
        })
    }
}

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(BUSY_TIMEOUT)
        .foreign_keys(true)
        .statement_cache_capacity(PREPARED)
        .disable_statement_logging()
}

/// A connection that writes. `checkpoint` is the number of pages in the log from which on its
/// commits carry them over into the database; 0 is never.
async fn connect(
    path: &Path,
    synchronous: SqliteSynchronous,
    checkpoint: &'static str,
) -> Result<SqliteConnection> {
    options(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(synchronous)
        .pragma("wal_autocheckpoint", checkpoint)
        // A log that once grew does not stay large for ever.
        .pragma("journal_size_limit", "16777216")
        // What was deleted is overwritten: a deleted thread can't be read out of the file.
        .pragma("secure_delete", "ON")
        .connect()
        .await
        .map_err(failed)
}

impl Store for Sqlite {
    fn open(&self, claim: Claim) -> BoxFuture<'_, Result<Opened>> {
        Box::pin(self.claim(claim))
    }

    fn renew<'a>(&'a self, lease: &'a Lease, ttl: Duration) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.renew_lease(lease, ttl))
    }

    fn commit<'a>(&'a self, lease: &'a Lease, commit: Commit) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.write(lease, commit))
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.give_back(lease))
    }

    fn thread<'a>(&'a self, key: &'a ThreadKey) -> BoxFuture<'a, Result<Option<Thread>>> {
        Box::pin(self.read_thread(key))
    }

    fn threads<'a>(
        &'a self,
        user: &'a str,
        after: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<ThreadSummary>>> {
        Box::pin(self.list_threads(user, after, limit))
    }

    fn delete_thread<'a>(&'a self, key: &'a ThreadKey) -> BoxFuture<'a, Result<bool>> {
        Box::pin(self.remove_thread(key))
    }

    fn run<'a>(
        &'a self,
        user: &'a str,
        run_id: &'a str,
        thread: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Option<RunRecord>>> {
        Box::pin(self.find_run(user, run_id, thread))
    }

    fn response<'a>(
        &'a self,
        user: &'a str,
        response_id: &'a str,
    ) -> BoxFuture<'a, Result<Option<RunRecord>>> {
        Box::pin(self.find_response(user, response_id))
    }

    fn interaction<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<Interaction>>> {
        Box::pin(self.find_interaction(id))
    }

    fn keep_early<'a>(
        &'a self,
        id: &'a str,
        early: Early,
    ) -> BoxFuture<'a, Result<Option<Interaction>>> {
        Box::pin(self.keep(id, early))
    }

    fn kept_early(&self) -> BoxFuture<'_, Result<Vec<Interaction>>> {
        Box::pin(self.list_kept_early())
    }

    fn audit<'a>(&'a self, key: &'a ThreadKey) -> BoxFuture<'a, Result<Vec<Audit>>> {
        Box::pin(self.list_audit(key))
    }

    fn orphans(&self) -> BoxFuture<'_, Result<Vec<RunRecord>>> {
        Box::pin(self.list_orphans())
    }

    fn ping(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(self.answer())
    }
}
