//! Errors of agents and runs.

use serde_json::{Value, json};

use crate::store;

/// An agent that can't be served as it is described.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", self.shown_place())]
pub struct BuildError {
    /// Where in the description, as in `agents.recipe.state.predict[0]`.
    place: String,
    message: String,
}

impl BuildError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            place: String::new(),
            message: message.into(),
        }
    }

    /// Says that the place lies within another one.
    pub(crate) fn within(self, outer: impl std::fmt::Display) -> Self {
        let place = if self.place.is_empty() {
            outer.to_string()
        } else {
            format!("{outer}.{}", self.place)
        };
        Self { place, ..self }
    }

    fn shown_place(&self) -> String {
        if self.place.is_empty() {
            String::new()
        } else {
            format!("{}: ", self.place)
        }
    }
}

/// Why a request was refused before anything ran. Nothing of it was stored.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// What kind of refusal.
    pub kind: RefusalKind,
    /// Stable code, as in `interaction_pending`.
    pub code: &'static str,
    /// A sentence for people.
    pub message: String,
    /// The member of the request that is at fault, as in `messages[2].content`.
    pub field: Option<String>,
    /// More members of the error body, as in `{"runId": "..."}`.
    pub extra: Option<Box<Value>>,
}

/// The families of refusals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RefusalKind {
    /// The request is malformed.
    Invalid,
    /// The request does not fit what the thread waits for or is doing.
    Conflict,
    /// What the request names does not exist, or not for this user.
    NotFound,
    /// The store does not answer.
    Unavailable,
}

impl Refusal {
    /// A malformed request.
    pub fn invalid(
        code: &'static str,
        field: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        let field = Some(field.into());
        Self {
            kind: RefusalKind::Invalid,
            code,
            message: message.into(),
            field,
            extra: None,
        }
    }

    /// A request that does not fit the thread's situation.
    pub fn conflict(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            kind: RefusalKind::Conflict,
            code,
            message: message.into(),
            field: None,
            extra: None,
        }
    }

    /// Adds members to the error body.
    #[must_use]
    pub fn with(mut self, extra: Value) -> Self {
        self.extra = Some(Box::new(extra));
        self
    }

    /// The thread has an active run.
    #[must_use]
    pub fn busy(run_id: &str) -> Self {
        Self::conflict(
            "thread_busy",
            format!("the thread has an active run, {run_id:?}"),
        )
        .with(json!({ "runId": run_id }))
    }
}

impl From<store::Error> for Refusal {
    fn from(error: store::Error) -> Self {
        tracing::error!(%error, "the store failed");
        let message = "the store is not available; nothing was done".to_owned();
        Self {
            kind: RefusalKind::Unavailable,
            code: "store_unavailable",
            message,
            field: None,
            extra: None,
        }
    }
}

/// Why a run ended with RUN_ERROR.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// Stable code.
    pub code: &'static str,
    /// A sentence for people, without anything internal.
    pub message: String,
}

impl Failure {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        tracing::error!(%error, "the store failed during a run");
        match error {
            store::Error::LeaseLost { .. } => {
                Self::new("lease_lost", "another process took over this thread")
            }
            _ => Self::new("store_unavailable", "the store is not available"),
        }
    }
}
