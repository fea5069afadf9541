//! The events of a conversation, as they came.

use std::collections::VecDeque;

use antiphon_client::Event;

/// How many events are kept, and how many bytes of them.
const MAX_EVENTS: usize = 2000;
const MAX_BYTES: usize = 4 << 20;

/// The last events, as JSON. What a person answers is in no event.
#[derive(Debug, Default)]
pub(super) struct Log {
    lines: VecDeque<String>,
    bytes: usize,
}

impl Log {
    pub(super) fn push(&mut self, event: &Event) {
        let line = String::from_utf8_lossy(&event.to_json()).into_owned();
        self.bytes += line.len();
        self.lines.push_back(line);
        while self.lines.len() > MAX_EVENTS || self.bytes > MAX_BYTES {
            let Some(first) = self.lines.pop_front() else {
                return;
            };
            self.bytes -= first.len();
        }
    }

    /// The last events, at most this many, the last one last.
    pub(super) fn last(&self, count: usize) -> impl Iterator<Item = &str> {
        let skipped = self.lines.len().saturating_sub(count);
        self.lines.iter().skip(skipped).map(String::as_str)
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }
}

#[cfg(test)]
mod tests {
    use antiphon_client::Event;
    use serde_json::json;

    use super::*;

    #[test]
    fn it_holds_the_last_events_and_no_more() {
        let mut log = Log::default();
        let event = |name: &str, size: usize| {
            let value = json!({ "type": "CUSTOM", "name": name, "value": "x".repeat(size) });
            Event::read(value).unwrap().value.unwrap()
        };
        for number in 0..MAX_EVENTS + 5 {
            log.push(&event(&number.to_string(), 0));
        }
        assert_eq!(log.len(), MAX_EVENTS);
        log.push(&event("large", MAX_BYTES / 2));
        log.push(&event("larger", MAX_BYTES / 2));
        assert_eq!(log.len(), 1);
        assert!(log.last(10).all(|line| line.contains("larger")));
    }
}
