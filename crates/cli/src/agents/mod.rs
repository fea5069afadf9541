//! Makes agents of what a file says.

pub(crate) mod model;
mod tool;

use std::sync::Arc;
use std::time::Duration;

use antiphon::model::Model;
use antiphon::{Agent, Argument, BuiltAgent, History, Limits, OnDecline, OnDisconnect};
use serde_json::Value;

use crate::file::agent::{
    AgentEntry, ArgumentEntry, ContextWord, DeclineWord, DisconnectWord, HistoryWord, ResultWord,
    StateEntry,
};
use crate::file::document::RepeatedAnswers;
use crate::file::{AgentFile, FileError, KeyPath, Variables};

/// Which model the agents call.
#[derive(Debug, Clone)]
pub(crate) enum ModelChoice {
    /// Each the one that its entry names.
    AsWritten,
    /// All this one.
    All(Arc<dyn Model>),
}

/// The agents of a file, in its order, open for additions.
///
/// # Errors
/// A model or a tool that can't be made as it is described.
pub(crate) fn agents(
    file: &AgentFile,
    variables: &Variables,
    choice: &ModelChoice,
) -> Result<Vec<Agent>, FileError> {
    let root = KeyPath::default().key("agents");
    let entries = file.document.agents.0.iter();
    entries
        .map(|(name, entry)| {
            let path = root.key(name);
            let model: Arc<dyn Model> = match choice {
                ModelChoice::AsWritten => {
                    model::model(file, entry.model.as_ref(), &path.key("model"), variables)?
                }
                ModelChoice::All(model) => Arc::clone(model),
            };
            agent(file, name, entry, model, &path)
        })
        .collect()
}

/// Checks agents of a file and makes them ready to run.
///
/// # Errors
/// What an agent's description breaks, with its place in the file.
pub(crate) fn built(file: &AgentFile, agents: Vec<Agent>) -> Result<Vec<BuiltAgent>, FileError> {
    let built = agents.into_iter().map(|agent| {
        agent
            .build()
            .map_err(|error| file.error_in_words(&error.to_string()))
    });
    built.collect()
}

fn agent(
    file: &AgentFile,
    name: &str,
    entry: &AgentEntry,
    model: Arc<dyn Model>,
    path: &KeyPath,
) -> Result<Agent, FileError> {
    let document = &file.document;
    let mut agent = Agent::new(name)
        .shared_model(model)
        .description(entry.description.clone().unwrap_or_default())
        .limits(limits(file, entry))
        .inject_context(entry.context == ContextWord::Inject)
        .replay_answers(document.repeated_answers == RepeatedAnswers::Replay)
        .history(match entry.history {
            HistoryWord::Thread => History::Thread,
            HistoryWord::Client => History::Client,
            HistoryWord::Turn => History::Turn,
        })
        .on_disconnect(match entry.on_disconnect {
            DisconnectWord::Cancel => OnDisconnect::Cancel,
            DisconnectWord::Detach => OnDisconnect::Detach,
        })
        .on_decline(match entry.on_decline {
            DeclineWord::Continue => OnDecline::Continue,
            DeclineWord::Stop => OnDecline::Stop,
        });
    if let Some(instructions) = &entry.instructions {
        agent = agent.instructions(instructions);
    }
    if let Some(model) = &entry.model {
        agent = agent.parameters(model.parameters.clone());
    }
    if let Some(namespace) = &document.namespace {
        agent = agent.namespace(namespace);
    }
    for (index, tool) in entry.tools.iter().enumerate() {
        let path = path.key("tools").index(index);
        let made = tool::tool(tool).map_err(|wrong| {
            let path = wrong.keys.iter().fold(path, |path, key| path.key(key));
            file.error(path, wrong.what)
        })?;
        agent = agent.tools(made);
    }
    Ok(with_state(agent, &entry.state))
}

fn limits(file: &AgentFile, entry: &AgentEntry) -> Limits {
    let usual = Limits::default();
    Limits {
        turns: entry.max_turns.map_or(usual.turns, Into::into),
        time: entry.timeout.map_or(usual.time, Duration::from),
        state_bytes: file
            .document
            .limits
            .state
            .map_or(usual.state_bytes, |size| size.0),
        ..usual
    }
}

fn with_state(mut agent: Agent, state: &StateEntry) -> Agent {
    if let Some(schema) = &state.schema {
        agent = agent.state_schema(Value::Object(schema.clone()));
    }
    if let Some(initial) = &state.initial {
        agent = agent.initial_state(initial.clone());
    }
    if let Some(inject) = state.inject {
        agent = agent.inject_state(inject);
    }
    for entry in &state.predict {
        agent = agent.predict(&entry.state_key, argument(entry));
    }
    for entry in &state.calls {
        agent = agent.call_as_state(&entry.state_key, argument(entry));
    }
    for entry in &state.results {
        agent = match entry.kind {
            ResultWord::Snapshot => agent.result_as_snapshot(&entry.tool),
            ResultWord::Delta => agent.result_as_delta(&entry.tool),
        };
    }
    agent.require_confirmation(state.require_confirmation)
}

fn argument(entry: &ArgumentEntry) -> Argument {
    Argument {
        tool: entry.tool.clone(),
        argument: entry.tool_argument.clone(),
    }
}
