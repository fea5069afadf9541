//! An agent file as a tree in which every key and value knows its line and column.
//!
//! The tree is what makes errors precise: variables are filled in here, after parsing, and the typed
//! entries are read from it, so that each of their errors has a place.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use serde_saphyr::{Options, Spanned};

use super::error::Problem;
use super::path::{KeyPath, Segment};
use super::standin::StandIns;
use super::syntax;

/// Collections inside each other that a file may have.
pub(super) const MAX_DEPTH: usize = 96;

/// A place in the file, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Position {
    /// The line.
    pub(crate) line: u64,
    /// The column, in characters.
    pub(crate) column: u64,
}

/// A value with its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    /// Where it begins.
    pub(crate) at: Position,
    /// The value.
    pub(crate) content: Content,
}

/// What a YAML value can be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Content {
    Null,
    Bool(bool),
    Number(Number),
    Text(Text),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A string scalar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    /// The string.
    pub(crate) text: String,
    /// Whether a variable was filled in, so that no error may quote it.
    pub(crate) filled: bool,
    /// The names of the variables that were filled in.
    pub(crate) variables: Vec<String>,
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    /// The key.
    pub(crate) key: String,
    /// Where the key stands.
    pub(crate) at: Position,
    /// Its value.
    pub(crate) value: Node,
}

impl Node {
    /// Reads YAML, of which JSON is a part. A `${NAME}` may stand unquoted also in a flow collection.
    ///
    /// # Errors
    /// The text is no YAML, has a key twice, or is nested too deeply.
    pub(crate) fn parse(yaml: &str) -> Result<Self, Problem> {
        let stand_ins = yaml.contains("${").then(|| StandIns::for_text(yaml));
        let Some(stand_ins) = stand_ins.flatten() else {
            return Self::parse_plain(yaml);
        };
        match Self::parse_plain(&stand_ins.put_into(yaml)) {
            Ok(mut tree) => {
                stand_ins.take_from(&mut tree);
                Ok(tree)
            }
            Err(mut problem) => {
                problem.what = stand_ins.taken_from_quotes(&problem.what);
                Err(problem)
            }
        }
    }

    fn parse_plain(yaml: &str) -> Result<Self, Problem> {
        let mut options = Options::default();
        options.strict_booleans = true;
        options.with_snippet = false;
        if let Some(budget) = &mut options.budget {
            budget.max_depth = MAX_DEPTH;
        }
        let tree: Spanned<Content> =
            serde_saphyr::from_str_with_options(yaml, options).map_err(|error| {
                let at = error.location().map(position).unwrap_or_default();
                Problem::new(at, KeyPath::default(), syntax::sentence(&error))
            })?;
        Ok(tree.into())
    }

    /// The place of a value, or of the innermost value around it that exists. A key of a mapping is
    /// shown where the key stands.
    pub(crate) fn position(&self, path: &KeyPath) -> Position {
        self.follow(path).1
    }

    /// The value at a path, if it exists.
    pub(crate) fn get(&self, path: &KeyPath) -> Option<&Self> {
        let (node, _, steps) = self.follow(path);
        (steps == path.segments().len()).then_some(node)
    }

    /// The innermost value along a path that exists, its place, and how many steps lead to it.
    fn follow(&self, path: &KeyPath) -> (&Self, Position, usize) {
        let (mut node, mut at, mut steps) = (self, self.at, 0);
        for segment in path.segments() {
            let next = match (&node.content, segment) {
                (Content::Map(entries), Segment::Key(key)) => entries
                    .iter()
                    .find(|entry| entry.key == *key)
                    .map(|entry| (&entry.value, entry.at)),
                (Content::List(items), Segment::Index(index)) => {
                    items.get(*index).map(|item| (item, item.at))
                }
                _ => None,
            };
            let Some(found) = next else { break };
            (node, at) = found;
            steps += 1;
        }
        (node, at, steps)
    }

    /// What this value is, in words.
    pub(crate) fn kind(&self) -> &'static str {
        match self.content {
            Content::Null => "nothing",
            Content::Bool(_) => "true or false",
            Content::Number(_) => "a number",
            Content::Text(_) => "text",
            Content::List(_) => "a list",
            Content::Map(_) => "a mapping",
        }
    }
}

