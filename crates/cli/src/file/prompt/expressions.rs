//! Expressions of a declared agent: a text that begins with `=` is one.

use super::super::error::Problem;
use super::super::path::KeyPath;
use super::super::tree::{Content, Node};
use super::super::variables::is_name;

/// Puts variables into our own form, so that they are filled in by the same rules, and says which
/// other expressions there are: taken for text they would go to the model, or out as a key.
pub(in super::super) fn rename_variables(tree: &mut Node) -> Vec<Problem> {
    let mut problems = Vec::new();
    rename(tree, &KeyPath::default(), &mut problems);
    problems
}

fn rename(node: &mut Node, path: &KeyPath, problems: &mut Vec<Problem>) {
    match &mut node.content {
        Content::Text(text) => match text.text.strip_prefix('=').map(str::trim_end) {
            None | Some("") => {}
            Some(expression) => match expression.strip_prefix("Env.").filter(|n| is_name(n)) {
                Some(name) => text.text = format!("${{{name}}}"),
                None => {
                    let what = "expressions other than =Env.NAME are not supported yet by this build; write the text itself, with ${NAME} where a variable is part of it";
                    problems.push(Problem::new(node.at, path.clone(), what));
                }
            },
        },
        Content::List(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                rename(item, &path.index(index), problems);
            }
        }
        Content::Map(entries) => {
            for entry in entries {
                rename(&mut entry.value, &path.key(&entry.key), problems);
            }
        }
        Content::Null | Content::Bool(_) | Content::Number(_) => {}
    }
}
