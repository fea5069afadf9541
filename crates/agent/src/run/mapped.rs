//! What a finished call makes of the shared state.

use antiphon_protocol::{Content, Event, StateDelta, StateSnapshot, ToolMessage};
use antiphon_state::{Change, Patch, shallow_merge};
use serde_json::{Map, Value};

use super::Run;
use crate::agent::BuiltAgent;
use crate::mapping::{CallMapping, FinishedCall, ResultMapping, select};
use crate::store::Call;
use crate::tool::{StateChange, ToolOutput};

/// A call that has its result, ready to be stored and sent.
pub(super) struct Settled {
    pub(super) call: Call,
    pub(super) message: ToolMessage,
    pub(super) failed: bool,
    /// What the model is told in place of the message, whose words were delivered and can't be used.
    pub(super) unusable: Option<String>,
    /// What the mappings send after the result.
    pub(super) events: Vec<Event>,
    /// Whether the page was shown a prediction of this call.
    pub(super) predicted: bool,
    /// Whether the page sent the message, so that it holds it.
    pub(super) held: bool,
}

impl Run {
    /// The keys that show a call while it is not settled: its predictions, and what its mappings make
    /// of its arguments. Events of the mappings that are not about state are returned beside them.
    pub(super) fn overlay(&self, call: &Call) -> (Map<String, Value>, Vec<Event>) {
        let view = || self.shared.view();
        overlay(&self.agent, &call.id, &call.tool, &call.arguments, view)
    }

    /// Applies everything that a successful call changes, all or nothing; returns what its mappings
    /// send after the result.
    pub(super) fn apply(
        &mut self,
        call: &Call,
        output: &ToolOutput,
        changes: Option<Patch>,
        from_page: bool,
    ) -> Result<Vec<Event>, String> {
        let (keys, _) = self.overlay(call);
        let mut mapped = Vec::new();
        let mut list = vec![StateChange::Merge(keys)];
        list.extend(changes.map(StateChange::Patch));
        list.extend(output.state.clone());
        let mut events = Vec::new();
        let arguments = self
            .agent
            .tools
            .arguments(&call.tool, &call.arguments)
            .unwrap_or_default();
        let finished = FinishedCall {
            id: &call.id,
            tool: &call.tool,
            arguments: &arguments,
        };
        for mapping in self
            .agent
            .settings
            .mappings
            .results
            .iter()
            .filter(|mapping| mapping.tool() == call.tool)
        {
            match mapping {
                ResultMapping::Snapshot { .. } => {
                    let whole = promised_object(output)?;
                    mapped.push(StateChange::Replace(whole.clone()));
                    events.push(StateSnapshot::new(Value::Object(whole)).into());
                }
                ResultMapping::Delta { .. } => {
                    let patch = promised_patch(output)?;
                    mapped.push(StateChange::Patch(patch.clone()));
                    events.push(StateDelta::new(patch).into());
                }
                ResultMapping::Events { events: map, .. } => {
                    for event in map(&finished, output) {
                        mapped.extend(state_change(&event)?);
                        events.push(event);
                    }
                }
            }
        }
        let rules = Self::rules(&self.agent);
        match from_page {
            true => self.shared.change_for_page(list, mapped, rules)?,
            false => {
                list.extend(mapped);
                self.shared.change(list, rules)?;
            }
        }
        events.extend(output.events.iter().cloned());
        Ok(events)
    }

    /// Sends an event of a mapping; a delta that does not apply to what the page holds is left to
    /// the snapshot that follows.
    pub(super) fn tell_mapped(&self, event: Event) {
        match event {
            Event::StateDelta(event) if !self.emitter.log().accepts(&event.delta) => {}
            Event::StateSnapshot(_) => self.emitter.emit(StateSnapshot::new(self.shared.view())),
            other => self.emitter.emit(other),
        }
    }
}

