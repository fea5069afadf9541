//! How state that a page sends becomes part of a thread's state.

use serde_json::{Map, Value};

/// Keys at the top level of the state that begin like this belong to the server.
const RESERVED: [&str; 4] = ["_", "app:", "user:", "temp:"];

/// Says whether a key at the top level of the state belongs to the server, so that a page may not
/// send it.
///
/// ```
/// use antiphon_state::reserved_key;
///
/// assert!(reserved_key("user:role"));
/// assert!(!reserved_key("username"));
/// ```
#[must_use]
pub fn reserved_key(key: &str) -> bool {
    RESERVED.iter().any(|prefix| key.starts_with(prefix))
}

/// Lays `patch` over `state`: each of its members replaces the whole value of its key, and keys
/// that it leaves out stay. A state that is no object becomes one.
///
/// This is how AG-UI clients send state; it is not RFC 7396, and a `null` removes nothing.
///
/// ```
/// use antiphon_state::shallow_merge;
/// use serde_json::{Map, json};
///
/// let mut state = json!({"a": 1, "b": {"x": 1, "y": 2}});
/// shallow_merge(&mut state, Map::from_iter([("b".to_owned(), json!({"x": 9}))]));
/// assert_eq!(state, json!({"a": 1, "b": {"x": 9}}));
/// ```
pub fn shallow_merge(state: &mut Value, patch: Map<String, Value>) {
    match state {
        Value::Object(members) => members.extend(patch),
        other => *other = Value::Object(patch),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_keys_that_begin_with_a_reserved_prefix_are_reserved() {
        for key in ["_", "_x", "app:x", "user:role", "temp:"] {
            assert!(reserved_key(key), "{key}");
        }
        for key in ["", "app", "application:x", "x_", "User:role", " _x"] {
            assert!(!reserved_key(key), "{key}");
        }
    }

    #[test]
    fn merged_members_keep_their_place_and_new_ones_come_last() {
        let mut state = json!({"a": 1, "b": 2});
        let Value::Object(patch) = json!({"c": null, "a": {"x": 1}}) else {
            return;
        };
        shallow_merge(&mut state, patch);
        assert_eq!(state.to_string(), r#"{"a":{"x":1},"b":2,"c":null}"#);
    }

    #[test]
    fn a_state_that_is_no_object_becomes_one() {
        let mut state = Value::Null;
        shallow_merge(&mut state, Map::from_iter([("a".to_owned(), json!(1))]));
        assert_eq!(state, json!({"a": 1}));
    }
}
