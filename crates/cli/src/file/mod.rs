//! The agent file: read, filled with variables, checked, with a place in every error.
//!
//! [`AgentFile::load`] goes text → [tree] → variables → typed [entries](document::Document) →
//! [checks](check). Nothing here opens a socket or a store; making agents of the entries is
//! [`crate::agents`]'s work.

pub(crate) mod agent;
mod check;
pub(crate) mod document;
mod dotenv;
mod error;
mod path;
mod prompt;
mod read;
mod script;
mod secrets;
mod sentence;
mod standin;
mod syntax;
pub(crate) mod tool;
mod tree;
pub(crate) mod units;
mod variables;

use std::path::{Path, PathBuf};

pub(crate) use check::unusable_key;
pub(crate) use document::Document;
pub(crate) use error::FileError;
use error::Problem;
pub(crate) use path::KeyPath;
pub(crate) use variables::Variables;

use antiphon::model::script::Script;
use secrets::Secrets;
use tree::{Content, Node, Text};

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// An agent file that was read and checked.
#[derive(Debug)]
pub(crate) struct AgentFile {
    /// What it says.
    pub(crate) document: Document,
    path: PathBuf,
    tree: Node,
    /// What the file says itself, where the tree was made of a declared agent.
    written: Option<Node>,
}

impl AgentFile {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// Everything that is known to be wrong with it.
    pub(crate) fn load(path: &Path, variables: &Variables) -> Result<Self, FileError> {
        let text = text_of(path).map_err(|unread| {
            let what = match unread {
                Unread::Missing => {
                    "there is no such file; name one, as in `antiphon serve FILE`, or try `antiphon demo`"
                        .to_owned()
                }
                Unread::Unusable(why) => why,
            };
            let problem = Problem::new(Default::default(), KeyPath::default(), what);
            FileError::new(path, vec![problem])
        })?;
        Self::parse(path, &text, variables)
    }

    /// Reads and checks a file's text; `path` is what it is called in errors.
    ///
    /// # Errors
    /// Everything that is known to be wrong with it.
    pub(crate) fn parse(path: &Path, text: &str, variables: &Variables) -> Result<Self, FileError> {
        let wrong = |problems| FileError::new(path, problems);
        let mut tree = filled(text, variables).map_err(wrong)?;
        let mut written = None;
        if prompt::is_prompt(&tree) {
            let made = prompt::translate(&tree).map_err(|problem| wrong(vec![problem]))?;
            written = Some(std::mem::replace(&mut tree, made));
        } else {
            prompt::known_kind(&tree).map_err(|problem| wrong(vec![problem]))?;
        }
        let place = |problem| match &written {
            Some(written) => prompt::located(problem, written),
            None => problem,
        };
        let document: Document =
            read::read(&tree).map_err(|problem| wrong(vec![place(problem)]))?;
        let problems = check::check(&document, &tree);
        if !problems.is_empty() {
            let secrets = Secrets::of(&tree);
            let problems = problems.into_iter().map(place);
            return Err(wrong(
                problems.map(|problem| secrets.hidden(problem)).collect(),
            ));
        }
        Ok(Self {
            document,
            path: path.to_owned(),
            tree,
            written,
        })
    }

    /// The folder that relative paths in the file are relative to.
    pub(crate) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// An error about the value at a key path.
    pub(crate) fn error(&self, path: KeyPath, what: impl Into<String>) -> FileError {
        let problem = Problem::new(self.tree.position(&path), path, what);
        let problem = match &self.written {
            Some(written) => prompt::located(problem, written),
            None => problem,
        };
        FileError::new(&self.path, vec![Secrets::of(&self.tree).hidden(problem)])
    }

    /// How an error quotes the text at a key path: not at all, where a variable filled it in.
    pub(crate) fn shown(&self, path: &KeyPath, text: &str) -> String {
        if self.is_filled(path) {
            "of the variable's value".to_owned()
        } else {
            format!("{text:?}")
        }
    }

    /// Whether a variable filled in the text at a key path.
    pub(crate) fn is_filled(&self, path: &KeyPath) -> bool {
        let content = self.tree.get(path).map(|node| &node.content);
        matches!(content, Some(Content::Text(Text { filled: true, .. })))
    }

    /// An error from a sentence that begins with a key path and a colon, as those of agents do.
    pub(crate) fn error_in_words(&self, sentence: &str) -> FileError {
        let (path, what) = sentence::split(&self.tree, sentence);
        self.error(path, what)
    }
}

/// Reads the script that the file's value at `key` names.
///
/// # Errors
/// There is no such file, which is said of the value, or what is wrong within it.
pub(crate) fn load_script(
    file: &AgentFile,
    key: &KeyPath,
    name: &Path,
    variables: &Variables,
) -> Result<Script, FileError> {
    let path = file.folder().join(name);
    let text = text_of(&path).map_err(|unread| {
        let shown = file.shown(key, &path.display().to_string());
        let what = match unread {
            Unread::Missing => {
                format!("there is no file {shown}; name one, relative to the folder of this file")
            }
            Unread::Unusable(why) => format!("{shown} can't be used: {why}"),
        };
        file.error(key.clone(), what)
    })?;
    let wrong = |problems| FileError::new(&path, problems);
    let tree = filled(&text, variables).map_err(wrong)?;
    read::read(&tree).map_err(|problem| wrong(vec![problem]))
}

fn filled(text: &str, variables: &Variables) -> Result<Node, Vec<Problem>> {
    let mut tree = Node::parse(text).map_err(|problem| vec![problem])?;
    let mut problems = Vec::new();
    if prompt::is_prompt(&tree) {
        problems.extend(prompt::rename_variables(&mut tree));
    }
    problems.extend(variables.fill(&mut tree));
    if problems.is_empty() {
        Ok(tree)
    } else {
        Err(problems)
    }
}

/// Why there is no text of a file.
enum Unread {
    Missing,
    Unusable(String),
}

fn text_of(path: &Path) -> Result<String, Unread> {
    let read = std::fs::metadata(path).and_then(|facts| {
        if facts.len() > MAX_BYTES {
            return Err(std::io::Error::other("it is larger than 16 MiB"));
        }
        std::fs::read_to_string(path)
    });
    read.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Unread::Missing,
        std::io::ErrorKind::InvalidData => {
            Unread::Unusable("the file is not UTF-8 text".to_owned())
        }
        _ => Unread::Unusable(format!("cannot be read: {error}")),
    })
}

#[cfg(test)]
mod tests;
