//! What a file must keep beyond its types: names that exist, choices that fit together, and nothing
//! that this build can't do.

mod state;
mod tools;

use std::collections::HashSet;
use std::time::Duration;

use secrecy::ExposeSecret;

use crate::address;

use super::agent::{AgentEntry, ModelEntry, Provider};
use super::document::{AuthEntry, Document};
use super::error::{Problem, did_you_mean, one_of};
use super::path::KeyPath;
use super::tree::{Content, Node};

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
        if let Some(what) = document.listen.as_deref().and_then(address::unusable) {
            self.wrong(&root.key("listen"), what);
        }
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
        if auth.jwt.is_none() && auth.tokens.is_empty() {
            self.wrong(
                path,
                "nobody could come in; list at least one token in `tokens`, or set `jwt`",
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

    fn key(&mut self, key: &str, path: &KeyPath) {
        let written = self.tree.get(path).map(|node| &node.content);
        let variable = match written {
            Some(Content::Text(text)) => text.variables.first().map(String::as_str),
            _ => None,
        };
        if let Some(what) = unusable_key(key, variable) {
            self.wrong(path, what);
        }
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
        if let Some(key) = &model.api_key {
            self.key(key.0.expose_secret(), &path.key("api_key"));
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
}

/// What is wrong with a key that could not be sent, or would be sent as none.
pub(crate) fn unusable_key(key: &str, variable: Option<&str>) -> Option<String> {
    let is_blank = key.trim().is_empty();
    let can_be_sent = key.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    Some(match (is_blank, can_be_sent, variable) {
        (false, true, _) => return None,
        (true, _, Some(name)) => {
            format!(
                "the variable {name} is empty; set it in the environment or in .env, or leave `api_key` out"
            )
        }
        (true, _, None) => "the key is empty; write one, or leave `api_key` out".to_owned(),
        (false, false, Some(name)) => format!(
            "the key can't be sent: the variable {name} holds a line break, or letters that are not ASCII"
        ),
        (false, false, None) => {
            "the key can't be sent: it holds a line break, or letters that are not ASCII".to_owned()
        }
    })
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
