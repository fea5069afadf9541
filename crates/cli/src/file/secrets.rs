//! Values of variables in errors: they are not printed, wherever an error quotes a text of the file.

use std::collections::HashSet;

use super::error::Problem;
use super::tree::{Content, Node};

/// What an error says in the place of a value.
const HIDDEN: &str = "(the variable's value)";

/// The texts of a file that variables filled in and that nobody wrote there.
#[derive(Debug, Default)]
pub(super) struct Secrets<'a> {
    filled: HashSet<&'a str>,
    written: HashSet<&'a str>,
}

impl<'a> Secrets<'a> {
    /// Those of a tree.
    pub(super) fn of(tree: &'a Node) -> Self {
        let mut secrets = Self::default();
        secrets.collect(tree);
        secrets
    }

    fn collect(&mut self, node: &'a Node) {
        match &node.content {
            Content::Text(text) => {
                let texts = if text.filled {
                    &mut self.filled
                } else {
                    &mut self.written
                };
                texts.insert(&text.text);
            }
            Content::List(items) => items.iter().for_each(|item| self.collect(item)),
            Content::Map(entries) => {
                for entry in entries {
                    self.written.insert(&entry.key);
                    self.collect(&entry.value);
                }
            }
            Content::Null | Content::Bool(_) | Content::Number(_) => {}
        }
    }

    /// The problem without quotes of them.
    pub(super) fn hidden(&self, mut problem: Problem) -> Problem {
        for text in self.filled.difference(&self.written) {
            let quoted = format!("{text:?}");
            if problem.what.contains(&quoted) {
                problem.what = problem.what.replace(&quoted, HIDDEN);
            }
        }
        problem
    }
}
