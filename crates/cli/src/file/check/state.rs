//! The shared state: keys that clients may send back, and mappings whose names exist.

use antiphon::state::reserved_key;
use serde_json::{Map, Value};

use super::super::agent::{AgentEntry, ArgumentEntry};
use super::super::error::did_you_mean;
use super::super::path::KeyPath;
use super::super::tool::ToolEntry;
use super::Checker;
use super::tools::properties;

impl Checker<'_> {
    pub(super) fn state(&mut self, agent: &AgentEntry, path: &KeyPath) {
        let state = &agent.state;
        let known = state.schema.as_ref().and_then(state_keys);
        for (list, entries) in [("predict", &state.predict), ("calls", &state.calls)] {
            for (index, entry) in entries.iter().enumerate() {
                let path = path.key(list).index(index);
                self.argument(entry, &agent.tools, &path);
                self.state_key(&entry.state_key, known, &path.key("state_key"));
            }
        }
        for (index, entry) in state.results.iter().enumerate() {
            self.tool_named(&entry.tool, &agent.tools, &path.key("results").index(index));
        }
        for key in state.initial.iter().flat_map(Map::keys) {
            self.state_key(key, None, &path.key("initial").key(key));
        }
    }

    fn state_key(&mut self, key: &str, known: Option<&Map<String, Value>>, path: &KeyPath) {
        if reserved_key(key) {
            let start = reserved_start(key);
            let what = format!(
                "{key:?} begins with {start:?}, and clients may not send such a key back; name it otherwise"
            );
            self.wrong(path, what);
        }
        if let Some(known) = known
            && !known.contains_key(key)
        {
            let hint = did_you_mean(key, known.keys().map(String::as_str));
            self.wrong(path, format!("state.schema has no key {key:?}{hint}"));
        }
    }

    fn tool_named<'t>(
        &mut self,
        name: &str,
        tools: &'t [ToolEntry],
        path: &KeyPath,
    ) -> Option<&'t ToolEntry> {
        let found = tools.iter().find(|tool| tool.name == name);
        if found.is_none() {
            let hint = did_you_mean(name, tools.iter().map(|tool| tool.name.as_str()));
            self.wrong(path, format!("there is no tool {name:?}{hint}"));
        }
        found
    }

    fn argument(&mut self, entry: &ArgumentEntry, tools: &[ToolEntry], path: &KeyPath) {
        let tool = self.tool_named(&entry.tool, tools, path);
        let known = tool.and_then(|tool| properties(tool.parameters.as_ref()));
        let (Some(known), argument) = (known, &entry.tool_argument) else {
            return;
        };
        if argument != "*" && !known.contains_key(argument) {
            let hint = did_you_mean(argument, known.keys().map(String::as_str));
            let what = format!("tool {:?} has no argument {argument:?}{hint}", entry.tool);
            self.wrong(path, what);
        }
    }
}

/// What makes a reserved key one: `_`, or a word with its colon.
fn reserved_start(key: &str) -> &str {
    match key.find(':') {
        Some(colon) if !key.starts_with('_') => key.get(..=colon).unwrap_or(key),
        _ => "_",
    }
}

/// The declared keys of the state, if the schema lists them.
fn state_keys(schema: &Map<String, Value>) -> Option<&Map<String, Value>> {
    const MARKS: [&str; 5] = ["$schema", "$ref", "allOf", "anyOf", "oneOf"];
    if MARKS.iter().any(|mark| schema.contains_key(*mark)) {
        return None;
    }
    if schema.get("type").is_some_and(Value::is_string) || schema.contains_key("properties") {
        let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        return schema.get("properties").filter(|_| closed)?.as_object();
    }
    Some(schema)
}
