//! Compiled JSON Schemas.

mod wrong;

use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

/// A JSON Schema, compiled once.
#[derive(Debug)]
pub(crate) struct Schema(jsonschema::Validator);

impl Schema {
    /// Compiles a schema; the error says where within the schema something is wrong, and what.
    pub(crate) fn compile(schema: &Value) -> Result<Self, String> {
        jsonschema::validator_for(schema)
            .map(Self)
            .map_err(|error| wrong::sentence(schema, &error))
    }

    /// Checks a value; the error names the place within the value and what was expected, and never
    /// quotes the value.
    pub(crate) fn check(&self, value: &Value) -> Result<(), String> {
        match self.0.iter_errors(value).next() {
            None => Ok(()),
            Some(error) => {
                let place = error.instance_path().to_string();
                let what = match error.kind() {
                    ValidationErrorKind::Required { property } => format!("{property} is missing"),
                    _ => error.masked().to_string(),
                };
                Err(if place.is_empty() {
                    what
                } else {
                    format!("{place}: {what}")
                })
            }
        }
    }
}
