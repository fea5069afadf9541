//! Claiming a thread, keeping it and giving it back.

use std::time::Duration;

use antiphon_agent::store::{Claim, Error, Lease, Opened, Result, RunRecord, Thread, ThreadKey};
use jiff::{SignedDuration, Timestamp};
use sqlx::{Executor, SqliteConnection};

use super::failure::failed;
use super::script::{BEGIN, COMMIT, Script, results};
use super::{Sqlite, read};
use crate::rows::{Columns, damaged, nanoseconds};

/// Leases of a server that is gone.
const FORGET: &str = "DELETE FROM leases";

/// The first statement clears away what has lapsed, so that the second fails to insert only where
/// somebody holds the thread; the third says who holds it now.
const CLAIM: &str = "
DELETE FROM leases WHERE until <= ?5;
INSERT INTO leases (user, thread, owner, run_id, claimed_at, until)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (user, thread) DO NOTHING
RETURNING token,
    EXISTS (SELECT 1 FROM threads AS t WHERE t.user = ?1 AND t.thread = ?2) AS stored;
SELECT run_id FROM leases WHERE user = ?1 AND thread = ?2";

const RENEW: &str = "UPDATE leases SET until = ? WHERE token = ? AND until > ? RETURNING token";

const RELEASE: &str = "DELETE FROM leases WHERE token = ?";

const HOLDER: &str = "SELECT token FROM leases WHERE user = ? AND thread = ? AND until > ?";

const DELETE: &str = "
DELETE FROM threads WHERE user = ? AND thread = ?
    AND NOT EXISTS (SELECT 1 FROM leases WHERE user = ? AND thread = ? AND until > ?)
RETURNING id";

/// Drops every lease: at the start of a server, whoever held one is gone.
pub(super) async fn forget_all(connection: &mut SqliteConnection) -> Result<()> {
    connection.execute(FORGET).await.map_err(failed)?;
    Ok(())
}

impl Sqlite {
    /// Claims a thread, then loads it. The thread can't change in between: the lease is ours.
    pub(super) async fn claim(&self, claim: Claim) -> Result<Opened> {
        let now = self.clock.now();
        let query = sqlx::query(CLAIM)
            .bind(claim.key.user.as_str())
            .bind(claim.key.thread.as_str())
            .bind(claim.owner)
            .bind(claim.run_id.as_str())
            .bind(nanoseconds(now))
            .bind(nanoseconds(after(now, claim.ttl)));
        let claimed = results(self.writer.lock().await.leases().await?, query).await?;
        let mut claimed = claimed.iter().skip(1).map(|rows| rows.first());
        let (ours, held) = (claimed.next().flatten(), claimed.next().flatten());
        let Some(ours) = ours else {
            let held = held.ok_or_else(|| damaged("lease", &"it is neither free nor held"))?;
            let run_id = held.string("run_id")?;
            return Ok(Opened::Busy { run_id });
        };
        let lease = Lease {
            token: token(ours)?,
            key: claim.key,
            run_id: claim.run_id,
        };
        if ours.number("stored")? == 0 {
            let thread = Thread::new(lease.key.clone(), now);
            return Ok(Opened::Ours(lease, Box::new(thread), None));
        }
        match self.load(&lease.key, &lease.run_id).await {
            Ok((thread, earlier)) => Ok(Opened::Ours(lease, thread, earlier)),
            Err(error) => {
                // The caller never learns of the lease, so nobody else would give it back.
                let _ = self.give_back(&lease).await;
                Err(error)
            }
        }
    }

    async fn load(
        &self,
        key: &ThreadKey,
        run_id: &str,
    ) -> Result<(Box<Thread>, Option<Box<RunRecord>>)> {
        let mut reader = self.readers.acquire().await.map_err(failed)?;
        let (thread, earlier) = read::load(&mut reader, key, Some(run_id)).await?;
        let thread = thread.ok_or_else(|| damaged("thread", &"it is gone while it is held"))?;
        Ok((Box::new(thread), earlier.map(Box::new)))
    }

    pub(super) async fn renew_lease(&self, lease: &Lease, ttl: Duration) -> Result<()> {
        let now = self.clock.now();
        let query = sqlx::query(RENEW)
            .bind(nanoseconds(after(now, ttl)))
            .bind(number(lease.token))
            .bind(nanoseconds(now));
        let renewed = results(self.writer.lock().await.leases().await?, query).await?;
        if renewed.iter().all(Vec::is_empty) {
            return Err(lost(&lease.key));
        }
        Ok(())
    }

    pub(super) async fn give_back(&self, lease: &Lease) -> Result<()> {
        let query = sqlx::query(RELEASE).bind(number(lease.token));
        results(self.writer.lock().await.leases().await?, query).await?;
        Ok(())
    }

    /// Deletes a thread, unless somebody writes it.
    pub(super) async fn remove_thread(&self, key: &ThreadKey) -> Result<bool> {
        let now = nanoseconds(self.clock.now());
        let (user, thread) = (key.user.as_str(), key.thread.as_str());
        let mut script = Script::default();
        script.statement(BEGIN);
        script.statement(HOLDER).bind(user).bind(thread).bind(now);
        script.statement(DELETE).bind(user).bind(thread);
        script.bind(user).bind(thread).bind(now);
        script.statement(COMMIT);
        let results = self.writer.lock().await.transaction(script).await?;
        let found = |statement: usize| results.get(statement).is_some_and(|rows| !rows.is_empty());
        if found(1) {
            return Err(lost(key));
        }
        Ok(found(2))
    }
}

pub(super) fn lost(key: &ThreadKey) -> Error {
    Error::LeaseLost {
        thread: key.thread.clone(),
    }
}

/// A token as SQLite keeps it. One that does not fit was never given out.
pub(super) fn number(token: u64) -> i64 {
    i64::try_from(token).unwrap_or(-1)
}

fn token(row: &impl Columns) -> Result<u64> {
    u64::try_from(row.number("token")?).map_err(|error| damaged("token", &error))
}

fn after(now: Timestamp, ttl: Duration) -> Timestamp {
    let ttl = SignedDuration::try_from(ttl).unwrap_or(SignedDuration::MAX);
    now.saturating_add(ttl).unwrap_or(Timestamp::MAX)
}
