//! Hashes that do not depend on the order of an object's members.

use serde_json::{Number, Value};
use sha2::{Digest, Sha256};

/// SHA-256 of a value's canonical JSON (members sorted by key, no white space), in hexadecimal.
pub(crate) fn hash(value: &Value) -> String {
    let mut hasher = Sha256::new();
    write(value, &mut hasher);
    hasher
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Whether two values say the same, whatever the order of their members and the form of their numbers.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    a == b || hash(a) == hash(b)
}

fn write(value: &Value, hasher: &mut Sha256) {
    match value {
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by_key(|(key, _)| *key);
            hasher.update(b"{");
            for (key, member) in sorted {
                write(&Value::String(key.clone()), hasher);
                hasher.update(b":");
                write(member, hasher);
                hasher.update(b",");
            }
            hasher.update(b"}");
        }
        Value::Array(items) => {
            hasher.update(b"[");
            for item in items {
                write(item, hasher);
                hasher.update(b",");
            }
            hasher.update(b"]");
        }
        Value::Number(number) => match whole(number) {
            Some(whole) => hasher.update(whole.to_string().as_bytes()),
            None => hasher.update(number.to_string().as_bytes()),
        },
        scalar => hasher.update(scalar.to_string().as_bytes()),
    }
}

/// A whole number that is written as a fraction: a page reads `1.0` and sends `1`.
fn whole(number: &Number) -> Option<i64> {
    /// Up to here a fraction holds every whole number exactly.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let fraction = number.as_f64().filter(|_| number.is_f64())?;
    let is_whole = fraction.fract() == 0.0 && fraction.abs() <= EXACT;
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and in range")]
    is_whole.then_some(fraction as i64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{hash, same};

    #[test]
    fn a_whole_number_is_the_same_however_it_is_written() {
        assert!(same(&json!({"a": [1.0, -2e0]}), &json!({"a": [1, -2]})));
        assert!(same(&json!(-0.0), &json!(0)));
        assert!(!same(&json!(1.5), &json!(1)));
    }

    #[test]
    fn member_order_does_not_matter_and_everything_else_does() {
        assert_eq!(
            hash(&json!({"a": 1, "b": [{"x": 1, "y": 2}]})),
            hash(&json!({"b": [{"y": 2, "x": 1}], "a": 1}))
        );
        for other in [
            json!({"a": "1", "b": []}),
            json!({"a": 1, "b": [2, 1]}),
            json!({"a": [1], "b": 2}),
        ] {
            assert_ne!(hash(&json!({"a": 1, "b": [1, 2]})), hash(&other));
        }
    }
}
