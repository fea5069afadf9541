//! Several statements that travel to SQLite together.

use antiphon_agent::store::Result;
use futures_util::TryStreamExt;
use sqlx::error::BoxDynError;
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{
    Arguments, AssertSqlSafe, Either, Encode, Executor, Row, SqliteConnection, Type, query_with,
};

use super::failure::failed;
use crate::rows::{Columns, damaged};

/// Begins a transaction that writes: it waits for the file's lock now, not at its first write.
pub(super) const BEGIN: &str = "BEGIN IMMEDIATE";

/// Ends a transaction.
pub(super) const COMMIT: &str = "COMMIT";

/// Scripts of up to this many statements are kept prepared; longer ones are rarely the same.
const KEPT: usize = 16;

/// Statements in the order in which they run, each followed by its arguments.
#[derive(Default)]
pub(super) struct Script {
    sql: String,
    arguments: SqliteArguments,
    statements: usize,
    unfit: Option<BoxDynError>,
}

impl Script {
    /// Adds a statement; one `bind` follows for each of its `?`.
    pub(super) fn statement(&mut self, sql: &'static str) -> &mut Self {
        self.sql.push_str(sql);
        self.sql.push(';');
        self.statements += 1;
        self
    }

    /// Adds the next argument.
    pub(super) fn bind<'q, T>(&mut self, value: T) -> &mut Self
    where
        T: Encode<'q, sqlx::Sqlite> + Type<sqlx::Sqlite>,
    {
        if let Err(error) = self.arguments.add(value) {
            self.unfit.get_or_insert(error);
        }
        self
    }

    /// Runs the script; returns the rows of each of its statements.
    pub(super) async fn run(
        self,
        connection: &mut SqliteConnection,
    ) -> Result<Vec<Vec<SqliteRow>>> {
        if let Some(error) = self.unfit {
            return Err(failed(sqlx::Error::Encode(error)));
        }
        // Only constants were put together; all values are arguments.
        let query = query_with(AssertSqlSafe(self.sql), self.arguments);
        results(connection, query.persistent(self.statements <= KEPT)).await
    }
}

/// Runs a query of several statements; returns the rows of each.
///
/// When it fails, or is dropped before its end, the statements that follow do not run.
pub(super) async fn results(
    connection: &mut SqliteConnection,
    query: Query<'_, sqlx::Sqlite, SqliteArguments>,
) -> Result<Vec<Vec<SqliteRow>>> {
    let mut results = Vec::new();
    let mut rows = Vec::new();
    let mut stream = connection.fetch_many(query);
    while let Some(item) = stream.try_next().await.map_err(failed)? {
        match item {
            Either::Right(row) => rows.push(row),
            Either::Left(_) => results.push(std::mem::take(&mut rows)),
        }
    }
    Ok(results)
}

impl Columns for SqliteRow {
    fn text_or_null(&self, column: &'static str) -> Result<Option<&str>> {
        self.try_get(column)
            .map_err(|error| damaged(column, &error))
    }

    fn number_or_null(&self, column: &'static str) -> Result<Option<i64>> {
        self.try_get(column)
            .map_err(|error| damaged(column, &error))
    }
}
