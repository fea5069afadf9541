//! Rows as every database of ours holds them: which columns make which record, and how times, words
//! and JSON are written. No SQL and no driver.

use std::fmt::Display;

use antiphon_agent::store::{
    Audit, Call, Error, Interaction, Result, RunRecord, StoredMessage, ThreadKey, ThreadSummary,
};
use antiphon_protocol::depth_within;
use jiff::Timestamp;
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The deepest JSON that `serde_json` reads back.
const MAX_DEPTH: usize = 127;

/// Reads the columns of one row by their names.
pub(crate) trait Columns {
    /// A text, or `None` for NULL.
    fn text_or_null(&self, column: &'static str) -> Result<Option<&str>>;

    /// A number, or `None` for NULL.
    fn number_or_null(&self, column: &'static str) -> Result<Option<i64>>;

    /// A text that is never NULL.
    fn text(&self, column: &'static str) -> Result<&str> {
        self.text_or_null(column)?.ok_or_else(|| missing(column))
    }

    /// A number that is never NULL.
    fn number(&self, column: &'static str) -> Result<i64> {
        self.number_or_null(column)?.ok_or_else(|| missing(column))
    }

    /// An owned text that is never NULL.
    fn string(&self, column: &'static str) -> Result<String> {
        self.text(column).map(str::to_owned)
    }

    /// A point in time that is never NULL.
    fn time(&self, column: &'static str) -> Result<Timestamp> {
        self.number(column).map(time)
    }

    /// A point in time, or `None` for NULL.
    fn time_or_null(&self, column: &'static str) -> Result<Option<Timestamp>> {
        Ok(self.number_or_null(column)?.map(time))
    }

    /// A value that is kept as JSON text.
    fn json<T: DeserializeOwned>(&self, column: &'static str) -> Result<T> {
        parse(column, self.text(column)?)
    }

    /// A value that is kept as JSON text, or `None` for NULL.
    fn json_or_null<T: DeserializeOwned>(&self, column: &'static str) -> Result<Option<T>> {
        self.text_or_null(column)?
            .map(|text| parse(column, text))
            .transpose()
    }

    /// One of the words that an enumeration consists of.
    fn word<T: for<'de> Deserialize<'de>>(&self, column: &'static str) -> Result<T> {
        let word: StrDeserializer<'_, serde::de::value::Error> =
            self.text(column)?.into_deserializer();
        T::deserialize(word).map_err(|error| damaged(column, &error))
    }

    /// The name of a thread.
    fn key(&self) -> Result<ThreadKey> {
        Ok(ThreadKey::new(self.text("user")?, self.text("thread")?))
    }
}

/// Reads a message of a thread.
pub(crate) fn message(row: &impl Columns) -> Result<StoredMessage> {
    Ok(StoredMessage {
        place: row.number("place")?,
        message: row.json("message")?,
        origin: row.json_or_null("origin")?,
    })
}

/// Reads an attempt of a run.
pub(crate) fn run(row: &impl Columns) -> Result<RunRecord> {
    Ok(RunRecord {
        key: row.key()?,
        run_id: row.string("run_id")?,
        attempt: u32::try_from(row.number("attempt")?)
            .map_err(|error| damaged("attempt", &error))?,
        agent: row.string("agent")?,
        response_id: row.string("response_id")?,
        status: row.word("status")?,
        input_hash: row.string("input_hash")?,
        invocation: row.json("invocation")?,
        ending: row.json_or_null("ending")?,
        started_at: row.time("started_at")?,
        ended_at: row.time_or_null("ended_at")?,
    })
}

/// Reads a tool call.
pub(crate) fn call(row: &impl Columns) -> Result<Call> {
    Ok(Call {
        id: row.string("id")?,
        run_id: row.string("run_id")?,
        place: row.number("place")?,
        message_id: row.string("message_id")?,
        tool: row.string("tool")?,
        arguments: row.string("arguments")?,
        phase: row.word("phase")?,
        journal: row.json("journal")?,
    })
}

/// Reads an interaction.
pub(crate) fn interaction(row: &impl Columns) -> Result<Interaction> {
    Ok(Interaction {
        id: row.string("id")?,
        key: row.key()?,
        run_id: row.string("run_id")?,
        response_id: row.string("response_id")?,
        call_id: row.string("call_id")?,
        kind: row.word("kind")?,
        status: row.word("status")?,
        request: row.json("request")?,
        answer: row.json_or_null("answer")?,
        early: row.json_or_null("early")?,
        opened_at: row.time("opened_at")?,
        expires_at: row.time_or_null("expires_at")?,
    })
}

/// Reads a thread of a list.
pub(crate) fn summary(row: &impl Columns) -> Result<ThreadSummary> {
    Ok(ThreadSummary {
        thread: row.string("thread")?,
        title: row.text_or_null("title")?.map(str::to_owned),
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
    })
}

/// Reads a decision.
pub(crate) fn decision(row: &impl Columns) -> Result<Audit> {
    row.json("decision")
}

/// Writes a value as JSON text. What could not be read back is refused now.
pub(crate) fn json<T: Serialize + ?Sized>(what: &'static str, value: &T) -> Result<String> {
    let text = serde_json::to_string(value).map_err(|error| unstorable(what, &error))?;
    if depth_within(text.as_bytes(), MAX_DEPTH) {
        return Ok(text);
    }
    Err(unstorable(
        what,
        &format_args!("it is nested deeper than {MAX_DEPTH} levels"),
    ))
}

/// Writes a value as JSON text if there is one.
pub(crate) fn json_or_null<T: Serialize>(
    what: &'static str,
    value: Option<&T>,
) -> Result<Option<String>> {
    value.map(|value| json(what, value)).transpose()
}

/// Writes a value of an enumeration as the word that serde knows it by.
pub(crate) fn word<T: Serialize>(what: &'static str, value: T) -> Result<String> {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => Ok(word),
        Ok(other) => Err(unstorable(what, &format_args!("{other} is not a word"))),
        Err(error) => Err(unstorable(what, &error)),
    }
}

/// Writes a point in time. Times outside 1677 to 2262 become the nearest one within.
pub(crate) fn nanoseconds(at: Timestamp) -> i64 {
    let nanoseconds = at.as_nanosecond();
    i64::try_from(nanoseconds).unwrap_or(if nanoseconds < 0 { i64::MIN } else { i64::MAX })
}

fn time(nanoseconds: i64) -> Timestamp {
    // Every i64 lies within jiff's range, which spans some twenty thousand years.
    Timestamp::from_nanosecond(nanoseconds.into()).unwrap_or(Timestamp::MAX)
}

fn parse<T: DeserializeOwned>(column: &'static str, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| damaged(column, &error))
}

fn missing(column: &'static str) -> Error {
    damaged(column, &"it is null")
}

/// A column that does not hold what was written there.
pub(crate) fn damaged(column: &'static str, why: &dyn Display) -> Error {
    Error::Damaged {
        what: column,
        why: why.to_string(),
    }
}

fn unstorable(what: &'static str, why: &dyn Display) -> Error {
    Error::Unavailable(format!("{what} can't be stored: {why}").into())
}

#[cfg(test)]
mod tests {
    use antiphon_agent::store::{CallPhase, InteractionKind, RunStatus};
    use serde_json::json;

