//! `google.protobuf.Value`: free JSON. Members keep their order.

use serde_json::{Map, Number};

/// Whole numbers up to here are the same as a double.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Value {
    #[prost(oneof = "Kind", tags = "1, 2, 3, 4, 5, 6")]
    kind: Option<Kind>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Kind {
    #[prost(int32, tag = "1")]
    Null(i32),
    #[prost(double, tag = "2")]
    Number(f64),
    #[prost(string, tag = "3")]
    String(String),
    #[prost(bool, tag = "4")]
    Bool(bool),
    #[prost(message, tag = "5")]
    Struct(Struct),
    #[prost(message, tag = "6")]
    List(List),
}

/// `google.protobuf.Struct`. A map is a list of entries on the wire.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Struct {
    #[prost(message, repeated, tag = "1")]
    fields: Vec<Entry>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Entry {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<Value>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct List {
    #[prost(message, repeated, tag = "1")]
    values: Vec<Value>,
}

impl From<&serde_json::Value> for Value {
    fn from(value: &serde_json::Value) -> Self {
        let kind = match value {
            serde_json::Value::Null => Kind::Null(0),
            serde_json::Value::Bool(value) => Kind::Bool(*value),
            serde_json::Value::Number(number) => Kind::Number(number.as_f64().unwrap_or(0.0)),
            serde_json::Value::String(text) => Kind::String(text.clone()),
            serde_json::Value::Array(list) => Kind::List(List {
                values: list.iter().map(Self::from).collect(),
            }),
            serde_json::Value::Object(map) => Kind::Struct(Struct::from(map)),
        };
        Self { kind: Some(kind) }
    }
}

impl From<&Map<String, serde_json::Value>> for Struct {
    fn from(map: &Map<String, serde_json::Value>) -> Self {
        let entry = |(key, value): (&String, _)| Entry {
            key: key.clone(),
            value: Some(Value::from(value)),
        };
        Self {
            fields: map.iter().map(entry).collect(),
        }
    }
}

impl From<Value> for serde_json::Value {
    fn from(value: Value) -> Self {
        match value.kind {
            None | Some(Kind::Null(_)) => Self::Null,
            Some(Kind::Bool(value)) => Self::Bool(value),
            Some(Kind::Number(number)) => number_value(number),
            Some(Kind::String(text)) => Self::String(text),
            Some(Kind::List(list)) => list.values.into_iter().map(Self::from).collect(),
            Some(Kind::Struct(map)) => Self::Object(map.into()),
        }
    }
}

impl From<Struct> for Map<String, serde_json::Value> {
    fn from(map: Struct) -> Self {
        let value = |value: Option<Value>| value.map_or(serde_json::Value::Null, Into::into);
        map.fields
            .into_iter()
            .map(|entry| (entry.key, value(entry.value)))
            .collect()
    }
}

/// A whole number is written without a fraction, as whoever encoded it meant it. JSON has no
/// infinities; null is what JavaScript writes for them.
fn number_value(number: f64) -> serde_json::Value {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a whole number within 2^53"
    )]
    if number.fract() == 0.0 && number.abs() <= MAX_EXACT {
        return serde_json::Value::Number(Number::from(number as i64));
    }
    Number::from_f64(number).map_or(serde_json::Value::Null, serde_json::Value::Number)
}
