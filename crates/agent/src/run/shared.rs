//! The thread's state during a run: what is committed, and what is only predicted.

use std::collections::HashSet;

use antiphon_state::{Patch, reserved_key, shallow_merge};
use serde_json::{Map, Value};

use super::mapped::overlay;
use crate::agent::BuiltAgent;
use crate::schema::Schema;
use crate::store::Call;
use crate::tool::StateChange;

/// Committed state with the predictions of calls that are not settled.
#[derive(Debug)]
pub(crate) struct SharedState {
    committed: Value,
    dirty: bool,
    predictions: Vec<(String, Map<String, Value>)>,
}

impl SharedState {
    pub(crate) fn new(committed: Value) -> Self {
        Self {
            committed,
            dirty: false,
            predictions: Vec::new(),
        }
    }

    /// A state that a client's patch has changed.
    pub(crate) fn changed(before: &Value, committed: Value) -> Self {
        Self {
            dirty: *before != committed,
            ..Self::new(committed)
        }
    }

    /// What a thread's state looks like under the predictions of its unsettled calls.
    pub(crate) fn shown(agent: &BuiltAgent, committed: Value, calls: &[Call]) -> Value {
        Self::under(agent, committed, calls).view()
    }

    /// The keys that only show unsettled calls.
    pub(crate) fn shown_keys(
        agent: &BuiltAgent,
        committed: Value,
        calls: &[Call],
    ) -> HashSet<String> {
        let shown = Self::under(agent, committed, calls).predictions;
        shown
            .into_iter()
            .flat_map(|(_, keys)| keys.into_iter().map(|(key, _)| key))
            .collect()
    }

    /// A state under what its unsettled calls show.
    fn under(agent: &BuiltAgent, committed: Value, calls: &[Call]) -> Self {
        let mut shared = Self::new(committed);
        for call in calls {
            let view = || shared.view();
            let (keys, _) = overlay(agent, &call.id, &call.tool, &call.arguments, view);
            shared.predict(&call.id, keys);
        }
        shared
    }

    pub(crate) fn committed(&self) -> &Value {
        &self.committed
    }

    /// What the page should show: the committed state under the predictions that still stand.
    pub(crate) fn view(&self) -> Value {
        let mut view = self.committed.clone();
        for (_, keys) in &self.predictions {
            shallow_merge(&mut view, keys.clone());
        }
        view
    }

    /// Shows a call's prediction until the call is settled.
    pub(crate) fn predict(&mut self, call_id: &str, keys: Map<String, Value>) {
        if !keys.is_empty() {
            self.predictions.push((call_id.to_owned(), keys));
        }
    }

    /// Takes a call's prediction away, for good or ill.
    pub(crate) fn forget(&mut self, call_id: &str) {
        self.predictions.retain(|(id, _)| id != call_id);
    }

    /// Takes all predictions away.
    pub(crate) fn forget_all(&mut self) {
        self.predictions.clear();
    }

    /// Applies changes, all or none.
    pub(crate) fn change(
        &mut self,
        changes: Vec<StateChange>,
        rules: Rules<'_>,
    ) -> Result<(), String> {
        self.change_for_page(changes, Vec::new(), rules)
    }

    /// Applies changes, all or none: the server's own, then those that a page made with its result. A page
    /// leaves the keys alone that belong to the server.
    pub(crate) fn change_for_page(
        &mut self,
        own: Vec<StateChange>,
        of_page: Vec<StateChange>,
        rules: Rules<'_>,
    ) -> Result<(), String> {
        if own.is_empty() && of_page.is_empty() {
            return Ok(());
        }
        let mut next = self.committed.clone();
        for change in own {
            apply(&mut next, change)?;
        }
        if !of_page.is_empty() {
            apply_for_page(&mut next, of_page)?;
        }
        rules.check(&next)?;
        if next != self.committed {
            self.committed = next;
            self.dirty = true;
        }
        Ok(())
    }

    /// The state, if it is not stored yet.
    pub(crate) fn fresh(&self) -> Option<Value> {
        self.dirty.then(|| self.committed.clone())
    }

    /// It is stored now.
    pub(crate) fn is_stored(&mut self) {
        self.dirty = false;
    }
}

/// What a committed state has to keep.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules<'a> {
    pub(crate) schema: Option<&'a Schema>,
    pub(crate) max_bytes: usize,
}

impl Rules<'_> {
    pub(crate) fn check(self, state: &Value) -> Result<(), String> {
        if !state.is_object() {
            return Err("the shared state must be a JSON object".to_owned());
        }
        if let Some(schema) = self.schema {
            schema
                .check(state)
                .map_err(|why| format!("the shared state does not fit its schema: {why}"))?;
        }
        if !fits(state, self.max_bytes) {
            return Err(format!(
                "the shared state is larger than {} bytes",
                self.max_bytes
            ));
        }
        Ok(())
    }
}

/// Whether a value written as JSON has at most so many bytes.
fn fits(value: &Value, max_bytes: usize) -> bool {
    struct Room(usize);
    impl std::io::Write for Room {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self
                .0
                .checked_sub(bytes.len())
                .ok_or(std::io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    serde_json::to_writer(Room(max_bytes), value).is_ok()
}

fn apply(state: &mut Value, change: StateChange) -> Result<(), String> {
    match change {
        StateChange::Merge(keys) => shallow_merge(state, keys),
        StateChange::Replace(whole) => *state = Value::Object(whole),
        StateChange::Patch(patch) => apply_patch(state, &patch)?,
    }
    Ok(())
}

/// What a page changes. A whole state of a page says nothing of the server's keys that it leaves out, so
/// they stay.
fn apply_for_page(state: &mut Value, changes: Vec<StateChange>) -> Result<(), String> {
    let before = reserved(state);
    for change in changes {
        match change {
            StateChange::Replace(whole) => {
                let mut kept = before.clone();
                kept.extend(whole);
                *state = Value::Object(kept);
            }
            change => apply(state, change)?,
        }
    }
    let after = reserved(state);
    let changed = after
        .iter()
        .find(|(key, value)| before.get(*key) != Some(value));
    let removed = before.iter().find(|(key, _)| !after.contains_key(*key));
    match changed.or(removed) {
        None => Ok(()),
        Some((key, _)) => Err(format!(
            "its result changes the state's key {key:?}, which belongs to the server; a page may not set keys \
             that begin with `_`, `app:`, `user:` or `temp:`"
        )),
    }
}

/// The members of a state that belong to the server.
fn reserved(state: &Value) -> Map<String, Value> {
    let members = state.as_object().into_iter().flatten();
    let reserved = members.filter(|(key, _)| reserved_key(key));
    reserved
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn apply_patch(state: &mut Value, patch: &Patch) -> Result<(), String> {
    patch
        .apply(state)
        .map_err(|error| format!("the state change does not apply: {error}"))
}
