//! Reads a call's arguments, with errors that a model can act on.

use std::fmt::{self, Display};

use antiphon_agent::ToolError;
use serde::de::{DeserializeOwned, DeserializeSeed, IntoDeserializer, MapAccess, Visitor};
use serde_json::{Map, Value, map};

/// Reads the arguments of a call as a struct.
///
/// # Errors
/// When an argument is missing or is not what its type expects; the message names the argument.
pub fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, ToolError> {
    match arguments {
        Value::Object(members) => T::deserialize(Arguments(members)).map_err(ToolError::new),
        _ => Err(ToolError::new("the arguments are not an object")),
    }
}

/// Arguments that serde reads member by member.
struct Arguments(Map<String, Value>);

impl<'de> serde::Deserializer<'de> for Arguments {
    type Error = Unread;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        visitor.visit_map(Members {
            rest: self.0.into_iter(),
            current: None,
        })
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

struct Members {
    rest: map::IntoIter,
    current: Option<(String, Value)>,
}

impl<'de> MapAccess<'de> for Members {
    type Error = Unread;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Unread> {
        self.current = self.rest.next();
        match &self.current {
            Some((name, _)) => seed
                .deserialize(name.as_str().into_deserializer())
                .map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Unread> {
        let Some((name, value)) = self.current.take() else {
            return Err(serde::de::Error::custom("there is no further argument"));
        };
        seed.deserialize(value)
            .map_err(|error| Unread(format!("argument {name:?}: {error}")))
    }
}

/// Why arguments can't be read.
#[derive(Debug)]
struct Unread(String);

impl Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unread {}

impl serde::de::Error for Unread {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }

    fn missing_field(name: &'static str) -> Self {
        Self(format!("argument {name:?} is missing"))
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::read;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Order {
        id: u32,
        note: Option<String>,
        #[serde(default)]
        rush: bool,
    }

    fn message(arguments: serde_json::Value) -> String {
        read::<Order>(arguments).unwrap_err().to_string()
    }

    #[test]
    fn what_may_be_left_out_may_be_left_out() {
        let order: Order = read(json!({ "id": 7, "unknown": [] })).unwrap();
        assert_eq!(
            order,
            Order {
                id: 7,
                note: None,
                rush: false
            }
        );
    }

    #[test]
    fn a_missing_argument_is_named() {
        assert_eq!(
            message(json!({ "note": "x" })),
            "argument \"id\" is missing"
        );
    }

    #[test]
    fn an_argument_of_another_type_is_named() {
        let text = "argument \"id\": invalid type: string \"seven\", expected u32";
        assert_eq!(message(json!({ "id": "seven" })), text);
        assert_eq!(message(json!([])), "the arguments are not an object");
    }
}
