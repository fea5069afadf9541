//! A tool in the file: what the model reads about it, and who does its work.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::document::InOrder;
use super::units::{Secret, Time};

/// A tool. Exactly one of `returns`, `fails`, `http`, `client`, `private_input` and `external_wait`
/// says who does its work.
#[derive(Debug, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = exactly_one_worker)]
pub(crate) struct ToolEntry {
    /// Its name.
    pub(crate) name: String,
    /// What the model reads about it.
    pub(crate) description: Option<String>,
    /// A JSON Schema of its arguments; none if absent.
    pub(crate) parameters: Option<Map<String, Value>>,
    /// Always this result, any YAML value.
    #[serde(default, deserialize_with = "given")]
    pub(crate) returns: Option<Value>,
    /// Always this failure, for trying out errors.
    pub(crate) fails: Option<String>,
    /// An HTTP call. Its body is the arguments as JSON unless `body` says otherwise.
    pub(crate) http: Option<HttpEntry>,
    /// The page does the work.
    pub(crate) client: Option<ClientEntry>,
    /// A person gives a value that only the handler sees.
    pub(crate) private_input: Option<PrivateEntry>,
    /// Another system does the work, later.
    pub(crate) external_wait: Option<ExternalEntry>,
    /// Whether a person is asked first.
    pub(crate) approval: Option<ApprovalEntry>,
    /// Whether it may run again after a crash in the middle.
    #[serde(default)]
    pub(crate) idempotent: bool,
    /// How long it may take; 60s if absent.
    pub(crate) timeout: Option<Time>,
}

/// The keys of which a tool has exactly one.
pub(crate) const WORKERS: [&str; 6] = [
    "returns",
    "fails",
    "http",
    "client",
    "private_input",
    "external_wait",
];

/// An HTTP call.
#[derive(Debug, Clone, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HttpEntry {
    /// The method; POST if absent.
    #[serde(default)]
    pub(crate) method: Method,
    /// Where, with `{name}` for an argument after the host; arguments are percent-encoded.
    pub(crate) url: String,
    /// Headers to send, with `{name}` for an argument.
    #[serde(default = "no_headers")]
    pub(crate) headers: InOrder<Secret>,
    /// The body in place of the arguments: any YAML value, with `{name}` for an argument in its
    /// strings. A string that is only `{name}` becomes the argument itself.
    #[serde(default, deserialize_with = "given")]
    pub(crate) body: Option<Value>,
}

/// An HTTP method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Method {
    /// Without a body.
    Get,
    /// The usual one.
    #[default]
    Post,
    /// As POST, in place of what is there.
    Put,
    /// As POST, for a change.
    Patch,
    /// As POST, to take something away.
    Delete,
}

/// Work of the page.
#[derive(Debug, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClientEntry {
    /// A JSON Schema that the page's result must fit.
    pub(crate) result: Option<Map<String, Value>>,
    /// How long the page may take; 5m if absent.
    pub(crate) timeout: Option<Time>,
}

/// A value that only the handler sees.
#[derive(Debug, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PrivateEntry {
    /// A JSON Schema of the form.
    pub(crate) schema: Map<String, Value>,
    /// Where the value goes.
    pub(crate) deliver: OverHttp,
    /// What the model is told afterwards; "Done." if absent.
    pub(crate) response: Option<Value>,
    /// How long the form stays open; 5m if absent.
    pub(crate) timeout: Option<Time>,
}

/// Work of another system.
#[derive(Debug, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExternalEntry {
    /// What is waited for, in words of the other system.
    pub(crate) capability: String,
    /// How the work is begun.
    pub(crate) start: OverHttp,
    /// How long the result may take; 7d if absent.
    pub(crate) timeout: Option<Time>,
}

/// A handler that is reached over HTTP.
#[derive(Debug, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OverHttp {
    /// The call.
    pub(crate) http: HttpEntry,
}

/// Whether a person is asked first: true, or how.
#[derive(Debug)]
pub(crate) enum ApprovalEntry {
    /// Whether, with the usual manners.
    Plain(bool),
    /// Yes, and how.
    Asked(ApprovalTerms),
}

/// How a person is asked.
#[derive(Debug, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApprovalTerms {
    /// What the person reads, with `{name}` for an argument.
    pub(crate) message: Option<String>,
    /// How long the question stays open; 15m if absent.
    pub(crate) timeout: Option<Time>,
    /// Whether the person may change the arguments.
    #[serde(default)]
    pub(crate) edits: bool,
}

impl<'de> Deserialize<'de> for ApprovalEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ApprovalVisitor;
        impl<'de> Visitor<'de> for ApprovalVisitor {
            type Value = ApprovalEntry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false, or a mapping with message, timeout and edits")
            }

            fn visit_bool<E: Error>(self, asked: bool) -> Result<ApprovalEntry, E> {
                Ok(ApprovalEntry::Plain(asked))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ApprovalEntry, A::Error> {
                ApprovalTerms::deserialize(MapAccessDeserializer::new(map))
                    .map(ApprovalEntry::Asked)
            }
        }
        deserializer.deserialize_any(ApprovalVisitor)
    }
}

impl JsonSchema for ApprovalEntry {
    fn schema_name() -> Cow<'static, str> {
        "Approval".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let terms = generator.subschema_for::<ApprovalTerms>();
        schemars::json_schema!({ "anyOf": [{ "type": "boolean" }, terms] })
    }
}

/// Reads a value that may be null and is there all the same.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

fn no_headers() -> InOrder<Secret> {
    InOrder(Vec::new())
}

/// Adds to the schema what serde can't say: exactly one key names the worker.
fn exactly_one_worker(schema: &mut Schema) {
    let required = |key: &&str| serde_json::json!({ "required": [key] });
    schema.insert("oneOf".to_owned(), WORKERS.iter().map(required).collect());
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        // Null is no worker, except as a result.
        for key in WORKERS.iter().filter(|key| **key != "returns") {
            if let Some(property) = properties.get_mut(*key) {
                without_null(property);
            }
        }
    }
}

fn without_null(property: &mut Value) {
    if let Some(Value::Array(options)) = property.get_mut("anyOf") {
        options.retain(|option| option.get("type") != Some(&Value::from("null")));
    }
    if let Some(Value::Array(names)) = property.get_mut("type") {
        names.retain(|name| name != "null");
    }
}
