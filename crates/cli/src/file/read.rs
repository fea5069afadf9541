//! Reads typed entries from the [tree](super::tree), with the place and key path of every error.
//!
//! The entries are plain serde types with `deny_unknown_fields`; what serde says about them is put
//! into the words of an agent file here, in one place. No error quotes a value that a variable filled in.

use std::fmt;

use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, Expected, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;

use super::error::{Problem, did_you_mean, one_of};
use super::path::{KeyPath, Segment};
use super::tree::{Content, Entry, Node, Position, Text};

/// Reads a value of type `T`.
///
/// # Errors
/// The first thing that does not fit.
pub(crate) fn read<T: DeserializeOwned>(node: &Node) -> Result<T, Problem> {
    T::deserialize(node).map_err(|error| error.at(node.at).into_problem())
}

/// Why a tree does not fit a type. The path grows from the inside out.
#[derive(Debug)]
pub(crate) struct ReadError {
    what: What,
    at: Option<Position>,
    inner_to_outer: Vec<Segment>,
    hidden: bool,
}

#[derive(Debug)]
enum What {
    Message(String),
    UnknownValue {
        value: String,
        known: &'static [&'static str],
    },
}

impl ReadError {
    fn new(what: impl Into<String>) -> Self {
        Self::of(What::Message(what.into()))
    }

    fn of(what: What) -> Self {
        Self {
            what,
            at: None,
            inner_to_outer: Vec::new(),
            hidden: false,
        }
    }

    fn at(mut self, at: Position) -> Self {
        self.at.get_or_insert(at);
        self
    }

    fn within(mut self, segment: Segment) -> Self {
        self.inner_to_outer.push(segment);
        self
    }

    fn about(mut self, node: &Node) -> Self {
        self.hidden |= matches!(&node.content, Content::Text(text) if text.filled);
        self.at(node.at)
    }

    fn into_problem(self) -> Problem {
        let what = self.to_string();
        let mut segments = self.inner_to_outer;
        segments.reverse();
        Problem::new(self.at.unwrap_or_default(), KeyPath::from(segments), what)
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            What::Message(message) => f.write_str(message),
            What::UnknownValue { known, .. } if self.hidden => {
                write!(
                    f,
                    "the variable's value is none of {}",
                    one_of(known.iter().copied())
                )
            }
            What::UnknownValue { value, known } => {
                let hint = did_you_mean(value, known.iter().copied());
                write!(
                    f,
                    "{value:?} is none of {}{hint}",
                    one_of(known.iter().copied())
                )
            }
        }
    }
}

impl std::error::Error for ReadError {}

impl de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let (expected, found) = (wanted(expected), words_for(found));
        let quotes = match (expected.as_str(), found) {
            ("text", "a number" | "true or false") => "; put it in quotes",
            _ => "",
        };
        Self::new(format!("expected {expected}, found {found}{quotes}"))
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(format!("expected {}", wanted(expected)))
    }

    fn unknown_variant(value: &str, known: &'static [&'static str]) -> Self {
        let value = value.to_owned();
        Self::of(What::UnknownValue { value, known })
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Self {
        let hint = did_you_mean(key, known.iter().copied());
        if hint.is_empty() && !known.is_empty() {
            let known = known.join(", ");
            return Self::new(format!("unknown key {key:?}; the keys here are {known}"));
        }
        Self::new(format!("unknown key {key:?}{hint}"))
    }

    fn missing_field(key: &'static str) -> Self {
        Self::new(format!("the key {key:?} is missing"))
    }

    fn duplicate_field(key: &'static str) -> Self {
        Self::new(format!("the key {key:?} is there twice"))
    }
}

/// What a type wants, in the words of a file.
fn wanted(expected: &dyn Expected) -> String {
    let expected = expected.to_string();
    let words = match expected.as_str() {
        "u32" => "a whole number from 0 to 4294967295",
        "a nonzero u32" => "a whole number from 1 to 4294967295",
        "u8" | "u16" | "u64" | "usize" => "a whole number of at least 0",
        "a nonzero usize" => "a whole number of at least 1",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a string" => "text",
        "a sequence" => "a list",
        "a map" => "a mapping",
        other if other.starts_with("struct ") => "a mapping",
        other => other,
    };
    words.to_owned()
}

