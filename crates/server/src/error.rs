//! What goes wrong: refusals as clients read them, and a server that can't be started.

use std::borrow::Cow;
use std::io;
use std::net::SocketAddr;

use antiphon_agent::store;
use antiphon_agent::{BuildError, Refusal, RefusalKind};
use axum::Json;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde_json::{Map, Value, json};

/// Why a server can't be built or started. Every message is a sentence for the person who runs it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no agent to serve.
    #[error("there is no agent to serve")]
    NoAgent,
    /// Two agents have the same name.
    #[error("two agents are named {0:?}; give each its own name")]
    SameName(String),
    /// An agent's name can't be part of a path.
    #[error("the agent name {0:?} can't be part of a URL; use letters, digits, `-`, `_` and `.`")]
    AgentName(String),
    /// The default agent does not exist.
    #[error("the default agent {name:?} does not exist; there are {known}")]
    NoDefault {
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// An agent's description is wrong.
    #[error(transparent)]
    Agent(#[from] BuildError),
    /// An origin is not one.
    #[error("cors: {origin:?} is no origin: {why}")]
    Origin {
        /// What was given.
        origin: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Two tokens are the same, or one is empty.
    #[error("auth: {0}")]
    Token(&'static str),
    /// The way in which users are to be known is wrong.
    #[error("auth: {0}")]
    Auth(String),
    /// Everybody could reach the server, and it could not tell them apart.
    #[error(
        "{0} can be reached from other machines, and everybody would be the same user; set up authentication, or listen on 127.0.0.1"
    )]
    Unprotected(SocketAddr),
    /// The address is no address.
    #[error("{address:?} is no address to listen on: {source}")]
    Address {
        /// What was given.
        address: String,
        /// Why not.
        source: io::Error,
    },
    /// Another program listens there already.
    #[error("port {0} is taken by another program; choose another one")]
    PortTaken(u16),
    /// The system does not let us listen.
    #[error("can't listen on {address}: {source}")]
    Listen {
        /// What was given.
        address: String,
        /// Why not.
        source: io::Error,
    },
    /// What a crash left behind can't be read.
    #[error("the store does not answer; runs are taken as soon as it does")]
    StoreAway,
}

/// A refusal of one request: a status, a stable code and a message, as JSON
/// `{"error": {"code", "message", "field"?, ...}, "detail": message}`.
#[derive(Debug, Clone)]
pub(crate) struct ApiError(Box<Answer>);

#[derive(Debug, Clone)]
struct Answer {
    status: StatusCode,
    code: &'static str,
    message: Cow<'static, str>,
    field: Option<String>,
    /// More members of the `error` object.
    extra: Option<Value>,
    /// Seconds after which another try makes sense.
    retry_after: Option<u32>,
    /// Whether a bearer token is wanted.
    challenge: bool,
}

impl ApiError {
    pub(crate) fn new(
        status: StatusCode,
        code: &'static str,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self(Box::new(Answer {
            status,
            code,
            message: message.into(),
            field: None,
            extra: None,
            retry_after: None,
            challenge: false,
        }))
    }

    /// 400 for one member of the request.
    pub(crate) fn invalid(
        code: &'static str,
        field: impl Into<String>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        let mut error = Self::new(StatusCode::BAD_REQUEST, code, message);
        error.0.field = Some(field.into());
        error
    }

    /// What does not exist, and what is another user's.
    pub(crate) fn not_found(what: &'static str) -> Self {
        let message = format!("there is no such {what}");
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    /// A run of this process was asked for that another one plays.
    pub(crate) fn elsewhere() -> Self {
        let message = "the run is at work in another process; try again when it has ended";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "run_elsewhere", message).retry_after(1)
    }

    pub(crate) fn draining() -> Self {
        let message = "the server is shutting down and starts no new runs";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "draining", message).retry_after(5)
    }

    pub(crate) fn internal() -> Self {
        let message = "the server failed unexpectedly";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }

    /// The stable code.
    pub(crate) fn code(&self) -> &'static str {
        self.0.code
    }

    /// The sentence for people.
    pub(crate) fn message(&self) -> &str {
        &self.0.message
    }

    /// Says after how many seconds another try makes sense.
    pub(crate) fn retry_after(mut self, seconds: u32) -> Self {
        self.0.retry_after = Some(seconds);
        self
    }

    /// Names the member at fault as another request has it, whose answer this is.
    pub(crate) fn rename_field(mut self, rename: impl FnOnce(&str) -> Option<String>) -> Self {
        if let Some(renamed) = self.0.field.as_deref().and_then(rename) {
            self.0.field = Some(renamed);
        }
        self
    }

    /// Says that a bearer token is wanted.
    pub(crate) fn challenge(mut self) -> Self {
        self.0.challenge = true;
        self
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        let status = match refusal.kind {
            RefusalKind::Invalid => StatusCode::BAD_REQUEST,
            RefusalKind::Conflict => StatusCode::CONFLICT,
            RefusalKind::NotFound => StatusCode::NOT_FOUND,
            RefusalKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        };
        let mut error = Self::new(status, refusal.code, refusal.message);
        error.0.field = refusal.field;
        error.0.extra = refusal.extra.map(|extra| *extra);
        error.0.retry_after = (status == StatusCode::SERVICE_UNAVAILABLE).then_some(1);
        error
    }
}

impl From<store::Error> for ApiError {
    fn from(error: store::Error) -> Self {
        Refusal::from(error).into()
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let answer = *self.0;
        let mut error = Map::new();
        error.insert("code".to_owned(), answer.code.into());
        error.insert("message".to_owned(), answer.message.as_ref().into());
        if let Some(field) = answer.field {
            error.insert("field".to_owned(), field.into());
        }
        if let Some(Value::Object(extra)) = answer.extra {
            error.extend(extra);
        }
        let body = json!({ "error": error, "detail": answer.message });
        let mut response = (answer.status, Json(body)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = answer.retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if answer.challenge {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
