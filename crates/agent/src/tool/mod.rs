//! Tools: what a model may call, and who does the work.
//!
//! A [`Tool`] is a declaration (name, description, parameters) together with its [`Execution`]: code
//! of the server, the page, a form that only a handler sees, or an outside system.

mod output;
mod set;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use antiphon_model::ToolSpec;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

pub use output::{StateChange, ToolError, ToolOutput};
pub(crate) use set::ToolSet;
pub use set::{Argument, IntoTools};

use crate::context::RunContext;

/// How long a server tool may take unless it says otherwise.
pub const TOOL_TIMEOUT: Duration = Duration::from_secs(60);
/// How long an approval stays open unless it says otherwise.
pub const APPROVAL_TIMEOUT: Duration = Duration::from_secs(15 * 60);
/// How long a client tool or a private form stays open unless it says otherwise.
pub const PAGE_TIMEOUT: Duration = Duration::from_secs(5 * 60);
/// How long an external wait stays open unless it says otherwise.
pub const EXTERNAL_TIMEOUT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A tool of an agent.
#[derive(Debug, Clone)]
pub struct Tool {
    pub(crate) spec: ToolSpec,
    pub(crate) execution: Execution,
    pub(crate) approval: Option<Approval>,
    pub(crate) idempotent: bool,
}

/// Who does a tool's work.
#[derive(Clone)]
pub(crate) enum Execution {
    Server {
        handler: Arc<dyn Handler>,
        timeout: Duration,
    },
    Client {
        result: Option<Value>,
        timeout: Duration,
    },
    PrivateInput {
        form: Value,
        handler: Arc<dyn PrivateHandler>,
        response: Value,
        timeout: Duration,
    },
    ExternalWait {
        capability: String,
        start: Arc<dyn Handler>,
        timeout: Duration,
    },
}

impl fmt::Debug for Execution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Server { .. } => "Server",
            Self::Client { .. } => "Client",
            Self::PrivateInput { .. } => "PrivateInput",
            Self::ExternalWait { .. } => "ExternalWait",
        })
    }
}

/// Runs a server tool. Every `async fn(Value, RunContext<'_>) -> Result<ToolOutput, ToolError>` does.
///
/// Dropping the future cancels the call: nothing is polled any more when a run is cancelled or the
/// tool's time is over.
pub trait Handler: Send + Sync + 'static {
    /// Does the work. `arguments` is a JSON object that fits the tool's parameters.
    ///
    /// # Errors
    /// A [`ToolError`] becomes the call's result for the model; the run goes on.
    fn call<'a>(
        &'a self,
        arguments: Value,
        run: RunContext<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>>;
}

/// Takes a private value, once, in memory.
///
/// What it returns never goes on: the model is told the tool's declared response.
pub trait PrivateHandler: Send + Sync + 'static {
    /// Takes the value; it has been checked against the form's schema.
    ///
    /// # Errors
    /// The message is logged by its type only; person and model are told that the delivery failed.
    fn deliver<'a>(
        &'a self,
        value: PrivateValue,
        run: RunContext<'a>,
    ) -> BoxFuture<'a, Result<(), ToolError>>;
}

/// A private value on its way to its handler: it can't be serialized, copied or printed, and its
/// memory is wiped when it is dropped.
pub struct PrivateValue(Value);

impl PrivateValue {
    pub(crate) fn new(value: Value) -> Self {
        Self(value)
    }

    /// Reads the value into a type of the application; what is left of it is wiped.
    ///
    /// # Errors
    /// When the value does not have the shape of `T`; the message does not quote it.
    pub fn read<T: serde::de::DeserializeOwned>(self) -> Result<T, ToolError> {
        T::deserialize(&self.0)
            .map_err(|_| ToolError::new("the private input does not have the expected shape"))
    }

    /// Takes the value out. From here on the caller answers for it.
    #[must_use]
    pub fn expose(mut self) -> Value {
        std::mem::take(&mut self.0)
    }
}

impl fmt::Debug for PrivateValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivateValue(..)")
    }
}