/// What a call with these arguments shows of itself in a state that looks like `view`.
pub(super) fn overlay(
    agent: &BuiltAgent,
    id: &str,
    tool: &str,
    arguments: &str,
    view: impl Fn() -> Value,
) -> (Map<String, Value>, Vec<Event>) {
    let Ok(arguments) = agent.tools.arguments(tool, arguments) else {
        return Default::default();
    };
    let mappings = &agent.settings.mappings;
    let mut keys = mappings.predicted(tool, &arguments);
    let mut others = Vec::new();
    let finished = FinishedCall {
        id,
        tool,
        arguments: &arguments,
    };
    for mapping in mappings.calls.iter().filter(|m| m.tool() == tool) {
        match mapping {
            CallMapping::State {
                state_key,
                argument,
            } => {
                let value = select(&arguments, &argument.argument);
                keys.extend(value.map(|value| (state_key.clone(), value)));
            }
            CallMapping::Events { events, .. } => {
                for event in events(&finished) {
                    others.extend(overlay_event(event, &mut keys, &view));
                }
            }
        }
    }
    (keys, others)
}

/// A state event of a call mapping becomes keys that show the call; any other is handed back.
fn overlay_event(
    event: Event,
    keys: &mut Map<String, Value>,
    view: impl Fn() -> Value,
) -> Option<Event> {
    match event {
        Event::StateSnapshot(event) => match event.snapshot {
            Value::Object(whole) => keys.extend(whole),
            _ => {
                tracing::error!("a mapped call gave a state that is not an object; it is left out");
            }
        },
        Event::StateDelta(event) => {
            let mut view = view();
            shallow_merge(&mut view, keys.clone());
            let before = view.clone();
            if let Err(error) = event.delta.apply(&mut view) {
                tracing::error!(%error, "a mapped call gave a delta that does not apply; it is left out");
            }
            if let Value::Object(after) = view {
                let changed = |(key, value): &(String, Value)| before.get(key) != Some(value);
                keys.extend(after.into_iter().filter(changed));
            }
        }
        other => return Some(other),
    }
    None
}

fn state_change(event: &Event) -> Result<Option<StateChange>, String> {
    match event {
        Event::StateSnapshot(event) => match &event.snapshot {
            Value::Object(whole) => Ok(Some(StateChange::Replace(whole.clone()))),
            _ => Err("its mapping gave a state that is not a JSON object".to_owned()),
        },
        Event::StateDelta(event) => Ok(Some(StateChange::Patch(event.delta.clone()))),
        _ => Ok(None),
    }
}

/// A result as JSON: text that holds JSON counts as that JSON.
fn as_json(output: &ToolOutput) -> Option<Value> {
    match &output.value {
        Value::String(text) => serde_json::from_str(text).ok(),
        other => Some(other.clone()),
    }
}

fn promised_object(output: &ToolOutput) -> Result<Map<String, Value>, String> {
    match as_json(output) {
        Some(Value::Object(whole)) => Ok(whole),
        _ => Err(
            "its result is not a JSON object, which its mapping as a snapshot promises".to_owned(),
        ),
    }
}

fn promised_patch(output: &ToolOutput) -> Result<Patch, String> {
    let wrong = |why: &str| {
        format!("its result is not a JSON Patch, which its mapping as a delta promises: {why}")
    };
    let value = as_json(output).ok_or_else(|| wrong("it is not JSON"))?;
    serde_json::from_value(value).map_err(|error| wrong(&error.to_string()))
}

/// A result as a message's content, cut to its limit with a notice.
pub(super) fn content(output: &ToolOutput, max_bytes: usize) -> Content {
    let mut text = output.text();
    if text.len() > max_bytes {
        let whole = text.len();
        text.truncate(text.floor_char_boundary(max_bytes));
        text.push_str(&format!("… [cut: {max_bytes} of {whole} bytes]"));
    }
    Content::Text(text)
}

/// The event that makes `held` into `view`; `None` when they are the same.
pub(super) fn difference(held: &Value, view: &Value, whole: bool) -> Option<Event> {
    match Change::between(held, view) {
        Change::Same => None,
        Change::Delta(patch) if !whole => Some(StateDelta::new(patch).into()),
        Change::Delta(_) | Change::Snapshot => Some(StateSnapshot::new(view.clone()).into()),
    }
}
