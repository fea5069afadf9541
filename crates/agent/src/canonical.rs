//! Hashes that do not depend on the order of an object's members.

use serde_json::Value;
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
        scalar => hasher.update(scalar.to_string().as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::hash;

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
