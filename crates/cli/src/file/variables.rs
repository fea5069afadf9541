//! Variables: where their values come from, and how they get into a file.
//!
//! `${NAME}` is replaced inside string scalars only, after parsing, so that a value can never change
//! the structure of a file. `$${` stands for a literal `${`.

use std::collections::HashMap;
use std::env;
use std::path::Path;

use super::dotenv;
use super::error::Problem;
use super::path::KeyPath;
use super::tree::{Content, Node, Text};

/// Values of variables: the process environment, then a `.env` file.
#[derive(Clone, Default)]
pub(crate) struct Variables {
    process: bool,
    others: HashMap<String, String>,
}

impl Variables {
    /// The process environment, and beside it the `.env` file in this folder, if there is one.
    ///
    /// # Errors
    /// The file is there and can't be read; the sentence names its line, never a value.
    pub(crate) fn beside(folder: &Path) -> Result<Self, String> {
        let path = folder.join(".env");
        let others = match std::fs::read_to_string(&path) {
            Ok(text) => {
                dotenv::parse(&text).map_err(|error| format!("{}:{error}", path.display()))?
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => HashMap::new(),
            Err(error) => return Err(format!("{}: {error}", path.display())),
        };
        Ok(Self {
            process: true,
            others,
        })
    }

    /// The process environment alone.
    pub(crate) fn of_process() -> Self {
        Self {
            process: true,
            others: HashMap::new(),
        }
    }

    /// These values alone.
    #[cfg(test)]
    pub(crate) fn of(values: &[(&str, &str)]) -> Self {
        let own = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
        Self {
            process: false,
            others: values.iter().map(own).collect(),
        }
    }

    /// The value of a variable; the process environment wins.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        let of_process = self.process.then(|| env::var(name).ok()).flatten();
        of_process.or_else(|| self.others.get(name).cloned())
    }

    /// The value of a variable, where it is not blank.
    pub(crate) fn filled(&self, name: &str) -> Option<String> {
        self.get(name).filter(|value| !value.trim().is_empty())
    }

    /// Fills variables into all strings of a tree; says everything that is wrong with them.
    pub(crate) fn fill(&self, tree: &mut Node) -> Vec<Problem> {
        let mut problems = Vec::new();
        self.fill_node(tree, &KeyPath::default(), &mut problems);
        problems
    }

    fn fill_node(&self, node: &mut Node, path: &KeyPath, problems: &mut Vec<Problem>) {
        match &mut node.content {
            Content::Text(text) if text.text.contains("${") => match self.replace(&text.text) {
                Ok(replaced) => *text = replaced,
                Err(what) => problems.push(Problem::new(node.at, path.clone(), what)),
            },
            Content::List(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.fill_node(item, &path.index(index), problems);
                }
            }
            Content::Map(entries) => {
                for entry in entries {
                    self.fill_node(&mut entry.value, &path.key(&entry.key), problems);
                }
            }
            _ => {}
        }
    }

    fn replace(&self, text: &str) -> Result<Text, String> {
        let mut replaced = String::with_capacity(text.len());
        let mut variables = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            if let Some(before) = before.strip_suffix('$') {
                replaced.push_str(before);
                replaced.push_str("${");
                rest = after;
                continue;
            }
            replaced.push_str(before);
            let named = after.split_once('}').filter(|(name, _)| is_name(name));
            let Some((name, after)) = named else {
                return Err(
                    "\"${\" must be followed by a variable's name and \"}\"; write \"$${\" for a literal \"${\""
                        .to_owned(),
                );
            };
            let Some(value) = self.get(name) else {
                return Err(format!(
                    "the variable {name} is not set; set it in the environment or in .env"
                ));
            };
            replaced.push_str(&value);
            variables.push(name.to_owned());
            rest = after;
        }
        replaced.push_str(rest);
        Ok(Text {
            text: replaced,
            filled: !variables.is_empty(),
            variables,
        })
    }
}

/// Whether this can be the name of a variable.
pub(super) fn is_name(name: &str) -> bool {
    let mut letters = name.chars();
    letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(yaml: &str) -> Result<serde_json::Value, Vec<String>> {
        let variables = Variables::of(&[("A", "1"), ("B", "x: [y]"), ("EMPTY", "")]);
        let mut tree = Node::parse(yaml).unwrap();
        let problems = variables.fill(&mut tree);
        if problems.is_empty() {
            Ok(super::super::read::read(&tree).unwrap())
        } else {
            let line = |p: &Problem| format!("{}: {}: {}", p.at.line, p.path, p.what);
            Err(problems.iter().map(line).collect())
        }
    }

    #[test]
    fn values_are_filled_into_strings_and_change_no_structure() {
        let tree = filled("{ a: '${A}', b: ['-${B}-${A}'], e: '${EMPTY}', '${A}': 1 }").unwrap();
        let expected = serde_json::json!({"a": "1", "b": ["-x: [y]-1"], "e": "", "${A}": 1});
        assert_eq!(tree, expected);
    }

    #[test]
    fn a_doubled_dollar_is_literal() {
        let tree = filled("['$${A}', '$$${A}', '$A', '{{x}}', 'a $ {', '$$']").unwrap();
        assert_eq!(
            tree,
            serde_json::json!(["${A}", "$${A}", "$A", "{{x}}", "a $ {", "$$"])
        );
    }

    #[test]
    fn every_unset_variable_is_named_with_its_key() {
        let errors = filled("a: x\nb:\n  - ${NO}\nc: { d: '${NEITHER}' }\n").unwrap_err();
        assert_eq!(errors.len(), 2);
        assert!(errors[0].starts_with("3: b[0]: the variable NO is not set"));
        assert!(errors[1].starts_with("4: c.d: the variable NEITHER is not set"));
    }

    #[test]
    fn what_is_no_name_is_an_error() {
        for text in ["${", "${}", "${A", "${A-B}", "${1}", "${A:-x}"] {
            let error = &filled(&format!("'{text}'")).unwrap_err()[0];
            assert!(error.contains("$${"), "{text}: {error}");
        }
    }

    #[test]
    fn the_process_wins_over_the_file() {
        let mut variables = Variables::of(&[("PATH", "other"), ("ANTIPHON_TEST_ONLY", "file")]);
        variables.process = true;
        assert_ne!(variables.get("PATH").as_deref(), Some("other"));
        assert_eq!(variables.get("ANTIPHON_TEST_ONLY").as_deref(), Some("file"));
    }
}
