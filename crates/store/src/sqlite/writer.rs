//! The one that writes at a time.

use antiphon_agent::store::Result;
use sqlx::sqlite::SqliteRow;
use sqlx::{Executor, SqliteConnection};

use super::failure::failed;
use super::script::Script;

/// The connections that write. Whoever holds it is alone in writing.
#[derive(Debug)]
pub(super) struct Writer {
    /// For commits: what it wrote is on disk before it is acknowledged.
    durable: SqliteConnection,
    /// For leases: what it wrote may be lost with the power.
    leases: SqliteConnection,
    /// Whether a transaction may have been left half-way, by an error or by a caller that went away.
    unsettled: bool,
}

impl Writer {
    pub(super) const fn new(durable: SqliteConnection, leases: SqliteConnection) -> Self {
        Self {
            durable,
            leases,
            unsettled: false,
        }
    }

    /// Runs a script that is one transaction, from its BEGIN to its COMMIT; returns the rows of each
    /// statement. Nothing of a script that fails is kept.
    pub(super) async fn transaction(&mut self, script: Script) -> Result<Vec<Vec<SqliteRow>>> {
        self.settle().await?;
        self.unsettled = true;
        let results = script.run(&mut self.durable).await;
        if results.is_err() {
            // At once, for the transaction keeps leases from being written. Where that fails too, the
            // next one who writes tries again.
            let _ = self.settle().await;
        } else {
            self.unsettled = false;
        }
        results
    }

    /// The connection for leases. Each statement on it is a transaction of its own.
    pub(super) async fn leases(&mut self) -> Result<&mut SqliteConnection> {
        self.settle().await?;
        Ok(&mut self.leases)
    }

    #[cfg(test)]
    pub(super) const fn durable(&mut self) -> &mut SqliteConnection {
        &mut self.durable
    }

    async fn settle(&mut self) -> Result<()> {
        if !self.unsettled {
            return Ok(());
        }
        match self.durable.execute("ROLLBACK").await {
            // SQLite says "cannot rollback - no transaction is active" where there is nothing to undo.
            Err(sqlx::Error::Database(error)) if error.message().contains("no transaction") => {}
            Err(error) => return Err(failed(error)),
            Ok(_) => {}
        }
        self.unsettled = false;
        Ok(())
    }
}
