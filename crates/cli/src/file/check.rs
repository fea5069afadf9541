//! What a file must keep beyond its types: names that exist, choices that fit together, and nothing
//! that this build can't do.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::{Map, Value};

use super::agent::{AgentEntry, ArgumentEntry, ModelEntry, Provider};
use super::document::{AuthEntry, Document};
use super::error::{Problem, did_you_mean, one_of};
use super::path::KeyPath;
use super::tool::{ApprovalEntry, ToolEntry, WORKERS};
use super::tree::Node;
use crate::http_tool::{self, Template};

/// Beginnings of state keys that clients may not send.
const RESERVED: [&str; 4] = ["_", "app:", "user:", "temp:"];
/// Longest name of an agent or a tool, in bytes.
const MAX_NAME: usize = 128;

/// Deeper JSON than this is refused whatever the file says.
const MAX_JSON_DEPTH: usize = 128;

/// Everything that is wrong with a document.
pub(super) fn check(document: &Document, tree: &Node) -> Vec<Problem> {
    let mut checker = Checker {
        tree,
        problems: Vec::new(),
    };
    checker.document(document);
    checker.problems
}

struct Checker<'a> {
    tree: &'a Node,
    problems: Vec<Problem>,
}

impl Checker<'_> {
    fn wrong(&mut self, path: &KeyPath, what: impl Into<String>) {
        let at = self.tree.position(path);
        self.problems.push(Problem::new(at, path.clone(), what));
    }

    fn unbuilt(&mut self, path: &KeyPath, what: &str) {
        self.wrong(path, format!("{what} not supported yet by this build"));
    }

    fn document(&mut self, document: &Document) {
        let root = KeyPath::default();
        if let Some(bus) = document.bus.as_deref().filter(|bus| *bus != "local") {
            match bus.starts_with("nats:") {
                true => self.unbuilt(&root.key("bus"), "a NATS bus is"),
                false => self.wrong(&root.key("bus"), "expected local"),
            }
        }
        if document
            .heartbeat
            .is_some_and(|time| time.0 < Duration::from_millis(100))
        {
            self.wrong(&root.key("heartbeat"), "expected at least 100ms");
        }
        if document
            .namespace
            .as_deref()
            .is_some_and(|name| !is_name(name))
        {
            self.wrong(&root.key("namespace"), NAME_RULE);
        }
        for (index, origin) in document.cors.iter().enumerate() {
            if !is_origin(origin) {
                let path = root.key("cors").index(index);
                self.wrong(&path, "expected an origin such as http://localhost:3000");
            }
        }
        let depth = document
            .limits
            .json_depth
            .map_or(MAX_JSON_DEPTH, Into::into);
        if depth > MAX_JSON_DEPTH {
            let what = format!("expected at most {MAX_JSON_DEPTH}");
            self.wrong(&root.key("limits").key("json_depth"), what);
        }
        if let Some(auth) = &document.auth {
            self.auth(auth, &root.key("auth"));
        }
        self.agents(document);
    }

    fn auth(&mut self, auth: &AuthEntry, path: &KeyPath) {
        if auth.jwt.is_some() {
            self.unbuilt(&path.key("jwt"), "JWTs are");
        } else if auth.tokens.is_empty() {
            self.wrong(
                path,
                "nobody could come in; list at least one token in `tokens`",
            );
        }
        let users = auth.tokens.iter().map(|t| (&t.token, &t.user));
        let services = auth.service_tokens.iter().map(|t| (&t.token, &t.name));
        let lists = [
            ("tokens", users.collect::<Vec<_>>()),
            ("service_tokens", services.collect()),
        ];
        let mut seen = HashSet::new();
        for (list, tokens) in lists {
            for (index, (token, name)) in tokens.into_iter().enumerate() {
                use secrecy::ExposeSecret;
                let path = path.key(list).index(index);
                let token = token.0.expose_secret();
                if token.trim().is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
                    self.wrong(
                        &path.key("token"),
                        "expected visible ASCII characters without spaces",
                    );
                }
                if name.trim().is_empty() {
                    self.wrong(&path, "the name is empty");
                }
                if !seen.insert(token) {
                    self.wrong(&path.key("token"), "the same token is there twice");
                }
            }
        }
    }

    fn agents(&mut self, document: &Document) {
        let root = KeyPath::default();
        let agents = &document.agents.0;
        if agents.is_empty() {
            self.wrong(&root.key("agents"), "at least one agent is needed");
        }
        let names = || agents.iter().map(|(name, _)| name.as_str());
        if let Some(name) = &document.default_agent
            && !names().any(|known| known == name)
        {
            let hint = did_you_mean(name, names());
            let what = format!(
                "there is no agent {name:?}{hint}; there is {}",
                one_of(names())
            );
            self.wrong(&root.key("default_agent"), what);
        }
        for (name, agent) in agents {
            let path = root.key("agents").key(name);
            if !is_name(name) {
                self.wrong(&path, NAME_RULE);
            }
            self.agent(agent, &path);
        }
    }

    fn agent(&mut self, agent: &AgentEntry, path: &KeyPath) {
        let unbuilt = [
            ("mcp", &agent.mcp),
            ("graph", &agent.graph),
            ("remote", &agent.remote),
        ];
        let has_unbuilt = unbuilt.iter().any(|(_, value)| value.is_some());
        for (key, _) in unbuilt.iter().filter(|(_, value)| value.is_some()) {
            self.unbuilt(&path.key(*key), &format!("{key:?} is"));
        }
        match &agent.model {
            Some(model) => self.model(model, &path.key("model")),
            None if has_unbuilt => {}
            None => self.wrong(path, "the key \"model\" is missing"),
        }
        self.tools(&agent.tools, &path.key("tools"));
        self.state(agent, &path.key("state"));
    }

    fn model(&mut self, model: &ModelEntry, path: &KeyPath) {
        let scripted = model.provider == Provider::Script;
        match model.provider {
            Provider::Openai | Provider::Script => {}
            Provider::OpenaiResponses
            | Provider::AzureOpenai
            | Provider::Anthropic
            | Provider::Gemini
            | Provider::Ollama => {
                self.unbuilt(&path.key("provider"), "this provider is");
            }
        }
        if !scripted
            && model
                .name
                .as_deref()
                .is_none_or(|name| name.trim().is_empty())
        {
            self.wrong(
                path,
                "the key \"name\" is missing: the model's name at the provider",
            );
        }
        for (key, given) in [
            ("script", model.script.is_some()),
            ("file", model.file.is_some()),
        ] {
            if given && !scripted {
                self.wrong(
                    &path.key(key),
                    "only the provider \"script\" plays a script",
                );
            }
        }
        if model.script.is_some() && model.file.is_some() {
            self.wrong(
                &path.key("file"),
                "there is a script already; leave one of them out",
            );
        }
    }

    fn tools(&mut self, tools: &[ToolEntry], path: &KeyPath) {
        let mut seen = HashSet::new();
        for (index, tool) in tools.iter().enumerate() {
            let path = path.index(index);
            if tool.name.is_empty() || tool.name.len() > MAX_NAME {
                self.wrong(&path.key("name"), "expected 1 to 128 bytes");
            }
            if !seen.insert(tool.name.as_str()) {
                let what = format!("the tool {:?} is declared twice", tool.name);
                self.wrong(&path.key("name"), what);
            }
            self.worker(tool, &path);
            self.limits_of_tool(tool, &path);
        }
    }

    /// Exactly one key says who does the work, and its HTTP calls can be made.
    fn worker(&mut self, tool: &ToolEntry, path: &KeyPath) {
        let given = [
            tool.returns.is_some(),
            tool.fails.is_some(),
            tool.http.is_some(),
            tool.client.is_some(),
            tool.private_input.is_some(),
            tool.external_wait.is_some(),
        ];
        let given = WORKERS.iter().zip(given).filter(|(_, given)| *given);
        let given: Vec<&str> = given.map(|(key, _)| *key).collect();
        match given.as_slice() {
            [_] => {}
            [] => {
                let what = format!("tool {:?} needs one of {}", tool.name, one_of(WORKERS));
                self.wrong(path, what);
            }
            several => {
                let what = format!(
                    "tool {:?} has {}; exactly one of {} may be there",
                    tool.name,
                    several.join(" and "),
                    one_of(WORKERS)
                );
                self.wrong(path, what);
            }
        }
        let arguments = tool.parameters.as_ref();
        if let Some(http) = &tool.http {
            let path = path.key("http");
            self.http(Template::new(http), &tool.name, arguments, &path);
        }
        if let Some(external) = &tool.external_wait {
            let path = path.key("external_wait").key("start").key("http");
            self.http(
                Template::new(&external.start.http),
                &tool.name,
                arguments,
                &path,
            );
        }
        if let Some(private) = &tool.private_input {
            let path = path.key("private_input").key("deliver").key("http");
            let template = Template::new(&private.deliver.http);
            let placed = template.as_ref().is_ok_and(Template::has_url_placeholders);
            if placed {
                self.wrong(&path.key("url"), "a private value may not be part of a URL");
            }
            self.http(template, &tool.name, Some(&private.schema), &path);
        }
    }

    fn http(
        &mut self,
        template: Result<Template, http_tool::Wrong>,
        tool: &str,
        arguments: Option<&Map<String, Value>>,
        path: &KeyPath,
    ) {
        let template = match template {
            Ok(template) => template,
            Err(wrong) => {
                let path = wrong
                    .keys
                    .iter()
                    .fold(path.clone(), |path, key| path.key(key));
                return self.wrong(&path, wrong.what);
            }
        };
        let Some(known) = properties(arguments) else {
            return;
        };
        for (key, name) in template.placeholders() {
            if !known.contains_key(name) {
                let hint = did_you_mean(name, known.keys().map(String::as_str));
                let what = format!("tool {tool:?} has no argument {name:?}{hint}");
                self.wrong(&path.key(key), what);
            }
        }
    }

    fn limits_of_tool(&mut self, tool: &ToolEntry, path: &KeyPath) {
        let inner = [
            ("client", tool.client.as_ref().and_then(|c| c.timeout)),
            (
                "private_input",
                tool.private_input.as_ref().and_then(|p| p.timeout),
            ),
            (
                "external_wait",
                tool.external_wait.as_ref().and_then(|e| e.timeout),
            ),
        ];
        for (key, _) in inner.iter().filter(|(_, timeout)| timeout.is_some()) {
            if tool.timeout.is_some() {
                let what = format!("{key}.timeout is there already; leave one of them out");
                self.wrong(&path.key("timeout"), what);
            }
        }
        if let (Some(ApprovalEntry::Asked(terms)), Some(known)) =
            (&tool.approval, properties(tool.parameters.as_ref()))
        {
            for name in http_tool::names_in(terms.message.as_deref().unwrap_or_default()) {
                if !known.contains_key(name) {
                    let hint = did_you_mean(name, known.keys().map(String::as_str));
                    let what = format!("tool {:?} has no argument {name:?}{hint}", tool.name);
                    self.wrong(&path.key("approval").key("message"), what);
                }
            }
        }
    }

    fn state(&mut self, agent: &AgentEntry, path: &KeyPath) {
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
        if let Some(start) = RESERVED.iter().find(|start| key.starts_with(**start)) {
            let what = format!("{key:?} begins with {start:?}, which clients may not send back");
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

const NAME_RULE: &str =
    "a name is 1 to 128 letters, digits, \"-\", \"_\" and \".\", and begins with a letter or digit";

fn is_name(name: &str) -> bool {
    name.len() <= MAX_NAME
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter))
}

fn is_origin(origin: &str) -> bool {
    let url = reqwest::Url::parse(origin).ok();
    url.is_some_and(|url| {
        matches!(url.scheme(), "http" | "https") && url.origin().ascii_serialization() == origin
    })
}

/// The declared arguments of a schema, if it declares them and no others.
fn properties(schema: Option<&Map<String, Value>>) -> Option<&Map<String, Value>> {
    schema?.get("properties")?.as_object()
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
