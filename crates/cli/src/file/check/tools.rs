//! Tools: each with its own name and exactly one worker, whose calls can be made.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::super::error::{did_you_mean, one_of};
use super::super::path::KeyPath;
use super::super::sentence::is_filled;
use super::super::tool::{ApprovalEntry, ToolEntry, WORKERS};
use super::{Checker, MAX_NAME};
use crate::http_tool::{self, Template};

impl Checker<'_> {
    pub(super) fn tools(&mut self, tools: &[ToolEntry], path: &KeyPath) {
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
        self.calls(tool, path);
    }

    /// The HTTP calls of a tool name arguments that exist, and nothing private stands in a URL.
    fn calls(&mut self, tool: &ToolEntry, path: &KeyPath) {
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
        // A schema may leave open which arguments there are.
        let Some(known) = properties(arguments) else {
            return;
        };
        for (keys, name) in template.placeholders() {
            if known.contains_key(name) {
                continue;
            }
            let path = keys.iter().fold(path.clone(), |path, key| path.key(*key));
            let what = if self.tree.get(&path).is_some_and(is_filled) {
                format!("the variable's value names an argument that tool {tool:?} does not have")
            } else {
                let hint = did_you_mean(name, known.keys().map(String::as_str));
                format!("tool {tool:?} has no argument {name:?}{hint}")
            };
            self.wrong(&path, what);
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
}

/// The declared arguments of a schema, if it declares them and no others.
pub(super) fn properties(schema: Option<&Map<String, Value>>) -> Option<&Map<String, Value>> {
    schema?.get("properties")?.as_object()
}
