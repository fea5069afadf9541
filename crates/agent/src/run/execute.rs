//! Running the code behind a call: bounded in time, and a panic in it is a failed call.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use antiphon_protocol::ToolMessage;
use antiphon_state::Patch;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use crate::agent::BuiltAgent;
use crate::ask::{Asks, Code};
use crate::context::{RunContext, Scope};
use crate::failpoint;
use crate::store::Call;
use crate::tool::{Execution, PrivateValue, ToolError, ToolOutput};

/// How long a private value may take to be delivered, and another system's work to be begun.
const DELIVERY: Duration = Duration::from_secs(60);

/// A call that runs.
pub(super) struct Job {
    pub(super) call: Call,
    pub(super) work: Work,
    pub(super) scope: Scope,
    pub(super) agent: Arc<BuiltAgent>,
}

/// What runs.
pub(super) enum Work {
    Execute(Map<String, Value>),
    Deliver(PrivateValue),
    Begin(Map<String, Value>),
}

/// What came of a call.
pub(super) struct Done {
    pub(super) call: Call,
    pub(super) came: Came,
    /// What the tool's code changed of the state.
    pub(super) changes: Option<Patch>,
    /// The result as it was delivered, with its own id.
    pub(super) message: Option<ToolMessage>,
    /// Whether the page sent the result.
    pub(super) from_page: bool,
    /// Whether it sent it as this message, so that it holds it.
    pub(super) held: bool,
}

/// How a call ended, or why it did not.
pub(super) enum Came {
    Result(Result<ToolOutput, String>),
    /// The work of another system has begun.
    Began,
    /// The code stopped at a question.
    Asks(Asks),
}

impl Done {
    pub(super) fn new(call: Call, result: Result<ToolOutput, String>) -> Self {
        Self {
            call,
            came: Came::Result(result),
            changes: None,
            message: None,
            from_page: false,
            held: false,
        }
    }

    /// A result that the page or another system delivered.
    pub(super) fn delivered(call: Call, message: ToolMessage, failed: bool) -> Self {
        let text = message.content.text().into_owned();
        let result = if failed {
            Err(text)
        } else {
            Ok(ToolOutput::new(text.into()))
        };
        Self {
            message: Some(message),
            ..Self::new(call, result)
        }
    }
}

impl Job {
    pub(super) async fn run(self) -> Done {
        let Self {
            call,
            work,
            scope,
            agent,
        } = self;
        failpoint::reach("tool.begins");
        let begins = matches!(work, Work::Begin(_));
        let result = match agent.tools.get(&call.tool).map(|tool| &tool.execution) {
            Some(execution) => perform(execution, work, RunContext::new(&scope)).await,
            None => Err("it is no longer available".to_owned()),
        };
        failpoint::reach("tool.ran");
        let changes = if result.is_ok() {
            scope.changes()
        } else {
            None
        };
        let (call, asks) = scope.code.map_or((call, None), Code::into_parts);
        let came = match (asks, result) {
            (Some(asks), _) => Came::Asks(asks),
            (None, Ok(_)) if begins => Came::Began,
            (None, result) => Came::Result(result),
        };
        Done {
            changes,
            came,
            ..Done::new(call, Err(String::new()))
        }
    }
}

async fn perform(
    execution: &Execution,
    work: Work,
    run: RunContext<'_>,
) -> Result<ToolOutput, String> {
    match (execution, work) {
        (Execution::Server { handler, timeout }, Work::Execute(arguments)) => {
            bounded(*timeout, handler.call(Value::Object(arguments), run)).await
        }
        (Execution::ExternalWait { start, .. }, Work::Begin(arguments)) => {
            bounded(DELIVERY, start.call(Value::Object(arguments), run)).await
        }
        (
            Execution::PrivateInput {
                handler, response, ..
            },
            Work::Deliver(value),
        ) => {
            // What went wrong is the handler's secret: it may quote the value.
            match bounded(DELIVERY, handler.deliver(value, run)).await {
                Ok(()) => Ok(ToolOutput::new(response.clone())),
                Err(_) => Err("the private input could not be delivered".to_owned()),
            }
        }
        _ => Err("it has changed since it was called".to_owned()),
    }
}

async fn bounded<T>(
    limit: Duration,
    work: BoxFuture<'_, Result<T, ToolError>>,
) -> Result<T, String> {
    match tokio::time::timeout(limit, AssertUnwindSafe(work).catch_unwind()).await {
        Ok(Ok(Ok(value))) => Ok(value),
        Ok(Ok(Err(error))) => Err(error.to_string()),
        Ok(Err(_)) => Err("it failed unexpectedly".to_owned()),
        Err(_) => Err(format!("it took longer than {} s", limit.as_secs_f32())),
    }
}
