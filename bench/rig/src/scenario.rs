//! What the mock provider plays, named in the user's message: `text-200`, `recipe-64k`, `document-200k`,
//! each also with a pace: `text-200-d10` puts 10 ms before every chunk.

use std::fmt::Write;
use std::time::Duration;

/// Characters of an argument chunk: about what a model's token holds.
const CHUNK: usize = 4;

/// What the model does in its first turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Turn {
    /// So many text chunks.
    Text(usize),
    /// One `update_recipe` call of about so many bytes: an object of many small leaves.
    Recipe(usize),
    /// One `write_document` call of about so many bytes: one long string.
    Document(usize),
}

/// A turn and its pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scenario {
    pub turn: Turn,
    /// Time before each chunk; zero sends as fast as the reader takes it.
    pub pace: Duration,
}

impl Scenario {
    /// The first scenario that a text names.
    pub fn find(text: &str) -> Option<Self> {
        text.split_whitespace().find_map(Self::parse)
    }

    fn parse(name: &str) -> Option<Self> {
        let mut parts = name.split('-');
        let (kind, amount) = (parts.next()?, amount(parts.next()?)?);
        let turn = match kind {
            "text" => Turn::Text(amount),
            "recipe" => Turn::Recipe(amount),
            "document" => Turn::Document(amount),
            _ => return None,
        };
        let pace = match parts.next() {
            Some(part) => part.strip_prefix('d')?.parse().ok()?,
            None => 0,
        };
        Some(Self { turn, pace: Duration::from_millis(pace) })
    }
}

fn amount(text: &str) -> Option<usize> {
    match text.strip_suffix('k') {
        Some(thousands) => Some(thousands.parse::<usize>().ok()? * 1024),
        None => text.parse().ok(),
    }
}

impl Turn {
    /// The tool that the turn calls, and its arguments.
    pub fn call(self) -> Option<(&'static str, String)> {
        match self {
            Self::Text(_) => None,
            Self::Recipe(size) => Some(("update_recipe", recipe(size))),
            Self::Document(size) => Some(("write_document", document(size))),
        }
    }
}

/// Text in pieces as small as a model's tokens, never inside a character.
pub fn chunks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(CHUNK).map_or(rest.len(), |(at, _)| at);
        let (chunk, tail) = rest.split_at(end);
        rest = tail;
        (!chunk.is_empty()).then_some(chunk)
    })
}

fn recipe(size: usize) -> String {
    const WHAT: [&str; 4] = ["🥕 carrot", "🧄 garlic", "San Marzano tomato", "basil"];
    let mut text = String::from(r#"{"recipe":{"title":"Slow \"Sunday\" ragù","cooking_time":"45 min","ingredients":["#);
    let mut list = |until: usize, close: &str, entry: &dyn Fn(usize) -> String| {
        for n in 0.. {
            if n > 0 && text.len() >= until {
                break;
            }
            let comma = if n > 0 { "," } else { "" };
            let _ = write!(text, "{comma}{}", entry(n));
        }
        text.push_str(close);
    };
    list(size / 2, r#"],"instructions":["#, &|n| {
        format!(r#"{{"name":"{} {n}","amount":{},"fresh":{}}}"#, WHAT[n % 4], 10 + n % 90, n % 2 == 0)
    });
    list(size - 3, "]}}", &|n| format!(r#""{}. Fry over medium heat until golden, stirring all the time""#, n + 1));
    text
}

fn document(size: usize) -> String {
    let mut text = String::from(r##"{"document":"# Slow Sunday ragù"##);
    for n in 1.. {
        if text.len() + 2 >= size {
            break;
        }
        let _ = write!(text, r"\n{n}. Stir *gently*, taste, and wait a little longer than seems right.");
    }
    text.push_str(r#""}"#);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_json_of_about_the_asked_size() {
        for turn in [Turn::Recipe(4096), Turn::Recipe(65536), Turn::Document(4096), Turn::Document(200 * 1024)] {
            let (_, text) = turn.call().expect("a call");
            let (Turn::Recipe(size) | Turn::Document(size)) = turn else { unreachable!() };
            assert!(text.len() >= size && text.len() < size + 128, "{turn:?}: {}", text.len());
            assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
            assert_eq!(chunks(&text).collect::<String>(), text);
        }
    }

    #[test]
    fn a_scenario_is_found_by_its_name() {
        let found = Scenario::find("Please play recipe-64k-d10 now");
        assert_eq!(found, Some(Scenario { turn: Turn::Recipe(65536), pace: Duration::from_millis(10) }));
        assert_eq!(Scenario::find("some-model"), None);
    }
}
