//! Between the vocabulary and its protobuf messages.

use antiphon_state::{Operation, Patch, Pointer};
use serde_json::Map;

use super::value::{Struct, Value};
use crate::wire::{Fault, Reader, Reading};
use crate::{EncryptedValueSubtype, ResumeStatus, TextRole};

/// A member of the vocabulary that is `P` in protobuf.
pub(super) trait Proto<P>: Sized {
    fn to_proto(&self) -> P;
    fn from_proto(proto: P, reader: &mut Reader) -> Reading<Self>;
}

/// What is the same on both sides.
macro_rules! same {
    ($($type:ty),*) => {
        $(impl Proto<Self> for $type {
            fn to_proto(&self) -> Self {
                self.clone()
            }

            fn from_proto(proto: Self, _reader: &mut Reader) -> Reading<Self> {
                Ok(proto)
            }
        })*
    };
}

same!(
    String,
    Option<String>,
    Option<bool>,
    Option<i64>,
    Vec<String>
);

impl Proto<Option<i64>> for Option<u64> {
    fn to_proto(&self) -> Option<i64> {
        self.and_then(|number| i64::try_from(number).ok())
    }

    fn from_proto(proto: Option<i64>, reader: &mut Reader) -> Reading<Self> {
        proto
            .map(|number| {
                u64::try_from(number).map_err(|_| reader.malformed("must not be negative"))
            })
            .transpose()
    }
}

/// Closed sets of strings; an empty string is how proto3 leaves one out.
macro_rules! named {
    ($($type:ident),*) => {
        $(impl Proto<String> for $type {
            fn to_proto(&self) -> String {
                self.as_str().to_owned()
            }

            fn from_proto(proto: String, reader: &mut Reader) -> Reading<Self> {
                Self::from_name(&proto)
                    .ok_or_else(|| reader.malformed(format!("is an unknown name {proto:?}")))
            }
        })*
    };
}

named!(EncryptedValueSubtype, ResumeStatus, TextRole);

impl Proto<Option<String>> for Option<TextRole> {
    fn to_proto(&self) -> Option<String> {
        self.as_ref().map(Proto::to_proto)
    }

    fn from_proto(proto: Option<String>, reader: &mut Reader) -> Reading<Self> {
        proto
            .map(|name| TextRole::from_proto(name, reader))
            .transpose()
    }
}

impl Proto<Option<Value>> for serde_json::Value {
    fn to_proto(&self) -> Option<Value> {
        Some(Value::from(self))
    }

    fn from_proto(proto: Option<Value>, reader: &mut Reader) -> Reading<Self> {
        proto
            .map(Self::from)
            .ok_or_else(|| reader.malformed("is required"))
    }
}

/// Optional JSON is never null.
impl Proto<Option<Value>> for Option<serde_json::Value> {
    fn to_proto(&self) -> Option<Value> {
        self.as_ref()
            .filter(|value| !value.is_null())
            .map(Value::from)
    }

    fn from_proto(proto: Option<Value>, reader: &mut Reader) -> Reading<Self> {
        let value = proto.map(serde_json::Value::from);
        if value.as_ref().is_some_and(serde_json::Value::is_null) {
            reader.warn("is null and read as absent");
            return Ok(None);
        }
        Ok(value)
    }
}

impl Proto<Option<Struct>> for Map<String, serde_json::Value> {
    fn to_proto(&self) -> Option<Struct> {
        Some(Struct::from(self))
    }

    fn from_proto(proto: Option<Struct>, reader: &mut Reader) -> Reading<Self> {
        proto
            .map(Self::from)
            .ok_or_else(|| reader.malformed("is required"))
    }
}

impl Proto<Option<Struct>> for Option<Map<String, serde_json::Value>> {
    fn to_proto(&self) -> Option<Struct> {
        self.as_ref().map(Struct::from)
    }

    fn from_proto(proto: Option<Struct>, _reader: &mut Reader) -> Reading<Self> {
        Ok(proto.map(Map::from))
    }
}

/// Some objects are declared as any JSON.
impl Proto<Option<Value>> for Option<Map<String, serde_json::Value>> {
    fn to_proto(&self) -> Option<Value> {
        self.as_ref()
            .map(|map| Value::from(&serde_json::Value::Object(map.clone())))
    }

