//! The way from a run to its log: every event passes here, through the middleware.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use antiphon_protocol::{Event, EventType, StateSnapshot};
use serde_json::Value;

use crate::log::RunLog;
use crate::middleware::{Filter, Outgoing, is_fixed};
use crate::tool::StateChange;

/// Sends a run's events.
pub(crate) struct Emitter {
    log: Arc<RunLog>,
    filters: Mutex<Filters>,
    /// Whether the run has sent what its deltas apply to.
    grounded: AtomicBool,
}

#[derive(Default)]
struct Filters {
    chain: Vec<Box<dyn Filter>>,
    changes: Vec<StateChange>,
}

impl Emitter {
    pub(crate) fn new(log: Arc<RunLog>) -> Self {
        Self {
            log,
            filters: Mutex::default(),
            grounded: AtomicBool::new(false),
        }
    }

    pub(crate) fn log(&self) -> &RunLog {
        &self.log
    }

    pub(crate) fn shared_log(&self) -> Arc<RunLog> {
        Arc::clone(&self.log)
    }

    /// Puts filters before the log. From here on the log leaves out what would be illegal.
    pub(crate) fn filter(&self, chain: Vec<Box<dyn Filter>>) {
        self.log.guard();
        self.filters
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .chain = chain;
    }

    /// Sends an event.
    pub(crate) fn emit(&self, event: impl Into<Event>) {
        let event = event.into();
        match event.kind() {
            EventType::StateSnapshot => self.grounded.store(true, Ordering::Relaxed),
            EventType::StateDelta => self.ground(),
            _ => {}
        }
        let mut filters = self.filters.lock().unwrap_or_else(PoisonError::into_inner);
        if filters.chain.is_empty() {
            return self.log.push(event);
        }
        let Filters { chain, changes } = &mut *filters;
        let fixed = is_fixed(event.kind()).then(|| event.clone());
        let mut events = vec![event];
        for filter in chain {
            let mut out = Outgoing::default();
            events
                .into_iter()
                .for_each(|event| filter.event(event, &mut out));
            events = out.events;
            changes.append(&mut out.changes);
        }
        if let Some(fixed) = fixed {
            events.retain(|event| !is_fixed(event.kind()));
            let place = if fixed.kind() == EventType::RunStarted {
                0
            } else {
                events.len()
            };
            events.insert(place, fixed);
        }
        events.into_iter().for_each(|event| self.log.push(event));
    }

    /// Sends the state before the run's first delta. The page holds it, but whoever keeps a run by its
    /// events alone does not: CopilotKit's Node runtime folds them from an empty object, and dies of a
    /// delta that does not apply there.
    fn ground(&self) {
        if self.grounded.swap(true, Ordering::Relaxed) {
            return;
        }
        let held = |state: &Value| {
            (*state != Value::Object(serde_json::Map::new())).then(|| state.clone())
        };
        if let Some(state) = self.log.with_state(held) {
            self.emit(StateSnapshot::new(state));
        }
    }

    /// The state changes that the middleware asked for since the last time.
    pub(crate) fn take_changes(&self) -> Vec<StateChange> {
        std::mem::take(
            &mut self
                .filters
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .changes,
        )
    }
}

impl fmt::Debug for Emitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Emitter").finish_non_exhaustive()
    }
}
