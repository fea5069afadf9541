//! Reads a private value as a form, and leaves no copy of it behind.

use antiphon_agent::{PrivateValue, ToolError};
use serde::de::DeserializeOwned;
use serde_json::Value;
use zeroize::Zeroize;

/// Reads a private value as the form's type. The value is wiped, whether it fits or not.
///
/// # Errors
/// When it is not what the type expects. The message does not say what it is instead.
pub fn read_form<T: DeserializeOwned>(value: PrivateValue) -> Result<T, ToolError> {
    let mut value = value.expose();
    let form = T::deserialize(&value);
    wipe(&mut value);
    form.map_err(|_| ToolError::new("the form is not what its type expects"))
}

fn wipe(value: &mut Value) {
    match value {
        Value::String(text) => text.zeroize(),
        Value::Array(items) => items.iter_mut().for_each(wipe),
        Value::Object(members) => members.values_mut().for_each(wipe),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::wipe;

    #[test]
    fn every_string_is_wiped() {
        let mut value = json!({ "a": ["x", { "b": "y" }], "n": 1 });
        wipe(&mut value);
        assert_eq!(value, json!({ "a": ["", { "b": "" }], "n": 1 }));
    }
}
