//! Joining a run that is already under way.

use std::sync::Arc;

use antiphon_protocol::{Event, MessagesSnapshot, StateSnapshot};
use bytes::BytesMut;

use super::{Frame, Reader, RunLog};

/// A reader with what it has to be told before its first batch.
#[derive(Debug)]
pub struct Joined {
    /// Snapshots of the present and whatever is open, where the log can't go on from the reader's own
    /// position.
    pub prelude: Vec<Frame>,
    /// The reader, from there on.
    pub reader: Reader,
}

impl RunLog {
    /// Reads from the first event on.
    #[must_use]
    pub fn read(self: &Arc<Self>) -> Reader {
        self.enter(self.first)
    }

    /// Joins after the frame with this sequence number, or at the present without one.
    ///
    /// A position that the log no longer has, or never had, is answered with the present: RUN_STARTED,
    /// the state, the messages, and the openings of what is open. Position 0 stands within such an
    /// answer and asks for it again.
    #[must_use]
    pub fn join(self: &Arc<Self>, after: Option<u64>) -> Joined {
        let inner = self.inner();
        let known = after.filter(|after| {
            (self.first..inner.next).contains(after) && *after + 1 >= inner.first()
        });
        let (prelude, next) = match known {
            Some(after) => (Vec::new(), after + 1),
            // The end itself is kept for the reader.
            None => (
                self.present(&inner),
                if inner.ended {
                    inner.next - 1
                } else {
                    inner.next
                },
            ),
        };
        drop(inner);
        Joined {
            prelude,
            reader: self.enter(next),
        }
    }

    fn present(&self, inner: &super::Inner) -> Vec<Frame> {
        let mut events: Vec<Event> = inner.started.iter().cloned().collect();
        if events.is_empty() {
            return Vec::new();
        }
        events.push(StateSnapshot::new(inner.replica.state().clone()).into());
        events.push(MessagesSnapshot::new(inner.replica.closed_messages()).into());
        events.extend(inner.replica.open_items());
        let last = events.len() - 1;
        // Only the last one names the position: a reader that is cut before it begins again.
        let position = |index: usize| {
            if index == last && !inner.ended {
                inner.next - 1
            } else {
                0
            }
        };
        events
            .iter()
            .enumerate()
            .map(|(i, event)| Frame::encode(&mut BytesMut::new(), &self.run_id, position(i), event))
            .collect()
    }
}
