//! The server described in OpenAPI 3.1, and the same as a page for people.
//!
//! Paths, methods and who may call come from the inventory of routes; what a route takes and answers
//! stands in [`operations`], the shapes in `schemas.json`.

mod operations;
mod page;

use std::sync::LazyLock;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::routes::{ROUTES, Route, Scope};
use operations::{Answer, Operation, Shape};

pub(crate) use page::page;

/// The shapes that operations refer to.
const SCHEMAS: &str = include_str!("schemas.json");

/// The document as it is sent.
pub(crate) fn document() -> Bytes {
    static WRITTEN: LazyLock<Bytes> = LazyLock::new(|| describe().to_string().into());
    WRITTEN.clone()
}

fn describe() -> Value {
    let schemas: Value = serde_json::from_str(SCHEMAS).expect("the embedded schemas are JSON");
    let mut paths = Map::new();
    for route in ROUTES {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.to_ascii_lowercase()] = operation(route);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Antiphon",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Agents over AG-UI, and the same agents for clients that speak none. \
                Everything a user has is theirs alone: what is another's is answered as if it did not exist.",
        },
        // Relative to where this document is, so that it also holds below a prefix.
        "servers": [{ "url": "." }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "user": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A user's token. A server without authentication takes requests without one.",
                },
                "service": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A service's token: it settles external waits and does nothing else.",
                },
            },
        },
    })
}

fn operation(route: &Route) -> Value {
    let known = Operation::of(route);
    let mut answers = Map::new();
    for answer in known.map(|known| known.answers).unwrap_or_default() {
        answers.insert(answer.status.to_string(), answered(answer));
    }
    let error = json!({ "schema": reference("Error") });
    let refused = json!({
        "description": "A refusal, with a stable code.",
        "content": { "application/json": error },
    });
    answers.insert("default".to_owned(), refused);
    let mut operation = json!({
        "summary": known.map_or(route.path, |known| known.summary),
        "tags": [tag(route.path)],
        "security": security(route.scope),
        "parameters": parameters(route, known),
        "responses": answers,
    });
    if let Some((body, needed)) = known.and_then(|known| Some((known.body?, known.needs_body))) {
        operation["requestBody"] = json!({
            "required": needed,
            "content": { "application/json": { "schema": reference(body) } },
        });
    }
    operation
}

fn answered(answer: &Answer) -> Value {
    let mut described = json!({ "description": answer.says });
    let mut put = |media: &str, schema: Value| {
        described["content"][media] = json!({ "schema": schema });
    };
    let text = || json!({ "type": "string" });
    match answer.shape {
        Shape::Nothing => {}
        Shape::Json(name) => put("application/json", reference(name)),
        Shape::Text(media) => put(media, text()),
        Shape::Events => {
            put("text/event-stream", text());
            put(
                "application/vnd.ag-ui.event+proto",
                json!({ "type": "string", "format": "binary" }),
            );
        }
        Shape::JsonOrEvents(name) => {
            put("application/json", reference(name));
            put("text/event-stream", text());
        }
    }
    described
}

fn parameters(route: &Route, known: Option<&Operation>) -> Vec<Value> {
    let named = route.path.split('/').filter_map(|segment| {
        let name = segment.strip_prefix('{')?.strip_suffix('}')?;
        Some(json!({
            "name": name,
            "in": "path",
            "required": true,
            "schema": { "type": "string", "maxLength": antiphon_protocol::MAX_ID_BYTES },
        }))
    });
    let query = known.map(|known| known.query).unwrap_or_default().iter();
    let asked = query.map(|(name, kind, required, says)| {
        json!({
            "name": name,
            "in": "query",
            "required": required,
            "description": says,
            "schema": { "type": kind },
        })
    });
    named.chain(asked).collect()
}

fn security(scope: Scope) -> Value {
    match scope {
        Scope::Open => json!([]),
        Scope::Shared | Scope::Owned => json!([{ "user": [] }]),
        Scope::Service => json!([{ "service": [] }]),
    }
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// Which part of the server a path belongs to.
fn tag(path: &str) -> &'static str {
    match path.split('/').nth(1).unwrap_or_default() {
        "" | "agui" | "agents" | "runs" => "AG-UI",
        "responses" | "approvals" | "client-tools" | "external-waits" => "Responses",
        "sessions" => "Sessions",
        "copilotkit" => "CopilotKit",
        _ => "Operation",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Every `$ref` in a document.
    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => {
                for (key, value) in members {
                    match (key.as_str(), value) {
                        ("$ref", Value::String(target)) => drop(found.insert(target.clone())),
                        _ => references(value, found),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }

    #[test]
    fn every_route_is_described_and_nothing_else_is() {
        for route in ROUTES {
            assert!(Operation::of(route).is_some(), "{route:?} is not described");
        }
        assert_eq!(operations::OPERATIONS.len(), ROUTES.len());
        let document = describe();
        for route in ROUTES {
            let described = &document["paths"][route.path][route.method.to_ascii_lowercase()];
            assert!(described["summary"].is_string(), "{route:?}");
        }
    }

    #[test]
    fn every_reference_leads_somewhere_and_every_shape_is_used() {
        let document = describe();
        let mut found = BTreeSet::new();
        references(&document, &mut found);
        let shapes = document["components"]["schemas"].as_object().unwrap();
        let there: BTreeSet<String> = shapes
            .keys()
            .map(|name| format!("#/components/schemas/{name}"))
            .collect();
        assert_eq!(found, there);
    }

    #[test]
    fn who_may_call_is_said_of_every_route() {
        let document = describe();
        let of = |path: &str, method: &str| document["paths"][path][method]["security"].clone();
        assert_eq!(of("/healthz", "get"), json!([]));
        assert_eq!(of("/responses", "post"), json!([{ "user": [] }]));
        assert_eq!(
            of("/external-waits/{id}/fail", "post"),
            json!([{ "service": [] }])
        );
    }
}
