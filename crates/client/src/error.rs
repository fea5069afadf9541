//! Why a run could not be begun, read or ended well.

use std::{fmt, sync::Arc, time::Duration};

use antiphon_protocol::{DecodeError, Rule, Violation};

use crate::text::clean;

/// The longest message that is taken from a server, in characters.
const MESSAGE_LIMIT: usize = 500;
/// The longest error code that is taken from a server, in characters.
const CODE_LIMIT: usize = 100;

/// Why a run could not be begun, read or ended well.
///
/// What had been delivered before stays in the [`Thread`](crate::Thread). No error holds a
/// token or another header's value, also where a server repeats one.
///
/// ```
/// use antiphon_client::{Client, ErrorKind};
///
/// let error = Client::connect("ftp://example.com/agent").unwrap_err();
/// assert_eq!(error.kind(), &ErrorKind::Setup);
/// assert_eq!(error.to_string(), "the url \"ftp://example.com/agent\" is not an http or https url");
/// ```
#[derive(Clone, thiserror::Error)]
#[error("{}", inner.message)]
pub struct Error {
    inner: Arc<Inner>,
}

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    message: String,
    retry_after: Option<Duration>,
}

/// What kind of failure it was.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The client is not set up: its URL, a header or the system's certificates.
    Setup,
    /// There was no connection, or it broke before an answer came.
    Connect,
    /// The server was silent for too long.
    Timeout,
    /// The server refused the request.
    Status {
        /// The HTTP status.
        status: u16,
        /// The server's code for it, such as `thread_busy`.
        code: Option<String>,
    },
    /// The answer is a success but not a stream of events: a page, a JSON document, a login form.
    NotAgUi,
    /// The stream ended before its run did. It is neither a success nor a failure of the run,
    /// which may even go on.
    Truncated,
    /// An event is not one: no JSON, or a known member is missing or of the wrong type.
    Malformed,
    /// The stream breaks a rule of the protocol.
    Illegal {
        /// The rule.
        rule: Rule,
    },
    /// The agent says that the run failed.
    RunFailed {
        /// The agent's code for it.
        code: Option<String>,
        /// The agent's message for the person.
        message: String,
    },
    /// The stream is larger than this client may hold.
    Limit,
    /// Something is open in the thread that the request leaves unanswered. Nothing was sent.
    Unanswered,
    /// The run was asked how it ended before all of its events were read.
    Unread,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let inner = Inner {
            kind,
            message: message.into(),
            retry_after: None,
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// A refusal, with what the server says about it.
    pub(crate) fn status(
        status: u16,
        code: Option<&str>,
        said: &str,
        retry_after: Option<Duration>,
    ) -> Self {
        let code = code.map(|code| clean(code, CODE_LIMIT));
        let mut message = format!("the server answered {status}");
        if let Some(code) = &code {
            message.push_str(&format!(" {code}"));
        }
        let said = clean(said, MESSAGE_LIMIT);
        if !said.is_empty() {
            message.push_str(&format!(": {said}"));
        }
        let inner = Inner {
            kind: ErrorKind::Status { status, code },
            message,
            retry_after,
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    pub(crate) fn run_failed(code: Option<&str>, said: &str) -> Self {
        let code = code.map(|code| clean(code, CODE_LIMIT));
        let said = clean(said, MESSAGE_LIMIT);
        let message = match &code {
            Some(code) => format!("the run failed with {code}: {said}"),
            None => format!("the run failed: {said}"),
        };
        let kind = ErrorKind::RunFailed {
            code,
            message: said,
        };
        Self::new(kind, message)
    }

    /// The same error, followed by what else went wrong.
    pub(crate) fn and(&self, also: impl fmt::Display) -> Self {
        let mut inner = (*self.inner).clone();
        inner.message.push_str(&format!("; {also}"));
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Returns what kind of failure it was.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.inner.kind
    }

    /// Returns the HTTP status of a refusal.
    #[must_use]
    pub fn status_code(&self) -> Option<u16> {
        match self.kind() {
            ErrorKind::Status { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// Returns the server's or the agent's code for what went wrong.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        match self.kind() {
            ErrorKind::Status { code, .. } | ErrorKind::RunFailed { code, .. } => code.as_deref(),
            _ => None,
        }
    }

    /// Returns how long the server asks to wait before the next attempt.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.inner.retry_after
    }

    /// Returns whether the run was cut off, so that nobody here knows how it ended.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        matches!(self.kind(), ErrorKind::Truncated)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.inner.kind)
            .field("message", &self.inner.message)
            .field("retry_after", &self.inner.retry_after)
            .finish()
    }
}

impl From<Violation> for Error {
    fn from(violation: Violation) -> Self {
        let message = clean(&violation.message, MESSAGE_LIMIT);
        let rule = violation.rule;
        Self::new(
            ErrorKind::Illegal { rule },
            format!("the server breaks the rule {rule}: {message}"),
        )
    }
}

impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Self {
        let kind = match &error {
            DecodeError::Sse(_) | DecodeError::TooLarge { .. } => ErrorKind::Limit,
            DecodeError::Truncated => ErrorKind::Truncated,
            _ => ErrorKind::Malformed,
        };
        Self::new(kind, clean(&error.to_string(), MESSAGE_LIMIT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_reads_like_a_sentence() {
        let error = Error::status(409, Some("thread_busy"), "run \"r1\" is active", None);
        assert_eq!(
            error.to_string(),
            "the server answered 409 thread_busy: run \"r1\" is active"
        );
        assert_eq!(
            (error.status_code(), error.code()),
            (Some(409), Some("thread_busy"))
        );
    }

    #[test]
    fn a_violation_names_its_rule() {
        let error = Error::from(Violation {
            rule: Rule::NotOpen,
            message: "text message \"m1\" is continued but not open".to_owned(),
        });
        assert_eq!(
            error.kind(),
            &ErrorKind::Illegal {
                rule: Rule::NotOpen
            }
        );
        assert!(
            error
                .to_string()
                .starts_with("the server breaks the rule not-open: ")
        );
    }

    #[test]
    fn what_a_server_says_cannot_fill_a_log() {
        let error = Error::run_failed(None, &"x".repeat(1 << 20));
        assert!(error.to_string().len() < 600);
    }
}
