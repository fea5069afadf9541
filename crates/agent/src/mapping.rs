//! How tool calls become shared state: predictions, finished calls, results.

use std::fmt;
use std::sync::Arc;

use antiphon_protocol::Event;
use antiphon_state::{Argument as Projected, Mapping, reserved_key};
use serde_json::{Map, Value, json};

use crate::error::BuildError;
use crate::tool::{Argument, ToolOutput, ToolSet};

/// A key of the state that shows a tool's argument while the model still writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prediction {
    /// The key of the shared state.
    pub state_key: String,
    /// The tool's argument; `*` means all of them, as one object.
    pub argument: Argument,
}

/// A tool call whose arguments are complete.
#[derive(Debug, Clone)]
pub struct FinishedCall<'a> {
    /// The tool call id.
    pub id: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// Its arguments.
    pub arguments: &'a Map<String, Value>,
}

impl FinishedCall<'_> {
    /// One argument; null when it is absent.
    #[must_use]
    pub fn argument(&self, name: &str) -> Value {
        self.arguments.get(name).cloned().unwrap_or(Value::Null)
    }
}

/// Turns a finished call into events. State events among them change the thread's state.
pub(crate) type CallEvents = Arc<dyn Fn(&FinishedCall<'_>) -> Vec<Event> + Send + Sync>;
/// Turns a result into events. State events among them change the thread's state.
pub(crate) type ResultEvents =
    Arc<dyn Fn(&FinishedCall<'_>, &ToolOutput) -> Vec<Event> + Send + Sync>;

#[derive(Clone)]
pub(crate) enum CallMapping {
    State {
        state_key: String,
        argument: Argument,
    },
    Events {
        tool: String,
        events: CallEvents,
    },
}

#[derive(Clone)]
pub(crate) enum ResultMapping {
    Snapshot { tool: String },
    Delta { tool: String },
    Events { tool: String, events: ResultEvents },
}

impl CallMapping {
    pub(crate) fn tool(&self) -> &str {
        match self {
            Self::State { argument, .. } => &argument.tool,
            Self::Events { tool, .. } => tool,
        }
    }
}

impl ResultMapping {
    pub(crate) fn tool(&self) -> &str {
        match self {
            Self::Snapshot { tool } | Self::Delta { tool } | Self::Events { tool, .. } => tool,
        }
    }
}

impl fmt::Debug for CallMapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallMapping({})", self.tool())
    }
}

impl fmt::Debug for ResultMapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ResultMapping({})", self.tool())
    }
}

/// All mappings of an agent.
#[derive(Debug, Default, Clone)]
pub(crate) struct Mappings {
    pub(crate) predictions: Vec<Prediction>,
    pub(crate) calls: Vec<CallMapping>,
    pub(crate) results: Vec<ResultMapping>,
}

impl Mappings {
    /// Checks that every mapping names a tool, an argument and a key of the state that exist. `keys` are
    /// the state's, if its schema names them all.
    pub(crate) fn check(
        &self,
        tools: &ToolSet,
        keys: Option<&Map<String, Value>>,
    ) -> Result<(), BuildError> {
        for (index, prediction) in self.predictions.iter().enumerate() {
            check_argument(tools, &prediction.argument)
                .and_then(|()| check_key(keys, &prediction.state_key))
                .map_err(|e| e.within(format!("state.predict[{index}]")))?;
        }
        for (index, mapping) in self.calls.iter().enumerate() {
            let place = |e: BuildError| e.within(format!("state.calls[{index}]"));
            match mapping {
                CallMapping::State {
                    state_key,
                    argument,
                } => check_argument(tools, argument)
                    .and_then(|()| check_key(keys, state_key))
                    .map_err(place)?,
                CallMapping::Events { tool, .. } => check_tool(tools, tool).map_err(place)?,
            }
        }
        for (index, mapping) in self.results.iter().enumerate() {
            check_tool(tools, mapping.tool())
                .map_err(|e| e.within(format!("state.results[{index}]")))?;
        }
        Ok(())
    }

    /// What a call of a tool projects, for the state crate.
    pub(crate) fn projected(&self, tool: &str) -> Vec<Mapping> {
        let of_tool = self.predictions.iter().filter(|p| p.argument.tool == tool);
        of_tool
            .map(|p| Mapping {
                state_key: p.state_key.clone(),
                argument: match p.argument.argument.as_str() {
                    "*" => Projected::All,
                    name => Projected::Named(name.to_owned()),
                },
            })
            .collect()
    }

    /// Whether calls of a tool are predicted.
    pub(crate) fn predicts(&self, tool: &str) -> bool {
        self.predictions.iter().any(|p| p.argument.tool == tool)
    }

    /// The keys that a finished call of a tool puts in place through its predictions.
    pub(crate) fn predicted(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Map<String, Value> {
        let of_tool = self.predictions.iter().filter(|p| p.argument.tool == tool);
        of_tool
            .filter_map(|p| {
                Some((
                    p.state_key.clone(),
                    select(arguments, &p.argument.argument)?,
                ))
            })
            .collect()
    }

    /// The value of CUSTOM `PredictState`.
    pub(crate) fn announcement(&self) -> Value {
        let rows = self.predictions.iter().map(|p| {
            json!({ "state_key": p.state_key, "tool": p.argument.tool, "tool_argument": p.argument.argument })
        });
        Value::Array(rows.collect())
    }
}

/// An argument's value; `*` selects all of them.
pub(crate) fn select(arguments: &Map<String, Value>, argument: &str) -> Option<Value> {
    match argument {
        "*" => Some(Value::Object(arguments.clone())),
        name => arguments.get(name).cloned(),
    }
}

fn check_tool(tools: &ToolSet, tool: &str) -> Result<(), BuildError> {
    match tools.get(tool) {
        Some(_) => Ok(()),
        None => {
            let known = tools.iter().map(crate::tool::Tool::name);
            Err(BuildError::new(format!(
                "there is no tool {tool:?}{}",
                did_you_mean(tool, known)
            )))
        }
    }
}

fn check_argument(tools: &ToolSet, argument: &Argument) -> Result<(), BuildError> {
    check_tool(tools, &argument.tool)?;
    let declared = tools
        .get(&argument.tool)
        .and_then(|tool| tool.spec().parameters.get("properties")?.as_object());
    let Some(declared) = declared else {
        return Ok(());
    };
    if argument.argument == "*" || declared.contains_key(&argument.argument) {
        return Ok(());
    }
    let hint = did_you_mean(&argument.argument, declared.keys().map(String::as_str));
    Err(BuildError::new(format!(
        "tool {:?} has no argument {:?}{hint}",
        argument.tool, argument.argument
    )))
}

/// A key must be one that the state has, and that a page may send back with its next request.
fn check_key(keys: Option<&Map<String, Value>>, key: &str) -> Result<(), BuildError> {
    if key.is_empty() || reserved_key(key) {
        return Err(BuildError::new(format!(
            "the state key {key:?} is one that clients may not send back"
        )));
    }
    let Some(keys) = keys.filter(|keys| !keys.contains_key(key)) else {
        return Ok(());
    };
    let hint = did_you_mean(key, keys.keys().map(String::as_str));
    Err(BuildError::new(format!(
        "the state has no key {key:?}{hint}"
    )))
}

fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let near = known
        .map(|k| (strsim::damerau_levenshtein(name, k), k))
        .min();
    match near {
        Some((distance, near)) if distance <= 2.max(name.len() / 3) => {
            format!(" (did you mean {near:?}?)")
        }
        _ => String::new(),
    }
}
