//! What most programs use: `use antiphon::prelude::*;`.

#[doc(no_inline)]
pub use crate::{
    Agent, Error, OpenAi, Resource, Result, RunContext, Secret, State, StateChange, Tool,
    ToolError, ToolOutput, client_tool, private_input, tool,
};
#[doc(no_inline)]
pub use schemars::JsonSchema;
#[doc(no_inline)]
pub use serde::{Deserialize, Serialize};
#[doc(no_inline)]
pub use serde_json::{Value, json};
