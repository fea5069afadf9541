//! What the fake provider writes back, piece by piece.

use std::{collections::BTreeSet, time::Duration};

use bytes::Bytes;
use serde::Deserialize;
use tokio::sync::watch;

/// A door that a test opens once; writers wait before it.
#[derive(Debug, Clone)]
pub struct Gate(watch::Sender<bool>);

impl Gate {
    /// A closed gate.
    #[expect(clippy::new_without_default, reason = "a gate is made on purpose")]
    pub fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Opens the gate for good.
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    /// Waits until the gate is open.
    pub async fn passed(&self) {
        // The sender lives as long as `self`.
        let _ = self.0.subscribe().wait_for(|open| *open).await;
    }
}

/// One step of a reply.
#[derive(Debug, Clone)]
pub enum Write {
    /// These bytes in one write.
    Bytes(Bytes),
    /// Nothing for so long.
    Pause(Duration),
    /// Nothing until the gate opens.
    Gate(Gate),
    /// Nothing until the peer leaves.
    Hold,
}

/// How the body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// With the terminating chunk.
    #[default]
    Chunked,
    /// In the middle of the chunks: the connection is closed.
    Abort,
    /// By the end of the connection, without framing.
    Eof,
}

/// An answer of the model endpoint.
#[derive(Debug, Clone)]
pub struct Reply {
    /// What to wait for before even the head is written.
    pub before_head: Option<Write>,
    /// The status code.
    pub status: u16,
    /// The content type; the event stream of the provider's wire by default.
    pub content_type: Option<String>,
    /// Further headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub writes: Vec<Write>,
    /// How the body ends.
    pub end: End,
}

impl Reply {
    /// A stream of these writes.
    pub fn stream(writes: Vec<Write>) -> Self {
        Self {
            before_head: None,
            status: 200,
            content_type: None,
            headers: Vec::new(),
            writes,
            end: End::Chunked,
        }
    }

    /// One body of this status and content type.
    pub fn body(status: u16, content_type: &str, body: impl Into<Bytes>) -> Self {
        Self {
            status,
            content_type: Some(content_type.to_owned()),
            ..Self::stream(vec![Write::Bytes(body.into())])
        }
    }

    /// Never answers, not even with a head.
    pub fn silence() -> Self {
        Self {
            before_head: Some(Write::Hold),
            ..Self::stream(Vec::new())
        }
    }

    /// All bytes of the body.
    pub fn bytes(&self) -> Vec<u8> {
        let bytes = self.writes.iter().filter_map(|write| match write {
            Write::Bytes(bytes) => Some(bytes.as_ref()),
            _ => None,
        });
        bytes.collect::<Vec<_>>().concat()
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets how the body ends.
    #[must_use]
    pub const fn ending(mut self, end: End) -> Self {
        self.end = end;
        self
    }
}

/// How an upstream file is cut into writes.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delivery {
    /// A write for each so many bytes.
    pub split_every_bytes: Option<usize>,
    /// A write for each event.
    #[serde(default)]
    pub split_events: bool,
    /// A pause after each write, in milliseconds.
    pub pause_ms: Option<u64>,
    /// How the body ends.
    #[serde(default)]
    pub end: End,
    /// Another status than 200, with `body` as JSON instead of the file.
    pub status: Option<u16>,
    /// The body of that status.
    pub body: Option<String>,
}

impl Delivery {
    /// One byte per write.
    pub fn bytewise() -> Self {
        Self {
            split_every_bytes: Some(1),
            ..Self::default()
        }
    }

    /// Whether this is the plain delivery in one write.
    pub const fn is_plain(&self) -> bool {
        self.split_every_bytes.is_none()
            && !self.split_events
            && self.status.is_none()
            && matches!(self.end, End::Chunked)
    }

    /// The reply that delivers a file in this way.
    pub fn reply(&self, file: &Bytes) -> Reply {
        if let Some(status) = self.status {
            let body = self.body.clone().unwrap_or_default();
            return Reply::body(status, "application/json", body);
        }
        Reply::stream(self.writes(file)).ending(self.end)
    }

    fn writes(&self, file: &Bytes) -> Vec<Write> {
        let mut marks = BTreeSet::from([file.len()]);
        if let Some(step) = self.split_every_bytes.filter(|step| *step > 0) {
            marks.extend((step..file.len()).step_by(step));
        }
        if self.split_events {
            let ends = file.windows(2).enumerate();
            marks.extend(ends.filter(|(_, w)| *w == b"\n\n").map(|(at, _)| at + 2));
        }
        let mut writes = Vec::new();
        let mut from = 0;
        for to in marks {
            writes.push(Write::Bytes(file.slice(from..to)));
            writes.extend(
                self.pause_ms
                    .map(|ms| Write::Pause(Duration::from_millis(ms))),
            );
            from = to;
        }
        writes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(delivery: &Delivery, file: &'static str) -> Vec<String> {
        let reply = delivery.reply(&Bytes::from_static(file.as_bytes()));
        let bytes = reply.writes.into_iter().filter_map(|w| match w {
            Write::Bytes(b) => Some(String::from_utf8(b.to_vec()).unwrap()),
            _ => None,
        });
        bytes.collect()
    }

    #[test]
    fn a_file_is_cut_where_the_delivery_says() {
        assert_eq!(pieces(&Delivery::default(), "a\n\nb"), ["a\n\nb"]);
        assert_eq!(pieces(&Delivery::bytewise(), "abc"), ["a", "b", "c"]);
        let events = Delivery {
            split_events: true,
            ..Delivery::default()
        };
        assert_eq!(pieces(&events, "a\n\nb\n\nc"), ["a\n\n", "b\n\n", "c"]);
    }
}
