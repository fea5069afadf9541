//! Agents, tools, shared state and the run loop.
//!
//! An [`Agent`] is described once and [built](Agent::build). A [`Runtime`] takes requests for it:
//! [`Runtime::accept`] checks one against its thread and makes it a [`Run`], [`Run::play`] plays it to
//! its end, and any number of readers follow its [`RunLog`]. Everything that outlives a run is kept by
//! a [`Store`](store::Store).
//!
//! No socket is opened here: a model is a trait object, and serving is another crate's work.

mod agent;
mod ask;
mod canonical;
mod capabilities;
pub mod clock;
mod context;
mod emitter;
mod error;
mod failpoint;
mod function;
mod log;
mod mapping;
mod middleware;
mod resource;
mod run;
mod schema;
pub mod store;
mod tool;

pub use agent::{Agent, BuiltAgent, History, Limits, OnDecline, OnDisconnect};
pub use ask::Question;
pub use context::{ContextProvider, Resource, RunContext, State};
pub use error::{BuildError, Failure, Refusal, RefusalKind};
pub use function::{Runs, Tells, Told};
#[doc(no_inline)]
pub use futures_util::future::BoxFuture;
pub use log::{Batch, Frame, Joined, Reader, RunLog};
pub use mapping::{FinishedCall, Prediction};
pub use middleware::{Filter, Middleware, Outgoing};
pub use resource::Resources;
pub use run::{Accepted, Delivered, Delivery, Recovered, Run, Runtime};
pub use tool::{
    APPROVAL_TIMEOUT, Approval, Argument, EXTERNAL_TIMEOUT, Handler, IntoTools, PAGE_TIMEOUT,
    PrivateHandler, PrivateValue, StateChange, TOOL_TIMEOUT, Tool, ToolError, ToolOutput,
};
