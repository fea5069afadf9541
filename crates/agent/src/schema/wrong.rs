//! What is wrong with a schema, in plain words.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ReferencingError, ValidationError};
use serde_json::Value;

/// The names that `type` may have.
const TYPES: [&str; 7] = [
    "array", "boolean", "integer", "null", "number", "object", "string",
];
/// The words that lead to another schema.
const REFERENCES: [&str; 2] = ["$ref", "$dynamicRef"];

/// The place within the schema as a JSON pointer, and what is wrong there.
pub(super) fn sentence(schema: &Value, error: &ValidationError<'_>) -> String {
    let (place, what) = match error.kind() {
        ValidationErrorKind::Referencing(error) => reference(schema, error),
        _ => {
            let place = error.instance_path().to_string();
            let what = keyword(&place, error);
            (place, what)
        }
    };
    if place.is_empty() {
        what
    } else {
        format!("{place}: {what}")
    }
}

fn keyword(place: &str, error: &ValidationError<'_>) -> String {
    let is_type = place.ends_with("/type") || place.contains("/type/");
    match (error.kind(), error.instance().as_ref()) {
        (ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::Enum { .. }, found)
            if is_type =>
        {
            let unknown = unknown_type(found);
            let types = TYPES.join(", ");
            match unknown {
                Some(unknown) => format!("{unknown:?} is no type; the types are {types}"),
                None => format!("expected a type or a list of different types; they are {types}"),
            }
        }
        (ValidationErrorKind::Format { format }, _) if format == "regex" => {
            "this is no regular expression".to_owned()
        }
        (ValidationErrorKind::Required { property }, _) => format!("{property} is missing"),
        (ValidationErrorKind::AnyOf { .. }, _) => "this is no schema".to_owned(),
        _ => error.masked_with("this").to_string(),
    }
}

/// What of a value of `type` is no type.
fn unknown_type(found: &Value) -> Option<&str> {
    let is_unknown = |name: &&str| !TYPES.contains(name);
    match found {
        Value::String(name) => Some(name.as_str()).filter(is_unknown),
        Value::Array(names) => names.iter().filter_map(Value::as_str).find(is_unknown),
        _ => None,
    }
}

/// A reference that leads nowhere. The library does not say where it stands, so it is looked for.
fn reference(schema: &Value, error: &ReferencingError) -> (String, String) {
    let place =
        |leads_there: &dyn Fn(&str) -> bool| place_of(schema, leads_there, "").unwrap_or_default();
    match error {
        ReferencingError::Unretrievable { uri, .. } => {
            let leads_there = |target: &str| {
                let file = target.split('#').next().unwrap_or_default();
                !file.is_empty() && uri.ends_with(file.trim_start_matches("./"))
            };
            let what = "this leads to another document, and none is fetched; put its schema into \"$defs\" and write \"#/$defs/NAME\"";
            (place(&leads_there), what.to_owned())
        }
        ReferencingError::PointerToNowhere { pointer } => {
            let leads_there = |target: &str| target.ends_with(pointer.as_str());
            let what = format!("there is nothing at {pointer} in this schema");
            (place(&leads_there), what)
        }
        ReferencingError::NoSuchAnchor { anchor } | ReferencingError::InvalidAnchor { anchor } => {
            let leads_there = |target: &str| target.ends_with(anchor.as_str());
            (
                place(&leads_there),
                format!("there is no anchor {anchor:?}"),
            )
        }
        ReferencingError::UnknownSpecification { .. } => (
            "/$schema".to_owned(),
            "this names no known version of JSON Schema; leave it out".to_owned(),
        ),
        _ => (
            place(&|_| true),
            "this leads to no schema; write it as \"#/$defs/NAME\"".to_owned(),
        ),
    }
}

/// The pointer to the first reference whose target is meant.
fn place_of(value: &Value, is_meant: &dyn Fn(&str) -> bool, place: &str) -> Option<String> {
    match value {
        Value::Object(members) => members.iter().find_map(|(key, member)| {
            let escaped = key.replace('~', "~0").replace('/', "~1");
            let place = format!("{place}/{escaped}");
            match member {
                Value::String(target) if REFERENCES.contains(&key.as_str()) => {
                    is_meant(target).then_some(place)
                }
                member => place_of(member, is_meant, &place),
            }
        }),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| place_of(item, is_meant, &format!("{place}/{index}"))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::Schema;

    fn wrong(schema: &Value) -> String {
        Schema::compile(schema).map(|_| ()).unwrap_err()
    }

    #[test]
    fn each_mistake_has_its_place_and_plain_words() {
        const TYPES: &str = "array, boolean, integer, null, number, object, string";
        for (schema, expected) in [
            (
                json!({ "type": "strng" }),
                format!("/type: \"strng\" is no type; the types are {TYPES}"),
            ),
            (
                json!({ "properties": { "a/b": { "type": ["string", "nul"] } } }),
                format!("/properties/a~1b/type: \"nul\" is no type; the types are {TYPES}"),
            ),
            (
                json!({ "type": 3 }),
                format!("/type: expected a type or a list of different types; they are {TYPES}"),
            ),
            (
                json!({ "properties": [] }),
                "/properties: this is not of type \"object\"".to_owned(),
            ),
            (
                json!({ "required": "a" }),
                "/required: this is not of type \"array\"".to_owned(),
            ),
            (
                json!({ "items": { "pattern": "(" } }),
                "/items/pattern: this is no regular expression".to_owned(),
            ),
            (
                json!({ "properties": { "a": { "$ref": "https://a.example/b.json" } } }),
                "/properties/a/$ref: this leads to another document, and none is fetched; put its schema into \"$defs\" and write \"#/$defs/NAME\"".to_owned(),
            ),
            (
                json!({ "items": { "$ref": "#/$defs/none" } }),
                "/items/$ref: there is nothing at /$defs/none in this schema".to_owned(),
            ),
            (
                json!({ "$ref": "#none" }),
                "/$ref: there is no anchor \"none\"".to_owned(),
            ),
            (
                json!({ "$schema": "https://a.example/schema" }),
                "/$schema: this names no known version of JSON Schema; leave it out".to_owned(),
            ),
            (
                json!({ "minLength": -1 }),
                "/minLength: this is less than the minimum of 0".to_owned(),
            ),
        ] {
            assert_eq!(wrong(&schema), expected, "{schema}");
        }
    }
}
