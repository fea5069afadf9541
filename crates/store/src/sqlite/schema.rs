//! The schema and its versions.

use antiphon_agent::store::{Error, Result};
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::{SqlSafeStr, SqliteConnection};

use super::failure::{Failure, failed};

/// Brings the database to the schema that this version knows. A migration that has been released is
/// never changed; a new version adds one.
pub(super) async fn migrate(connection: &mut SqliteConnection) -> Result<()> {
    let migrations = vec![Migration::new(
        1,
        "threads".into(),
        MigrationType::Simple,
        include_str!("../../migrations/sqlite/0001_threads.sql").into_sql_str(),
        false,
    )];
    let known = migrations.iter().map(|m| m.version).max().unwrap_or(0);
    let migrator = Migrator::with_migrations(migrations);
    migrator
        .run_direct(None, connection, false)
        .await
        .map_err(|error| unmigrated(error, known))
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