    fn from_proto(proto: Option<Value>, reader: &mut Reader) -> Reading<Self> {
        match proto.map(serde_json::Value::from) {
            None => Ok(None),
            Some(serde_json::Value::Object(map)) => Ok(Some(map)),
            Some(_) => Err(reader.malformed("must be an object")),
        }
    }
}

/// Reads a list; an element of an unknown kind is left out.
pub(super) fn list_from<T, P>(
    list: Vec<P>,
    reader: &mut Reader,
    read: impl Fn(P, &mut Reader) -> Reading<T>,
) -> Reading<Vec<T>> {
    let mut values = Vec::with_capacity(list.len());
    for (index, element) in list.into_iter().enumerate() {
        match reader.at_index(index, |reader| read(element, reader)) {
            Ok(value) => values.push(value),
            Err(Fault::Unknown) => {}
            Err(malformed) => return Err(malformed),
        }
    }
    Ok(values)
}

/// Lists of messages.
macro_rules! lists {
    ($($type:ty => $proto:ty),* $(,)?) => {
        $(
            impl $crate::proto::convert::Proto<Vec<$proto>> for Vec<$type> {
                fn to_proto(&self) -> Vec<$proto> {
                    self.iter().map($crate::proto::convert::Proto::to_proto).collect()
                }

                fn from_proto(
                    proto: Vec<$proto>,
                    reader: &mut $crate::wire::Reader,
                ) -> $crate::wire::Reading<Self> {
                    $crate::proto::convert::list_from(
                        proto,
                        reader,
                        $crate::proto::convert::Proto::from_proto,
                    )
                }
            }
        )*
    };
}

pub(super) use lists;

/// An operation of a patch. Members that RFC 6902 does not know have no field.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct JsonPatchOperation {
    #[prost(int32, tag = "1")]
    op: i32,
    #[prost(string, tag = "2")]
    path: String,
    #[prost(string, optional, tag = "3")]
    from: Option<String>,
    #[prost(message, optional, tag = "4")]
    value: Option<Value>,
}

impl Proto<Vec<JsonPatchOperation>> for Patch {
    fn to_proto(&self) -> Vec<JsonPatchOperation> {
        self.iter().map(Proto::to_proto).collect()
    }

    fn from_proto(proto: Vec<JsonPatchOperation>, reader: &mut Reader) -> Reading<Self> {
        list_from(proto, reader, Proto::from_proto).map(Self::new)
    }
}

impl Proto<JsonPatchOperation> for Operation {
    fn to_proto(&self) -> JsonPatchOperation {
        let (op, from, value) = match self {
            Self::Add { value, .. } => (0, None, Some(value)),
            Self::Remove { .. } => (1, None, None),
            Self::Replace { value, .. } => (2, None, Some(value)),
            Self::Move { from, .. } => (3, Some(from), None),
            Self::Copy { from, .. } => (4, Some(from), None),
            Self::Test { value, .. } => (5, None, Some(value)),
        };
        JsonPatchOperation {
            op,
            path: self.path().to_string(),
            from: from.map(ToString::to_string),
            value: value.map(Value::from),
        }
    }

    fn from_proto(proto: JsonPatchOperation, reader: &mut Reader) -> Reading<Self> {
        let pointer = |text: String, reader: &mut Reader| {
            Pointer::parse(text)
                .map_err(|error| reader.malformed(format!("has a bad path: {error}")))
        };
        let path = pointer(proto.path, reader)?;
        let from = proto.from.map(|from| pointer(from, reader)).transpose()?;
        let value = proto.value.map(serde_json::Value::from);
        Ok(match (proto.op, from, value) {
            (0, _, Some(value)) => Self::Add { path, value },
            (1, _, _) => Self::Remove { path },
            (2, _, Some(value)) => Self::Replace { path, value },
            (3, Some(from), _) => Self::Move { from, path },
            (4, Some(from), _) => Self::Copy { from, path },
            (5, _, Some(value)) => Self::Test { path, value },
            (0..=5, _, _) => return Err(reader.malformed("lacks its value or its from")),
            _ => return Err(reader.unknown("is an unknown patch operation, which is dropped")),
        })
    }
}
