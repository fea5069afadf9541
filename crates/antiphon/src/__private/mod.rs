//! What the code made by the macros stands on. No part of the interface: it changes without notice.

mod arguments;
mod form;
mod returned;

use std::future::Future;
use std::pin::Pin;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

pub use antiphon_agent::{
    Approval, Argument, Handler, IntoTools, PrivateHandler, PrivateValue, RunContext, Tool,
    ToolError, ToolOutput,
};
pub use {schemars, serde, serde_json};

pub use arguments::read;
pub use form::read_form;
pub use returned::{IntoOutput, Nothing, Plain, Reason, Returned, nothing, output};

/// A future as handlers return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The JSON Schema of what is read as a `T`.
///
/// Types are written in place of references as far as they are not recursive: some providers do not
/// follow a `$ref`.
#[must_use]
pub fn schema<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.meta_schema = None;
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    // The name of a Rust type says nothing to a model.
    schema.remove("title");
    schema.to_value()
}
