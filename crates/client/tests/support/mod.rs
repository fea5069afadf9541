//! Servers to test against: a well-behaved one that can break one rule at a time, and one that
//! says exactly the bytes that it is told to.

#![allow(dead_code, reason = "each test binary uses its own part")]

pub(crate) mod raw;
pub(crate) mod reference;
pub(crate) mod stream;

use antiphon_client::{Client, Error, Event, Run};
use serde_json::Value;

/// A client of the server at this URL.
pub(crate) fn client(url: &str) -> Client {
    Client::connect(url).unwrap()
}

/// Reads a run to its end or its failure, and returns what was delivered.
pub(crate) async fn read(run: &mut Run<'_>) -> (Vec<Event>, Option<Error>) {
    let mut events = Vec::new();
    loop {
        match run.next().await {
            Ok(Some(event)) => events.push(event),
            Ok(None) => return (events, None),
            Err(error) => return (events, Some(error)),
        }
    }
}

/// The types of events.
pub(crate) fn kinds(events: &[Event]) -> Vec<&'static str> {
    events.iter().map(|event| event.kind().as_str()).collect()
}

/// The JSON of anything.
pub(crate) fn json(value: impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}
