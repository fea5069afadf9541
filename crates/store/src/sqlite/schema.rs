//! The schema and its versions.

use antiphon_agent::store::{Error, Result};
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::{SqlSafeStr, SqliteConnection};

use super::failure::{Failure, failed};

/// Brings the database to the schema that this version knows.
pub(super) async fn migrate(connection: &mut SqliteConnection) -> Result<()> {
    let migrator = Migrator::with_migrations(migrations());
    migrator
        .run_direct(None, connection, false)
        .await
        .map_err(|error| unmigrated(error, newest_known()))
}

/// The newest schema that this version knows.
pub(super) fn newest_known() -> i64 {
    let versions = migrations().into_iter().map(|m| m.version);
    versions.max().unwrap_or(0)
}

/// A migration that has been released is never changed; a new version adds one.
fn migrations() -> Vec<Migration> {
    vec![
        migration(
            1,
            "threads",
            include_str!("../../migrations/sqlite/0001_threads.sql"),
        ),
        migration(
            2,
            "early",
            include_str!("../../migrations/sqlite/0002_early.sql"),
        ),
    ]
}

fn migration(version: i64, name: &'static str, sql: &'static str) -> Migration {
    let sql = sql.into_sql_str();
    Migration::new(version, name.into(), MigrationType::Simple, sql, false)
}

fn unmigrated(error: MigrateError, known: i64) -> Error {
    match error {
        MigrateError::VersionMissing(found) => Failure::NewerSchema { found, known }.into(),
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => failed(error),
        other => Error::Damaged {
            what: "schema",
            why: other.to_string(),
        },
    }
}
