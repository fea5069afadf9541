//! Checks on every state that a client held on the way.

use serde::Deserialize;
use serde_json::Value;

use crate::{
    json::{same, short},
    run::Run,
};

/// A check on one place of the state, wherever it is shown.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateCheck {
    /// The member names that lead there.
    at: Vec<String>,
    /// A text that what is shown is the beginning of.
    prefix_of: Option<String>,
    /// A list that what is shown is the beginning of.
    list_prefix_of: Option<Vec<Value>>,
    /// The only values that may be shown.
    only: Option<Vec<Value>>,
    /// The only members that may be shown.
    keys: Option<Vec<String>>,
    /// It never gets shorter.
    #[serde(default)]
    grows: bool,
    /// How often it is shown at least, when the upstream is paced.
    shown: Option<usize>,
}

impl StateCheck {
    /// What the states of these runs do not fulfil. `paced`: the upstream paused between events.
    pub fn problems(&self, runs: &[Run], paced: bool) -> Vec<String> {
        let states = runs.iter().flat_map(|run| &run.states);
        let shown: Vec<&Value> = states.filter_map(|state| self.place(state)).collect();
        let mut out = Vec::new();
        if let Some(least) = self.shown.filter(|least| paced && shown.len() < *least) {
            out.push(format!(
                "{:?} was shown {} times while it streamed, expected {least}",
                self.at,
                shown.len()
            ));
        }
        for value in &shown {
            if !self.fits(value) {
                out.push(format!("{:?} was shown as {}", self.at, short(value)));
            }
        }
        let length = |value: &Value| match value {
            Value::Array(items) => items.len(),
            Value::String(text) => text.len(),
            _ => 0,
        };
        if self.grows
            && shown
                .windows(2)
                .any(|pair| length(pair[1]) < length(pair[0]))
        {
            out.push(format!("{:?} shrank", self.at));
        }
        out.truncate(5);
        out
    }

    fn place<'a>(&self, state: &'a Value) -> Option<&'a Value> {
        let place = self.at.iter().try_fold(state, |value, key| value.get(key));
        place.filter(|value| !value.is_null())
    }

    fn fits(&self, value: &Value) -> bool {
        let text = self
            .prefix_of
            .as_ref()
            .is_none_or(|whole| value.as_str().is_some_and(|t| whole.starts_with(t)));
        let list = self.list_prefix_of.as_ref().is_none_or(|whole| {
            value.as_array().is_some_and(|items| {
                items.len() <= whole.len() && items.iter().zip(whole).all(|(a, b)| same(a, b))
            })
        });
        let only = self
            .only
            .as_ref()
            .is_none_or(|values| values.iter().any(|v| same(v, value)));
        let keys = self.keys.as_ref().is_none_or(|keys| {
            value
                .as_object()
                .is_none_or(|object| object.keys().all(|key| keys.contains(key)))
        });
        text && list && only && keys
    }
}
