//! Reading. No lease is needed for it, and no writer is waited for.

use antiphon_agent::store::{
    Audit, Interaction, Result, RunRecord, Thread, ThreadKey, ThreadSummary,
};
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Connection, SqliteConnection};

use super::Sqlite;
use super::failure::failed;
use super::script::results;
use crate::rows::{self, Columns, nanoseconds};

/// A thread as a run needs it: its current branch, its calls that are not settled, its open
/// interactions, and the newest attempt of the run that asks.
const LOAD: &str = "
SELECT t.created_at, t.updated_at, t.title, s.state
FROM threads AS t LEFT JOIN states AS s ON s.thread_id = t.id
WHERE t.user = ?1 AND t.thread = ?2;
SELECT m.place, m.origin, m.message
FROM threads AS t JOIN messages AS m ON m.thread_id = t.id
WHERE t.user = ?1 AND t.thread = ?2 AND m.branch IS NULL
ORDER BY m.place, m.seq;
SELECT c.*
FROM threads AS t JOIN calls AS c ON c.thread_id = t.id
WHERE t.user = ?1 AND t.thread = ?2 AND c.phase <> 'settled'
ORDER BY c.place, c.seq;
SELECT * FROM interaction_records
WHERE user = ?1 AND thread = ?2 AND status = 'open'
ORDER BY seq;
SELECT * FROM run_records
WHERE user = ?1 AND thread = ?2 AND run_id = ?3
ORDER BY attempt DESC LIMIT 1";

/// Reads a thread and the newest attempt under `run_id`. Somebody has to keep the thread from
/// changing meanwhile: a lease or a transaction.
pub(super) async fn load(
    connection: &mut SqliteConnection,
    key: &ThreadKey,
    run_id: Option<&str>,
) -> Result<(Option<Thread>, Option<RunRecord>)> {
    let query = sqlx::query(LOAD)
        .bind(key.user.as_str())
        .bind(key.thread.as_str())
        .bind(run_id);
    let mut loaded = results(connection, query).await?.into_iter();
    let mut next = || loaded.next().unwrap_or_default();
    let (thread, messages, calls, interactions, run) = (next(), next(), next(), next(), next());
    let Some(row) = thread.first() else {
        return Ok((None, None));
    };
    let thread = Thread {
        key: key.clone(),
        title: row.text_or_null("title")?.map(str::to_owned),
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
        stored: true,
        state: row.json_or_null("state")?,
        messages: all(&messages, rows::message)?,
        calls: all(&calls, rows::call)?,
        interactions: all(&interactions, rows::interaction)?,
    };
    Ok((Some(thread), run.first().map(rows::run).transpose()?))
}

const THREADS: &str = "
SELECT thread, title, created_at, updated_at FROM threads
WHERE user = ?1
ORDER BY updated_at DESC, thread LIMIT ?2";

const THREADS_AFTER: &str = "
SELECT t.thread, t.title, t.created_at, t.updated_at
FROM threads AS last JOIN threads AS t ON t.user = last.user
WHERE last.user = ?1 AND last.thread = ?3
    AND t.updated_at <= last.updated_at
    AND (t.updated_at < last.updated_at OR t.thread > last.thread)
ORDER BY t.updated_at DESC, t.thread LIMIT ?2";

const RUN: &str = "
SELECT * FROM run_records
WHERE user = ? AND run_id = ?
ORDER BY started_at DESC, attempt DESC, seq DESC LIMIT 1";

const RUN_OF_THREAD: &str = "
SELECT * FROM run_records
WHERE user = ? AND run_id = ? AND thread = ?
ORDER BY started_at DESC, attempt DESC LIMIT 1";

const RESPONSE: &str = "
SELECT * FROM run_records
WHERE user = ? AND response_id = ?
ORDER BY started_at DESC, seq DESC LIMIT 1";

const INTERACTION: &str = "SELECT * FROM interaction_records WHERE id = ?";