    use super::*;

    #[test]
    fn words_are_those_that_the_sql_looks_for() {
        assert_eq!(word("status", RunStatus::Running).unwrap(), "running");
        assert_eq!(word("phase", CallPhase::Settled).unwrap(), "settled");
        let open = antiphon_agent::store::InteractionStatus::Open;
        assert_eq!(word("status", open).unwrap(), "open");
        let kind = InteractionKind::OutcomeUnknown;
        assert_eq!(word("kind", kind).unwrap(), "outcome_unknown");
    }

    #[test]
    fn times_keep_their_nanoseconds() {
        for text in [
            "1969-07-20T20:17:40.000000001Z",
            "2026-02-03T04:05:06.123456789Z",
        ] {
            let at: Timestamp = text.parse().unwrap();
            assert_eq!(time(nanoseconds(at)), at);
        }
    }

    #[test]
    fn times_out_of_range_become_the_nearest_that_fits() {
        assert_eq!(nanoseconds(Timestamp::MAX), i64::MAX);
        assert_eq!(nanoseconds(Timestamp::MIN), i64::MIN);
        assert!(time(i64::MAX) > "2262-01-01T00:00:00Z".parse().unwrap());
    }

    #[test]
    fn json_that_could_not_be_read_back_is_refused() {
        let nested = |depth: usize| (0..depth).fold(json!(1), |value, _| json!([value]));
        let text = json("state", &nested(MAX_DEPTH)).unwrap();
        assert!(serde_json::from_str::<Value>(&text).is_ok());
        let refused = json("state", &nested(MAX_DEPTH + 1)).unwrap_err();
        assert!(
            refused
                .to_string()
                .contains("state can't be stored: it is nested deeper"),
            "{refused}"
        );
    }
}
