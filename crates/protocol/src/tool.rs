//! Tools, calls of them, and context entries.

use serde_json::Value;

use crate::Metadata;
use crate::wire::object::object;

object! {
    /// A tool that a model may call.
    pub struct Tool {
        required {
            /// The name, by which it is called.
            name: String = "name",
            /// What it does, for the model.
            description: String = "description",
        }
        optional {
            /// JSON Schema of the arguments.
            parameters: Value = "parameters",
            /// Application data.
            metadata: Metadata = "metadata",
        }
    }
}

object! {
    /// A call of a tool.
    pub struct ToolCall {
        constants { "type" = "function" Required, }
        required {
            /// The id that its result names.
            id: String = "id",
            /// The tool and its arguments.
            function: FunctionCall = "function",
        }
        optional {
            /// Opaque provider data, returned unchanged.
            encrypted_value: String = "encryptedValue",
            /// Application data.
            metadata: Metadata = "metadata",
        }
    }
}

object! {
    /// The tool and its arguments.
    pub struct FunctionCall {
        required {
            /// The tool's name.
            name: String = "name",
            /// The arguments as JSON text; not valid JSON before they are complete.
            arguments: String = "arguments",
        }
    }
}

object! {
    /// Something the application lets the agent know.
    pub struct Context {
        required {
            /// What it is.
            description: String = "description",
            /// Its value.
            value: String = "value",
        }
    }
}
