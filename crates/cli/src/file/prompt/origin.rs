//! Where in a declared agent the values of the file made of it come from.

use serde_json::Value;

use super::super::error::Problem;
use super::super::path::{KeyPath, Segment};
use super::super::tree::{Content, Entry, Node, Position, Text};

/// Our keys in sentences, and those of a declared agent.
const WORDS: [(&str, &str); 4] = [
    (
        "the key \"name\" is missing: the model's name",
        "the key \"id\" is empty: the model's name",
    ),
    ("`api_key`", "`connection.apiKey`"),
    ("`base_url`", "`connection.endpoint`"),
    ("model's base_url", "model's endpoint"),
];

/// A problem of the file that was made, as one of the declared agent that it was made of.
pub(in super::super) fn located(problem: Problem, written: &Node) -> Problem {
    let path = origin(&problem.path, written);
    let what = WORDS
        .iter()
        .fold(problem.what, |what, (our, their)| what.replace(our, their));
    Problem::new(written.position(&path), path, what)
}

/// A value of the file that is made. What a variable filled in stays known as such.
pub(super) fn node(value: Value, path: &KeyPath, written: &Node) -> Node {
    let content = match value {
        Value::Null => Content::Null,
        Value::Bool(value) => Content::Bool(value),
        Value::Number(number) => Content::Number(number),
        Value::String(text) => Content::Text(text_of(text, path, written)),
        Value::Array(items) => {
            let items = items.into_iter().enumerate();
            Content::List(
                items
                    .map(|(at, item)| node(item, &path.index(at), written))
                    .collect(),
            )
        }
        Value::Object(members) => Content::Map(
            members
                .into_iter()
                .map(|(key, value)| Entry {
                    at: Position::default(),
                    value: node(value, &path.key(&key), written),
                    key,
                })
                .collect(),
        ),
    };
    Node {
        at: Position::default(),
        content,
    }
}

fn text_of(text: String, path: &KeyPath, written: &Node) -> Text {
    match written
        .get(&origin(path, written))
        .map(|node| &node.content)
    {
        Some(Content::Text(from)) => Text {
            text,
            ..from.clone()
        },
        // Of a text without an origin nothing is known, so no error quotes it.
        _ => Text {
            text,
            filled: true,
            variables: Vec::new(),
        },
    }
}

/// The path in the declared agent of a value in the file that was made, as far as there is one.
fn origin(path: &KeyPath, written: &Node) -> KeyPath {
    let [Segment::Key(agents), _, inner @ ..] = path.segments() else {
        return path.clone();
    };
    if agents != "agents" {
        return path.clone();
    }
    match inner {
        [Segment::Key(model), inner @ ..] if model == "model" => of_model(inner, written),
        [Segment::Key(tools), inner @ ..] if tools == "tools" => of_tools(inner),
        inner => KeyPath::from(inner.to_vec()),
    }
}

fn of_model(inner: &[Segment], written: &Node) -> KeyPath {
    let model = KeyPath::default().key("model");
    let either = |path: KeyPath, one: &str, other: &str| match written.get(&path.key(other)) {
        Some(_) => path.key(other),
        None => path.key(one),
    };
    let [Segment::Key(key), inner @ ..] = inner else {
        return model;
    };
    match (key.as_str(), inner) {
        ("provider", _) => model.key("provider"),
        ("name", _) => model.key("id"),
        ("api_key", _) => either(model.key("connection"), "apiKey", "key"),
        ("base_url", _) => model.key("connection").key("endpoint"),
        ("parameters", [Segment::Key(option)]) => {
            let options = model.key("options");
            match option.as_str() {
                "top_p" => options.key("topP"),
                "max_output_tokens" => either(options, "maxOutputTokens", "maxTokens"),
                same => options.key(same),
            }
        }
        _ => model,
    }
}

/// In a schema, `type` is written `kind`, and `required` beside it.
fn of_tools(inner: &[Segment]) -> KeyPath {
    let mut path = KeyPath::default().key("tools");
    for segment in inner {
        path = match segment {
            Segment::Index(index) => path.index(*index),
            Segment::Key(key) => path.key(if key == "type" { "kind" } else { key }),
        };
    }
    path
}