/// What was found, without the value itself.
fn words_for(found: Unexpected<'_>) -> &'static str {
    match found {
        Unexpected::Bool(_) => "true or false",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) | Unexpected::Float(_) => "a number",
        Unexpected::Str(_) | Unexpected::Char(_) => "text",
        Unexpected::Unit | Unexpected::Option => "nothing",
        Unexpected::Seq => "a list",
        Unexpected::Map => "a mapping",
        _ => "something else",
    }
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let read = match &self.content {
            Content::Null => visitor.visit_unit(),
            Content::Bool(value) => visitor.visit_bool(*value),
            Content::Number(number) => visit_number(number, visitor),
            Content::Text(Text { text, .. }) => visitor.visit_borrowed_str(text),
            Content::List(items) => visitor.visit_seq(Items {
                rest: items.iter().enumerate(),
            }),
            Content::Map(entries) => visitor.visit_map(Entries {
                rest: entries.iter(),
                value: None,
            }),
        };
        read.map_err(|error| error.about(self))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.content {
            Content::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    /// Lists are no mappings here, although serde would take one for a struct.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match self.content {
            Content::List(_) => {
                let what = "expected a mapping, found a list";
                Err(ReadError::new(what).about(self))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let read = match &self.content {
            Content::Text(Text { text, .. }) => {
                visitor.visit_enum(text.as_str().into_deserializer())
            }
            _ => Err(ReadError::new(format!(
                "expected {}, found {}",
                one_of(variants.iter().copied()),
                self.kind()
            ))),
        };
        read.map_err(|error| error.about(self))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

fn visit_number<'de, V: Visitor<'de>>(
    number: &serde_json::Number,
    visitor: V,
) -> Result<V::Value, ReadError> {
    if let Some(number) = number.as_u64() {
        visitor.visit_u64(number)
    } else if let Some(number) = number.as_i64() {
        visitor.visit_i64(number)
    } else {
        visitor.visit_f64(number.as_f64().unwrap_or(f64::NAN))
    }
}

struct Items<'de> {
    rest: std::iter::Enumerate<std::slice::Iter<'de, Node>>,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ReadError> {
        let Some((index, item)) = self.rest.next() else {
            return Ok(None);
        };
        let read = seed.deserialize(item);
        read.map(Some)
            .map_err(|error| error.at(item.at).within(Segment::Index(index)))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

struct Entries<'de> {
    rest: std::slice::Iter<'de, Entry>,
    value: Option<&'de Entry>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ReadError> {
        self.value = self.rest.next();
        let Some(entry) = self.value else {
            return Ok(None);
        };
        seed.deserialize(entry.key.as_str().into_deserializer())
            .map(Some)
            .map_err(|error: ReadError| error.at(entry.at))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, ReadError> {
        let Some(entry) = self.value.take() else {
            return Err(ReadError::new("a value was read without its key"));
        };
        seed.deserialize(&entry.value).map_err(|error| {
            error
                .at(entry.value.at)
                .within(Segment::Key(entry.key.clone()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "the members are read, not used")]
    struct Dish {
        name: String,
        #[serde(default)]
        minutes: Option<u32>,
        #[serde(default)]
        steps: Vec<Step>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Step {
        Boil,
        Fry,
    }

    fn problem(yaml: &str) -> String {
        let problem = read::<Dish>(&Node::parse(yaml).unwrap()).unwrap_err();
        let Position { line, column } = problem.at;
        format!("{line}:{column}: {}: {}", problem.path, problem.what)
    }

    #[test]
    fn errors_name_place_path_and_remedy() {
        let table = [
            (
                "name: x\nminuts: 3\n",
                "2:1: : unknown key \"minuts\" (did you mean \"minutes\"?)",
            ),
            (
                "name: x\ncolour: 3\n",
                "2:1: : unknown key \"colour\"; the keys here are name, minutes, steps",
            ),
            ("minutes: 3\n", "1:1: : the key \"name\" is missing"),
            (
                "name: x\nminutes: many\n",
                "2:10: minutes: expected a whole number from 0 to 4294967295, found text",
            ),
            (
                "name: x\nminutes: -1\n",
                "2:10: minutes: expected a whole number from 0 to 4294967295",
            ),
            (
                "name: 7\n",
                "1:7: name: expected text, found a number; put it in quotes",
            ),
            (
                "name: x\nsteps:\n  - boil\n  - fryy\n",
                "4:5: steps[1]: \"fryy\" is none of boil or fry (did you mean \"fry\"?)",
            ),
            (
                "name: x\nsteps: [3]\n",
                "2:9: steps[0]: expected boil or fry, found a number",
            ),
            ("[1]", "1:1: : expected a mapping, found a list"),
        ];
        for (yaml, expected) in table {
            assert_eq!(problem(yaml), expected, "{yaml}");
        }
    }
}