const KEPT_EARLY: &str = "
SELECT * FROM interaction_records WHERE early IS NOT NULL AND status = 'open' ORDER BY seq";

const AUDIT: &str = "
SELECT a.decision
FROM threads AS t JOIN audit AS a ON a.thread_id = t.id
WHERE t.user = ? AND t.thread = ?
ORDER BY a.seq";

const ORPHANS: &str = "
SELECT * FROM run_records AS r
WHERE r.status = 'running' AND NOT EXISTS (
    SELECT 1 FROM leases AS l WHERE l.user = r.user AND l.thread = r.thread AND l.until > ?
)
ORDER BY r.seq";

const PING: &str = "SELECT count(*) FROM _sqlx_migrations";

impl Sqlite {
    pub(super) async fn read_thread(&self, key: &ThreadKey) -> Result<Option<Thread>> {
        let mut reader = self.readers.acquire().await.map_err(failed)?;
        let mut transaction = reader.begin().await.map_err(failed)?;
        let (thread, _) = load(&mut transaction, key, None).await?;
        transaction.commit().await.map_err(failed)?;
        Ok(thread)
    }

    pub(super) async fn list_threads(
        &self,
        user: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<ThreadSummary>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let query = match after {
            None => sqlx::query(THREADS).bind(user).bind(limit),
            Some(last) => sqlx::query(THREADS_AFTER).bind(user).bind(limit).bind(last),
        };
        all(&self.read(query).await?, rows::summary)
    }

    pub(super) async fn find_run(
        &self,
        user: &str,
        run_id: &str,
        thread: Option<&str>,
    ) -> Result<Option<RunRecord>> {
        let query = match thread {
            None => sqlx::query(RUN).bind(user).bind(run_id),
            Some(thread) => sqlx::query(RUN_OF_THREAD)
                .bind(user)
                .bind(run_id)
                .bind(thread),
        };
        first(&self.read(query).await?, rows::run)
    }

    pub(super) async fn find_response(
        &self,
        user: &str,
        response_id: &str,
    ) -> Result<Option<RunRecord>> {
        let query = sqlx::query(RESPONSE).bind(user).bind(response_id);
        first(&self.read(query).await?, rows::run)
    }

    pub(super) async fn find_interaction(&self, id: &str) -> Result<Option<Interaction>> {
        let query = sqlx::query(INTERACTION).bind(id);
        first(&self.read(query).await?, rows::interaction)
    }

    pub(super) async fn list_kept_early(&self) -> Result<Vec<Interaction>> {
        let query = sqlx::query(KEPT_EARLY);
        all(&self.read(query).await?, rows::interaction)
    }

    pub(super) async fn list_audit(&self, key: &ThreadKey) -> Result<Vec<Audit>> {
        let query = sqlx::query(AUDIT)
            .bind(key.user.as_str())
            .bind(key.thread.as_str());
        all(&self.read(query).await?, rows::decision)
    }

    pub(super) async fn list_orphans(&self) -> Result<Vec<RunRecord>> {
        let query = sqlx::query(ORPHANS).bind(nanoseconds(self.clock.now()));
        all(&self.read(query).await?, rows::run)
    }

    pub(super) async fn answer(&self) -> Result<()> {
        self.read(sqlx::query(PING)).await?;
        Ok(())
    }

    async fn read(
        &self,
        query: Query<'_, sqlx::Sqlite, SqliteArguments>,
    ) -> Result<Vec<SqliteRow>> {
        query.fetch_all(&self.readers).await.map_err(failed)
    }
}

fn all<T>(rows: &[SqliteRow], read: impl Fn(&SqliteRow) -> Result<T>) -> Result<Vec<T>> {
    rows.iter().map(read).collect()
}

fn first<T>(rows: &[SqliteRow], read: impl Fn(&SqliteRow) -> Result<T>) -> Result<Option<T>> {
    rows.first().map(read).transpose()
}
