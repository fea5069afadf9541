//! Members that are not declared with a macro: strings, numbers, JSON, lists, patches.

use antiphon_state::{Operation, Patch};
use serde_json::{Map, Value};

use super::{Fault, Reader, Reading, Wire};

/// The largest integer that every JSON reader keeps exactly: 2^53 - 1.
const MAX_SAFE_INTEGER: i64 = 9_007_199_254_740_991;

const PATCH_OPERATIONS: [&str; 6] = ["add", "remove", "replace", "move", "copy", "test"];

impl Wire for String {
    fn from_wire(value: Value, reader: &mut Reader) -> Reading<Self> {
        match value {
            Value::String(text) => Ok(text),
            _ => Err(reader.malformed("must be a string")),
        }
    }
}

impl Wire for bool {
    fn from_wire(value: Value, reader: &mut Reader) -> Reading<Self> {
        value
            .as_bool()
            .ok_or_else(|| reader.malformed("must be true or false"))
    }
}

impl Wire for i64 {
    fn from_wire(value: Value, reader: &mut Reader) -> Reading<Self> {
        integer(&value)
            .filter(|number| number.abs() <= MAX_SAFE_INTEGER)
            .ok_or_else(|| reader.malformed("must be an integer within 2^53 - 1"))
    }
}

impl Wire for u64 {
    fn from_wire(value: Value, reader: &mut Reader) -> Reading<Self> {
        integer(&value)
            .filter(|number| (0..=MAX_SAFE_INTEGER).contains(number))
            .and_then(|number| Self::try_from(number).ok())
            .ok_or_else(|| reader.malformed("must be an integer from 0 to 2^53 - 1"))
    }
}

/// Reads an integer; in JSON `2.0` is one as well.
fn integer(value: &Value) -> Option<i64> {
    if let Some(number) = value.as_i64() {
        return Some(number.max(-i64::MAX));
    }
    let number = value.as_f64()?;
    let limit = 9_007_199_254_740_991.0;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a whole number within 2^53"
    )]
    (number.fract() == 0.0 && number.abs() <= limit).then_some(number as i64)
}

impl Wire for Value {
    const NULL_IS_ABSENT: bool = true;

    fn from_wire(value: Value, _reader: &mut Reader) -> Reading<Self> {
        Ok(value)
    }

    fn is_null(&self) -> bool {
        Self::is_null(self)
    }
}

impl Wire for Map<String, Value> {
    fn from_wire(value: Value, reader: &mut Reader) -> Reading<Self> {
        reader.object(value).map(|object| object.0)
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn from_wire(value: Value, reader: &mut Reader) -> Reading<Self> {
        let Value::Array(elements) = value else {
            return Err(reader.malformed("must be an array"));
        };
        let mut list = Self::with_capacity(elements.len());
        for (index, element) in elements.into_iter().enumerate() {
            match reader.at_index(index, |reader| T::from_wire(element, reader)) {
                Ok(element) => list.push(element),
                Err(Fault::Unknown) => {}
                Err(malformed) => return Err(malformed),
            }
        }
        Ok(list)
    }
}

impl<T: Wire> Wire for Box<T> {
    fn from_wire(value: Value, reader: &mut Reader) -> Reading<Self> {
        T::from_wire(value, reader).map(Self::new)
    }
}

impl Wire for Patch {
    fn from_wire(value: Value, reader: &mut Reader) -> Reading<Self> {
        Vec::<Operation>::from_wire(value, reader).map(Self::new)
    }
}

impl Wire for Operation {
    fn from_wire(value: Value, reader: &mut Reader) -> Reading<Self> {
        match value.get("op") {
            Some(Value::String(op)) if !PATCH_OPERATIONS.contains(&op.as_str()) => {
                Err(reader.unknown("is an unknown patch operation, which is dropped"))
            }
            _ => serde_json::from_value(value)
                .map_err(|error| reader.malformed(format!("is not a patch operation: {error}"))),
        }
    }
}
