//! What most programs use: `use antiphon::prelude::*;`.

#[cfg(feature = "server")]
#[doc(no_inline)]
pub use crate::Server;
#[cfg(feature = "sqlite")]
#[doc(no_inline)]
pub use crate::store::Sqlite;
#[doc(no_inline)]
pub use crate::{
    Agent, Approval, Error, Model, OpenAi, Resource, Result, RunContext, Script, ScriptModel,
    Secret, State, StateChange, Tool, ToolError, ToolOutput, client_tool, private_input, tool,
};
#[doc(no_inline)]
pub use schemars::JsonSchema;
#[doc(no_inline)]
pub use serde::{Deserialize, Serialize};
#[doc(no_inline)]
pub use serde_json::{Value, json};
