//! Async functions as handlers and context providers.
//!
//! A future that borrows from its run has a type of its own for each lifetime, which a bound on `Fn`
//! can't name; these traits stand between and are implemented by every such function.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::context::{ContextProvider, RunContext};
use crate::tool::{Handler, ToolError, ToolOutput};

/// An async function that runs a tool: `async fn(Value, RunContext<'_>) -> Result<ToolOutput, ToolError>`.
pub trait Runs<'a>: Send + Sync {
    /// What it returns before it has run.
    type Future: Future<Output = Result<ToolOutput, ToolError>> + Send + 'a;

    /// Calls it.
    fn run(&self, arguments: Value, run: RunContext<'a>) -> Self::Future;
}

impl<'a, F, Running> Runs<'a> for F
where
    F: Fn(Value, RunContext<'a>) -> Running + Send + Sync,
    Running: Future<Output = Result<ToolOutput, ToolError>> + Send + 'a,
{
    type Future = Running;

    fn run(&self, arguments: Value, run: RunContext<'a>) -> Running {
        self(arguments, run)
    }
}

impl<F: for<'a> Runs<'a> + 'static> Handler for F {
    fn call<'a>(
        &'a self,
        arguments: Value,
        run: RunContext<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        self.run(arguments, run).boxed()
    }
}

/// An async function that tells the model something: `async fn(RunContext<'_>) -> impl Told`.
pub trait Tells<'a>: Send + Sync {
    /// What it tells.
    type Told: Told;
    /// What it returns before it has run.
    type Future: Future<Output = Self::Told> + Send + 'a;

    /// Calls it.
    fn tell(&self, run: RunContext<'a>) -> Self::Future;
}

impl<'a, F, Telling> Tells<'a> for F
where
    F: Fn(RunContext<'a>) -> Telling + Send + Sync,
    Telling: Future<Output: Told> + Send + 'a,
{
    type Told = Telling::Output;
    type Future = Telling;

    fn tell(&self, run: RunContext<'a>) -> Telling {
        self(run)
    }
}

impl<F: for<'a> Tells<'a> + 'static> ContextProvider for F {
    fn provide<'a>(
        &'a self,
        run: RunContext<'a>,
    ) -> BoxFuture<'a, Result<Option<String>, ToolError>> {
        self.tell(run).map(Told::told).boxed()
    }
}

/// What a context provider may return: a text, or perhaps one, or either with an error.
pub trait Told {
    /// The text, or nothing.
    ///
    /// # Errors
    /// What the function returned.
    fn told(self) -> Result<Option<String>, ToolError>;
}

impl Told for String {
    fn told(self) -> Result<Option<String>, ToolError> {
        Ok(Some(self))
    }
}

impl Told for Option<String> {
    fn told(self) -> Result<Option<String>, ToolError> {
        Ok(self)
    }
}

impl<T: Told> Told for Result<T, ToolError> {
    fn told(self) -> Result<Option<String>, ToolError> {
        self.and_then(Told::told)
    }
}
