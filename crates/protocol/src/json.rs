//! JSON text that others wrote: how deep it is, and that it says each thing once.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Value};

/// How much of a member's name is shown.
const SHOWN_NAME: usize = 64;

/// Returns whether no value in the JSON text is nested deeper than `max`.
///
/// It reads the bytes once, without recursion and without checking that they are JSON, so a
/// hostile document costs nothing before it is refused. A scalar has depth 0, `[]` depth 1.
///
/// ```
/// use antiphon_protocol::depth_within;
///
/// assert!(depth_within(br#"{"a": ["[[[["]}"#, 2));
/// assert!(!depth_within(br#"{"a": [[]]}"#, 2));
/// ```
#[must_use]
pub fn depth_within(json: &[u8], max: usize) -> bool {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for byte in json {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => {
                depth += 1;
                if depth > max {
                    return false;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    true
}

/// Reads a JSON value in which no object has two members of one name.
///
/// JSON lets a name come twice and leaves it to each reader which of the two counts. What one
/// reader checked, another would then not see; here such a text is no value at all.
///
/// ```
/// use antiphon_protocol::{UniqueError, unique_json};
/// use serde_json::Deserializer;
///
/// let twice = r#"{"a": [{"b": 1, "b": 2}]}"#;
/// let read = unique_json(&mut Deserializer::from_str(twice));
/// assert!(matches!(read, Err(UniqueError::Repeated(path)) if path == "a[0].b"));
/// ```
///
/// # Errors
///
/// A member is there twice, or the deserializer fails.
pub fn unique_json<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Value, UniqueError<D::Error>> {
    let mut repeated = Repeated::default();
    let read = Unique(&mut repeated).deserialize(deserializer);
    read.map_err(|error| match repeated.path() {
        Some(path) => UniqueError::Repeated(path),
        None => UniqueError::Unreadable(error),
    })
}

/// Why a text is no JSON that says each thing once.
#[derive(Debug, thiserror::Error)]
pub enum UniqueError<E> {
    /// An object has two members of one name: the path of the second one, as in `resume[0].status`.
    #[error("{0} is there twice")]
    Repeated(String),
    /// It is not JSON.
    #[error("{0}")]
    Unreadable(E),
}

/// The place of a member that is there twice, from the inside out.
#[derive(Debug, Default)]
struct Repeated(Vec<Step>);

#[derive(Debug)]
enum Step {
    Member(String),
    Item(usize),
}

impl Repeated {
    fn found(&mut self, name: &str) {
        self.0.push(Step::member(name));
    }

    /// Names a container of the place, if there is one.
    fn within(&mut self, step: impl FnOnce() -> Step) {
        if !self.0.is_empty() {
            self.0.push(step());
        }
    }

    fn path(&self) -> Option<String> {
        let mut path = String::new();
        for step in self.0.iter().rev() {
            match step {
                Step::Member(name) if path.is_empty() => path.push_str(name),
                Step::Member(name) => {
                    path.push('.');
                    path.push_str(name);
                }
                Step::Item(index) => path.push_str(&format!("[{index}]")),
            }
        }
        (!self.0.is_empty()).then_some(path)
    }
}

impl Step {
    /// A name may be as long as the text; its beginning tells where to look.
    fn member(name: &str) -> Self {
        let end = name.floor_char_boundary(SHOWN_NAME);
        let shown = name.get(..end).unwrap_or_default();
        Self::Member(match end < name.len() {
            true => format!("{shown}…"),
            false => shown.to_owned(),
        })
    }
}

/// Reads what [`Value`] reads, and notes a member that is there twice.
struct Unique<'a>(&'a mut Repeated);

impl<'de> DeserializeSeed<'de> for Unique<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        loop {
            match items.next_element_seed(Unique(&mut *self.0)) {
                Ok(Some(item)) => list.push(item),
                Ok(None) => return Ok(Value::Array(list)),
                Err(error) => {
                    self.0.within(|| Step::Item(list.len()));
                    return Err(error);
                }
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            match object.entry(name) {
                Entry::Occupied(first) => {
                    self.0.found(first.key());
                    return Err(A::Error::custom("a member is there twice"));
                }
                Entry::Vacant(place) => match members.next_value_seed(Unique(&mut *self.0)) {
                    Ok(value) => {
                        place.insert(value);
                    }
                    Err(error) => {
                        self.0.within(|| Step::member(place.key()));
                        return Err(error);
                    }
                },
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Deserializer, Value, json};

    use super::{UniqueError, depth_within, unique_json};

    fn read(text: &str) -> Result<Value, UniqueError<serde_json::Error>> {
        unique_json(&mut Deserializer::from_str(text))
    }

    #[test]
    fn a_member_that_is_there_twice_is_named_by_its_place() {
        let long = "n".repeat(1000);
        for (text, place) in [
            (r#"{"a":1,"a":1}"#, "a"),
            (r#"{"a":1,"\u0061":2}"#, "a"),
            (r#"{"a":{"b":[0,{"c":1,"d":2,"c":3}]}}"#, "a.b[1].c"),
            (r#"[[{"a":{},"a":{}}]]"#, "[0][0].a"),
            (r#"{"":1,"":2}"#, ""),
            (r#"{"a":[1],"b":{"a":1,"a":2}}"#, "b.a"),
            (
                &format!(r#"{{"{long}":1,"{long}":2}}"#),
                &format!("{}…", &long[..64]),
            ),
        ] {
            match read(text) {
                Err(UniqueError::Repeated(path)) => assert_eq!(path, place, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        assert!(matches!(
            read(r#"{"a":{"b":1e999}}"#),
            Err(UniqueError::Unreadable(_))
        ));
    }

    #[test]
    fn whatever_says_each_thing_once_is_read_as_it_stands() {
        for text in [
            "null",
            "[]",
            "{}",
            r#"{"b":{"a":1},"a":[{"a":1},{"a":2}],"A":true,"":"x\ny"}"#,
            "[0,-0,-0.0,1.0,1e2,0.1,123456789.12345678,5e-324,1.7976931348623157e308]",
            "[9223372036854775807,-9223372036854775808,18446744073709551615]",
            "[18446744073709551616,-9223372036854775809,123456789012345678901234567890]",
        ] {
            let plain: Value = serde_json::from_str(text).unwrap();
            let read = read(text).unwrap();
            assert_eq!(read, plain, "{text}");
            assert_eq!(read.to_string(), plain.to_string(), "{text}");
        }
        // The words that a serde_json of another make hides numbers and texts behind are plain members.
        let text = r#"{"$serde_json::private::RawValue":"{\"a\":1}"}"#;
        let name = "$serde_json::private::RawValue";
        assert_eq!(read(text).unwrap(), json!({ name: "{\"a\":1}" }));
    }

    #[test]
    fn brackets_in_strings_do_not_count() {
        assert!(depth_within(br#""[[[[{{{{""#, 0));
        assert!(depth_within(br#"["\"[[[[", "\\"]"#, 1));
        assert!(!depth_within(br#"["\\", []]"#, 1));
    }

    #[test]
    fn the_limit_itself_is_within() {
        for depth in [0, 1, 2, 100] {
            let json = ["[".repeat(depth), "]".repeat(depth)].concat();
            assert!(depth_within(json.as_bytes(), depth));
            assert!(depth == 0 || !depth_within(json.as_bytes(), depth - 1));
        }
    }

    #[test]
    fn siblings_do_not_add_up_and_garbage_does_not_panic() {
        assert!(depth_within(b"[[],[],{},[{}]]", 3));
        assert!(depth_within(b"]]]]}}[", 1));
        assert!(depth_within(b"\xff\"\\", 0));
    }
}
