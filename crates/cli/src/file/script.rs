//! The shape of a script for the file's JSON Schema; the model crate has its reader.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

/// A script, or none.
pub(super) fn schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": ["object", "null"],
        "description": "What the provider `script` plays: the first turn that fits answers.",
        "additionalProperties": false,
        "required": ["turns"],
        "properties": {
            "pace": { "type": ["string", "integer"], "description": "The pause before each fragment; 20ms if absent." },
            "fragment": { "type": "integer", "minimum": 1, "description": "Characters in one fragment; 12 if absent." },
            "turns": { "type": "array", "items": turn() },
        },
    })
}

fn turn() -> Value {
    let failures = [
        "connect",
        "timeout",
        "rate_limited",
        "unauthorized",
        "bad_request",
        "refused",
        "unavailable",
        "truncated",
        "malformed",
        "other",
    ];
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "when": when(),
            "think": { "type": "string", "description": "Reasoning." },
            "say": { "type": "string", "description": "Text; {{user}} and {{result}} are filled in." },
            "calls": { "type": "array", "items": call() },
            "fail": {
                "type": "object",
                "description": "The call fails after all that.",
                "additionalProperties": false,
                "required": ["kind"],
                "properties": { "kind": { "enum": failures } },
            },
            "finish": { "enum": ["stop", "length", "content_filter", "refusal"] },
        },
    })
}

fn when() -> Value {
    let texts = json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] });
    json!({
        "type": "object",
        "description": "When the turn fits; what is absent always holds.",
        "additionalProperties": false,
        "properties": {
            "user": texts,
            "after_tool": { "type": "string" },
            "result": texts,
            "tool_offered": { "type": "string" },
            "turn": { "type": "integer", "minimum": 1 },
        },
    })
}

fn call() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["tool"],
        "properties": {
            "tool": { "type": "string" },
            "id": { "type": "string" },
            "arguments": { "description": "The arguments; {{user}} and {{result}} are filled in." },
            "arguments_text": { "type": "string", "description": "Arguments as they are, also where they are no JSON." },
        },
    })
}
