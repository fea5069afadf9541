//! A hook around a run's event stream.

use antiphon_protocol::{Event, EventType};

use crate::context::RunContext;
use crate::tool::StateChange;

/// Sees every event of a run before it is sent, and may change, add or drop events and change state.
///
/// RUN_STARTED, RUN_FINISHED and RUN_ERROR are shown and always sent as they are.
///
/// What it makes of messages is what the readers of this run see. The thread keeps what the model and the
/// tools said, and shows it when it is opened again: as a MESSAGES_SNAPSHOT, which passes here too, and at
/// `GET /sessions/{id}/messages`, which does not. What must not be kept at all is for the tool, or for a
/// [`Model`](antiphon_model::Model) around the model, to leave out.
pub trait Middleware: Send + Sync + 'static {
    /// Begins with a run; the filter may keep what it needs for that run.
    fn begin(&self, run: RunContext<'_>) -> Box<dyn Filter>;
}

/// One run's filter.
pub trait Filter: Send {
    /// Decides what becomes of an event: whatever is put into `out`, in that order, goes on instead.
    fn event(&mut self, event: Event, out: &mut Outgoing);
}

impl<F: FnMut(Event, &mut Outgoing) + Send> Filter for F {
    fn event(&mut self, event: Event, out: &mut Outgoing) {
        self(event, out);
    }
}

/// A middleware from a function that keeps nothing between events.
pub(crate) struct Stateless<F>(pub(crate) F);

impl<F: Fn(Event, &mut Outgoing) + Clone + Send + Sync + 'static> Middleware for Stateless<F> {
    fn begin(&self, _: RunContext<'_>) -> Box<dyn Filter> {
        Box::new(self.0.clone())
    }
}

/// What a filter lets through and adds.
#[derive(Debug, Default)]
pub struct Outgoing {
    pub(crate) events: Vec<Event>,
    pub(crate) changes: Vec<StateChange>,
}

impl Outgoing {
    /// Sends an event: the one that came, changed or not, or another one.
    ///
    /// A STATE_SNAPSHOT or STATE_DELTA is sent as it is. The thread's state changes only through
    /// [`change_state`](Self::change_state); where the page then holds something else than the
    /// thread, the run restates it before it ends.
    pub fn send(&mut self, event: impl Into<Event>) {
        self.events.push(event.into());
    }

    /// Changes the thread's state at the next commit; the page is told then.
    pub fn change_state(&mut self, change: StateChange) {
        self.changes.push(change);
    }
}

/// Whether filters may not drop or change an event.
pub(crate) fn is_fixed(kind: EventType) -> bool {
    matches!(
        kind,
        EventType::RunStarted | EventType::RunFinished | EventType::RunError
    )
}
