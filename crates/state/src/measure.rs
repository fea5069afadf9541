//! What can be measured on a JSON value without changing it: equality, depth, written size.

use std::io;

use serde::Serialize;
use serde_json::{Number, Value};

/// The most arrays and objects that may lie within each other.
///
/// It is the depth that `serde_json` reads back; a deeper document could be written but not read.
pub const MAX_DEPTH: usize = 127;

/// Says whether two values are equal as JSON: members in any order, and `1` equals `1.0`.
///
/// `Value`'s own `==` tells `1` from `1.0`, which RFC 6902 does not.
///
/// ```
/// use antiphon_state::json_eq;
/// use serde_json::json;
///
/// assert!(json_eq(&json!({"a": 1, "b": []}), &json!({"b": [], "a": 1.0})));
/// assert!(!json_eq(&json!(1), &json!("1")));
/// ```
#[must_use]
pub fn json_eq(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => number_eq(left, right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(l, r)| json_eq(l, r))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, l)| right.get(key).is_some_and(|r| json_eq(l, r)))
        }
        _ => left == right,
    }
}

fn number_eq(left: &Number, right: &Number) -> bool {
    match (integer(left), integer(right)) {
        (Some(left), Some(right)) => left == right,
        (None, None) => left.as_f64() == right.as_f64(),
        _ => false,
    }
}

/// Returns the number as an integer if it is a whole one that fits.
///
/// A float beyond 2^64 in size has no equal among the integers that a `Number` holds, so it
/// stays a float.
fn integer(number: &Number) -> Option<i128> {
    const LARGEST: f64 = (1_u128 << 64) as f64;
    if let Some(whole) = number.as_i128() {
        return Some(whole);
    }
    let float = number.as_f64()?;
    let fits = float.fract() == 0.0 && float.abs() <= LARGEST;
    fits.then_some(float as i128)
}

/// Says whether at most `limit` arrays and objects lie within each other.
pub(crate) fn is_within_depth(value: &Value, limit: usize) -> bool {
    let deeper = |child: &Value| limit > 0 && is_within_depth(child, limit - 1);
    match value {
        Value::Array(elements) => limit > 0 && elements.iter().all(deeper),
        Value::Object(members) => limit > 0 && members.values().all(deeper),
        _ => true,
    }
}

/// Returns the number of bytes of the value written as compact JSON.
pub(crate) fn json_len(value: &impl Serialize) -> usize {
    let mut count = Count {
        bytes: 0,
        limit: usize::MAX,
    };
    // Counting to no limit does not fail, and JSON values have nothing that cannot be written.
    let _ = serde_json::to_writer(&mut count, value);
    count.bytes
}

/// Says whether the value takes at most `limit` bytes as compact JSON, and stops counting there.
pub(crate) fn fits_in(value: &impl Serialize, limit: usize) -> bool {
    let mut count = Count { bytes: 0, limit };
    serde_json::to_writer(&mut count, value).is_ok()
}

/// A writer that counts, and fails beyond its limit.
struct Count {
    bytes: usize,
    limit: usize,
}

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len();
        if self.bytes > self.limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whole_floats_equal_integers() {
        assert!(json_eq(&json!(1), &json!(1.0)));
        assert!(json_eq(&json!(-0.0), &json!(0)));
        assert!(json_eq(&json!([{"a": 2e3}]), &json!([{"a": 2000}])));
        assert!(!json_eq(&json!(1), &json!(1.5)));
    }

    #[test]
    fn big_integers_are_not_compared_as_floats() {
        assert!(!json_eq(
            &json!(9_007_199_254_740_993_u64),
            &json!(9_007_199_254_740_992.0)
        ));
        assert!(!json_eq(&json!(u64::MAX), &json!(2f64.powi(64))));
        assert!(json_eq(&json!(1e300), &json!(1e300)));
    }

    #[test]
    fn kinds_are_not_mixed() {
        assert!(!json_eq(&json!(true), &json!(1)));
        assert!(!json_eq(&json!(null), &json!(false)));
        assert!(!json_eq(&json!({"a": null}), &json!({"b": null})));
    }

    #[test]
    fn depth_counts_arrays_and_objects() {
        assert!(is_within_depth(&json!("x"), 0));
        assert!(is_within_depth(&json!([{"a": 1}]), 2));
        assert!(!is_within_depth(&json!([{"a": []}]), 2));
        assert!(!is_within_depth(&json!([]), 0));
    }

    #[test]
    fn the_written_size_is_that_of_compact_json() {
        let value = json!({"a": [1, "ü\n"], "b": null});
        assert_eq!(
            json_len(&value),
            serde_json::to_string(&value).unwrap().len()
        );
    }
}
