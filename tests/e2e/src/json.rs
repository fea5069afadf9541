//! Small views on JSON values.

use serde_json::Value;

/// JSON equality: `1` equals `1.0`, `true` does not equal `1`, the order of members is nothing.
pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// A value in at most ninety characters, for messages.
pub fn short(value: &Value) -> String {
    clip(&value.to_string(), 90)
}

/// The first `limit` characters of a text, for messages.
pub fn clip(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
    }
}

/// A text member, or the empty text.
pub fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value
        .get(member)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// An array member, or the empty list.
pub fn list<'a>(value: &'a Value, member: &str) -> &'a [Value] {
    value
        .get(member)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The value of a tool call's argument text: `{}` for blank text, `None` if it is not JSON.
pub fn arguments(text: &str) -> Option<Value> {
    if text.trim().is_empty() {
        return Some(Value::Object(serde_json::Map::new()));
    }
    serde_json::from_str(text).ok()
}

/// Merges `change` into `base`: objects member by member, `null` removes, anything else replaces.
pub fn merge(base: &mut Value, change: &Value) {
    let (Value::Object(base), Value::Object(change)) = (&mut *base, change) else {
        *base = change.clone();
        return;
    };
    for (key, value) in change {
        match (base.get_mut(key), value) {
            (_, Value::Null) => {
                base.shift_remove(key);
            }
            (Some(held @ Value::Object(_)), Value::Object(_)) => merge(held, value),
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_equal_by_value_and_booleans_are_no_numbers() {
        assert!(same(&json!({"a": [1, 2.0]}), &json!({"a": [1.0, 2]})));
        assert!(!same(&json!(true), &json!(1)));
        assert!(!same(&json!({"a": 1}), &json!({"a": 1, "b": 2})));
    }

    #[test]
    fn merging_goes_into_objects_and_null_removes() {
        let mut base = json!({"a": {"x": 1, "y": 2}, "b": [1]});
        merge(&mut base, &json!({"a": {"y": null, "z": 3}, "b": [2]}));
        assert_eq!(base, json!({"a": {"x": 1, "z": 3}, "b": [2]}));
    }

    #[test]
    fn blank_arguments_are_an_empty_object() {
        assert_eq!(arguments("  "), Some(json!({})));
        assert_eq!(arguments("{\"a\":1}"), Some(json!({"a": 1})));
        assert_eq!(arguments("{\"a\":"), None);
    }
}