impl Drop for PrivateValue {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// Overwrites every string of a value.
pub(crate) fn wipe(value: &mut Value) {
    use zeroize::Zeroize;
    match value {
        Value::String(text) => text.zeroize(),
        Value::Array(items) => items.iter_mut().for_each(wipe),
        Value::Object(members) => members.values_mut().for_each(wipe),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Asks a person before a tool runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    pub(crate) message: Option<String>,
    pub(crate) timeout: Duration,
    pub(crate) edits: bool,
}

impl Default for Approval {
    fn default() -> Self {
        Self {
            message: None,
            timeout: APPROVAL_TIMEOUT,
            edits: false,
        }
    }
}

impl Approval {
    /// What the person reads; `{name}` stands for an argument.
    #[must_use]
    pub fn message(mut self, template: impl Into<String>) -> Self {
        self.message = Some(template.into());
        self
    }

    /// How long the question stays open; afterwards the call counts as expired.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Whether the person may put other arguments in place of the model's.
    #[must_use]
    pub fn edits(mut self, edits: bool) -> Self {
        self.edits = edits;
        self
    }
}

impl Tool {
    fn new(name: impl Into<String>, execution: Execution) -> Self {
        let parameters = json!({ "type": "object", "properties": {} });
        let spec = ToolSpec {
            name: name.into(),
            description: String::new(),
            parameters,
        };
        Self {
            spec,
            execution,
            approval: None,
            idempotent: false,
        }
    }

    /// A tool that the server runs.
    ///
    /// ```
    /// use antiphon_agent::{RunContext, Tool, ToolError, ToolOutput};
    /// use serde_json::{Value, json};
    ///
    /// async fn add(arguments: Value, _: RunContext<'_>) -> Result<ToolOutput, ToolError> {
    ///     let number = |name| arguments[name].as_f64().ok_or_else(|| ToolError::new("not a number"));
    ///     Ok(ToolOutput::new(json!(number("a")? + number("b")?)))
    /// }
    ///
    /// let numbers = json!({ "a": { "type": "number" }, "b": { "type": "number" } });
    /// let tool = Tool::server("add", add)
    ///     .parameters(json!({ "type": "object", "properties": numbers, "required": ["a", "b"] }));
    /// ```
    pub fn server(name: impl Into<String>, handler: impl Handler) -> Self {
        Self::new(
            name,
            Execution::Server {
                handler: Arc::new(handler),
                timeout: TOOL_TIMEOUT,
            },
        )
    }

    /// A tool that always gives the same result.
    pub fn fixed(name: impl Into<String>, result: Value) -> Self {
        Self::server(name, output::Fixed(result))
    }

    /// A tool that always fails, for trying out how a conversation takes it.
    pub fn failing(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self::server(name, output::Failing(message.into()))
    }

    /// A tool that the page runs; the run ends and goes on with the page's result.
    pub fn client(name: impl Into<String>) -> Self {
        Self::new(
            name,
            Execution::Client {
                result: None,
                timeout: PAGE_TIMEOUT,
            },
        )
    }

    /// A tool that asks the person for a value which only `handler` sees. `form` is the JSON Schema
    /// of the value, `response` what the model is told once it was delivered.
    pub fn private_input(
        name: impl Into<String>,
        form: Value,
        handler: impl PrivateHandler,
        response: Value,
    ) -> Self {
        let handler = Arc::new(handler);
        Self::new(
            name,
            Execution::PrivateInput {
                form,
                handler,
                response,
                timeout: PAGE_TIMEOUT,
            },
        )
    }

    /// A tool whose result another system delivers. `start` begins the work; its output is not the
    /// result.
    pub fn external_wait(
        name: impl Into<String>,
        capability: impl Into<String>,
        start: impl Handler,
    ) -> Self {
        let start = Arc::new(start);
        Self::new(
            name,
            Execution::ExternalWait {
                capability: capability.into(),
                start,
                timeout: EXTERNAL_TIMEOUT,
            },
        )
    }

    /// What the model reads about it.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.spec.description = description.into();
        self
    }

    /// The JSON Schema of its arguments, an object.
    #[must_use]
    pub fn parameters(mut self, schema: Value) -> Self {
        self.spec.parameters = schema;
        self
    }

    /// Asks a person before it runs.
    #[must_use]
    pub fn approval(mut self, approval: Approval) -> Self {
        self.approval = Some(approval);
        self
    }

    /// Whether it may run again when a crash cut it in the middle.
    #[must_use]
    pub fn idempotent(mut self, idempotent: bool) -> Self {
        self.idempotent = idempotent;
        self
    }

    /// How long it may take, or stay open.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        match &mut self.execution {
            Execution::Server { timeout, .. }
            | Execution::Client { timeout, .. }
            | Execution::PrivateInput { timeout, .. }
            | Execution::ExternalWait { timeout, .. } => *timeout = limit,
        }
        self
    }

    /// The JSON Schema that a client tool's result must fit.
    #[must_use]
    pub fn result(mut self, schema: Value) -> Self {
        if let Execution::Client { result, .. } = &mut self.execution {
            *result = Some(schema);
        }
        self
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// What the model is told about it.
    #[must_use]
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Names one of its arguments, for state mappings.
    #[must_use]
    pub fn argument(&self, name: impl Into<String>) -> Argument {
        Argument {
            tool: self.spec.name.clone(),
            argument: name.into(),
        }
    }
}