fn position(at: serde_saphyr::Location) -> Position {
    Position {
        line: at.line(),
        column: at.column(),
    }
}

impl From<Spanned<Content>> for Node {
    fn from(spanned: Spanned<Content>) -> Self {
        Self {
            at: position(spanned.defined),
            content: spanned.value,
        }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Content, E> {
        Ok(Content::Null)
    }

    fn visit_none<E>(self) -> Result<Content, E> {
        Ok(Content::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Content, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Content, E> {
        Ok(Content::Bool(value))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Content, E> {
        Ok(Content::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Content, E> {
        Ok(Content::Number(number.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Content, E> {
        Number::from_f64(number)
            .map(Content::Number)
            .ok_or_else(|| E::custom("a number must be finite"))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Content, E> {
        self.visit_string(text.to_owned())
    }

    fn visit_string<E>(self, text: String) -> Result<Content, E> {
        Ok(Content::Text(Text {
            text,
            filled: false,
            variables: Vec::new(),
        }))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Content, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element::<Spanned<Content>>()? {
            items.push(item.into());
        }
        Ok(Content::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Content, A::Error> {
        let mut entries: Vec<Entry> = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let value = map.next_value::<Spanned<Content>>()?.into();
            if entries.iter().any(|entry| entry.key == key.value) {
                return Err(A::Error::custom(format!(
                    "the key {:?} is there twice",
                    key.value
                )));
            }
            entries.push(Entry {
                at: position(key.defined),
                key: key.value,
                value,
            });
        }
        Ok(Content::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(yaml: &str, path: &KeyPath) -> (u64, u64) {
        let Position { line, column } = Node::parse(yaml).unwrap().position(path);
        (line, column)
    }

    #[test]
    fn keys_and_elements_know_their_place() {
        let yaml = "a: 1\nagents:\n  one:\n    tools: [x, y]\n    list:\n      - p: 1\n";
        let one = KeyPath::default().key("agents").key("one");
        assert_eq!(at(yaml, &one), (3, 3));
        assert_eq!(at(yaml, &one.key("tools").index(1)), (4, 16));
        assert_eq!(at(yaml, &one.key("list").index(0)), (6, 9));
        assert_eq!(at(yaml, &one.key("absent").key("more")), (3, 3));
    }

    #[test]
    fn json_is_yaml() {
        let json = Node::parse(r#"{"a": [1, -2, 0.5, null, true, "x"]}"#).unwrap();
        let yaml = Node::parse("a:\n- 1\n- -2\n- 0.5\n- ~\n- true\n- x\n").unwrap();
        let items = |node: Node| match node.content {
            Content::Map(entries) => match &entries[0].value.content {
                Content::List(items) => items.iter().map(|i| i.content.clone()).collect(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        let items = (items(json), items(yaml));
        assert_eq!(items.0, items.1);
        assert_eq!(items.0.len(), 6);
    }

    #[test]
    fn anchors_and_merges_are_followed() {
        let yaml = "base: &base { a: 1, b: 2 }\nuse:\n  <<: *base\n  b: 3\n";
        let node = Node::parse(yaml).unwrap();
        let used = serde_json::Value::deserialize(&node).unwrap();
        assert_eq!(used["use"], serde_json::json!({"a": 1, "b": 3}));
    }

    #[test]
    fn broken_yaml_is_an_error_with_a_place() {
        for yaml in ["agents: [\n", "a: 1\na: 2\n", "a: 1\n---\nb: 1\n"] {
            let problem = Node::parse(yaml).unwrap_err();
            assert!(problem.at.line > 0, "{yaml:?}: {problem:?}");
        }
        let deep = "[".repeat(500) + &"]".repeat(500);
        assert!(Node::parse(&deep).is_err());
    }

    #[test]
    fn words_of_old_yaml_stay_text() {
        let node = Node::parse("[yes, off, 2026-01-01]").unwrap();
        let Content::List(items) = node.content else {
            panic!("no list")
        };
        assert!(items.iter().all(|item| item.kind() == "text"));
    }
}
