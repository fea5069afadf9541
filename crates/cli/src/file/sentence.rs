//! Sentences about agents, which begin with where in the file something is wrong.

use super::path::{KeyPath, Segment};
use super::tree::{Content, Node, Text};

/// Splits `agents.a: state.predict[0]: what` or `agents.a: tool "t": parameters: what` into the key
/// path and the rest. Keys that are missing in the file count as far as they name what is missing
/// inside a value that is there.
pub(super) fn split(tree: &Node, sentence: &str) -> (KeyPath, String) {
    let (mut path, mut node, mut rest) = (Vec::new(), tree, sentence);
    loop {
        let found = tool(node, rest).or_else(|| keys(node, rest));
        let Some((mut steps, next, after)) = found else {
            break;
        };
        path.append(&mut steps);
        (node, rest) = (next, after);
    }
    (KeyPath::from(path), without_variables(node, rest))
}

type Found<'a, 's> = (Vec<Segment>, &'a Node, &'s str);

/// `tool "name": `, where an agent's tools have it.
fn tool<'a, 's>(agent: &'a Node, text: &'s str) -> Option<Found<'a, 's>> {
    let text = text.strip_prefix("tool ")?;
    let Content::List(tools) = &member(agent, "tools")?.content else {
        return None;
    };
    tools.iter().enumerate().find_map(|(index, tool)| {
        let Content::Text(Text { text: name, .. }) = &member(tool, "name")?.content else {
            return None;
        };
        let after = text.strip_prefix(&format!("{name:?}: "))?;
        // Where the next words are no key, the sentence needs the tool's name.
        keys(tool, after)?;
        let steps = vec![Segment::Key("tools".to_owned()), Segment::Index(index)];
        Some((steps, tool, after))
    })
}

/// A key path and its colon.
fn keys<'a, 's>(node: &'a Node, text: &'s str) -> Option<Found<'a, 's>> {
    let (mut steps, mut node, mut rest) = (Vec::new(), node, text);
    while let Some((segment, next, after)) = step(node, rest) {
        steps.push(segment);
        (node, rest) = (next, after);
    }
    if let Some(after) = rest.strip_prefix(": ") {
        return (!steps.is_empty()).then_some((steps, node, after));
    }
    let (missing, after) = rest.strip_prefix('.')?.split_once(": ")?;
    let is_key = missing
        .chars()
        .all(|letter| letter.is_ascii_lowercase() || letter == '_');
    steps.push(Segment::Key(missing.to_owned()));
    (is_key && steps.len() > 1).then_some((steps, node, after))
}

/// The child that this text begins with, and the text after it.
fn step<'a, 's>(node: &'a Node, text: &'s str) -> Option<(Segment, &'a Node, &'s str)> {
    match &node.content {
        Content::Map(entries) => {
            let text = text.strip_prefix('.').unwrap_or(text);
            // The longest key wins, as a name may hold a dot.
            let ends = |rest: &str| rest.starts_with(['.', '[', ':']);
            let fits = entries.iter().filter_map(|entry| {
                let rest = text.strip_prefix(entry.key.as_str())?;
                ends(rest).then_some((entry, rest))
            });
            let (entry, rest) = fits.max_by_key(|(entry, _)| entry.key.len())?;
            Some((Segment::Key(entry.key.clone()), &entry.value, rest))
        }
        Content::List(items) => {
            let (index, rest) = text.strip_prefix('[')?.split_once(']')?;
            let index: usize = index.parse().ok()?;
            Some((Segment::Index(index), items.get(index)?, rest))
        }
        _ => None,
    }
}

/// What is wrong, without a value that a variable filled in: `/pointer: what` may quote one.
fn without_variables(node: &Node, what: &str) -> String {
    let pointed = what
        .split_once(": ")
        .filter(|(place, _)| place.starts_with('/'));
    let Some((place, _)) = pointed else {
        return what.to_owned();
    };
    let mut inner = node;
    for token in place.split('/').skip(1) {
        let key = token.replace("~1", "/").replace("~0", "~");
        match child(inner, &key) {
            Some(next) => inner = next,
            None => break,
        }
    }
    if is_filled(inner) {
        format!("{place}: the variable's value does not fit here")
    } else {
        what.to_owned()
    }
}

fn child<'a>(node: &'a Node, key: &str) -> Option<&'a Node> {
    match &node.content {
        Content::List(items) => items.get(key.parse::<usize>().ok()?),
        _ => member(node, key),
    }
}

fn member<'a>(node: &'a Node, key: &str) -> Option<&'a Node> {
    let Content::Map(entries) = &node.content else {
        return None;
    };
    let entry = entries.iter().find(|entry| entry.key == key)?;
    Some(&entry.value)
}

/// Whether a variable filled in a part of a value.
pub(super) fn is_filled(node: &Node) -> bool {
    match &node.content {
        Content::Text(text) => text.filled,
        Content::List(items) => items.iter().any(is_filled),
        Content::Map(entries) => entries.iter().any(|entry| is_filled(&entry.value)),
        Content::Null | Content::Bool(_) | Content::Number(_) => false,
    }
}
