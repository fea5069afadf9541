//! What a tool gives back.

use std::fmt::Display;

use antiphon_protocol::Event;
use antiphon_state::Patch;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use serde::Serialize;
use serde_json::{Map, Value};

use super::Handler;
use crate::context::RunContext;

/// The result of a tool call, for the model and for the page.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    pub(crate) value: Value,
    pub(crate) state: Option<StateChange>,
    pub(crate) events: Vec<Event>,
}

/// A change of the shared state.
#[derive(Debug, Clone, PartialEq)]
pub enum StateChange {
    /// Puts these keys in place, each whole.
    Merge(Map<String, Value>),
    /// Puts this in place of the whole state.
    Replace(Map<String, Value>),
    /// Applies a JSON Patch.
    Patch(Patch),
}

impl ToolOutput {
    /// A result: a string is text, anything else is JSON.
    #[must_use]
    pub fn new(value: Value) -> Self {
        Self {
            value,
            state: None,
            events: Vec::new(),
        }
    }

    /// A result from any serializable value.
    ///
    /// # Errors
    /// When the value can't be written as JSON.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, ToolError> {
        serde_json::to_value(value)
            .map(Self::new)
            .map_err(|e| ToolError::new(format!("the result is not JSON: {e}")))
    }

    /// Changes the shared state together with the result.
    #[must_use]
    pub fn state(mut self, change: StateChange) -> Self {
        self.state = Some(change);
        self
    }

    /// Sends an event after the result.
    #[must_use]
    pub fn event(mut self, event: impl Into<Event>) -> Self {
        self.events.push(event.into());
        self
    }

    /// The result as a message's text: a string as it is, anything else as JSON.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

/// A failed tool call. The message goes to the model and to the page, so it must hold nothing secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    message: String,
}

impl ToolError {
    /// A failure with its reason.
    pub fn new(message: impl Display) -> Self {
        Self {
            message: message.to_string(),
        }
    }
}

/// The handler of [`Tool::fixed`](super::Tool::fixed).
pub(super) struct Fixed(pub(super) Value);

impl Handler for Fixed {
    fn call<'a>(
        &'a self,
        _: Value,
        _: RunContext<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        ready(Ok(ToolOutput::new(self.0.clone()))).boxed()
    }
}

/// The handler of [`Tool::failing`](super::Tool::failing).
pub(super) struct Failing(pub(super) String);

impl Handler for Failing {
    fn call<'a>(
        &'a self,
        _: Value,
        _: RunContext<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        ready(Err(ToolError::new(&self.0))).boxed()
    }
}
