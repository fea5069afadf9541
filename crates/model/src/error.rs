//! Why a model call failed, in words that may leave the server.
//!
//! The message and the code are ours and safe to show. What the provider or the network said is kept apart in
//! [`Error::detail`], which is for the log.

use std::{borrow::Cow, fmt, time::Duration};

/// The longest detail that is kept, in bytes.
const DETAIL_LIMIT: usize = 2048;

/// Why a model call failed.
///
/// ```
/// use antiphon_model::{Error, ErrorKind};
///
/// let error = Error::new(ErrorKind::Truncated, "the model's answer was cut off").with_detail("eof after 3 chunks");
/// assert_eq!(error.code(), "upstream_truncated");
/// assert_eq!(error.to_string(), "the model's answer was cut off");
/// assert_eq!(error.detail(), Some("eof after 3 chunks"));
/// ```
#[derive(Clone, thiserror::Error)]
#[error("{}", inner.message)]
pub struct Error {
    inner: Box<Inner>,
}

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    message: Cow<'static, str>,
    detail: Option<String>,
    retry_after: Option<Duration>,
}

/// What kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No connection to the provider.
    Connect,
    /// The provider was silent for too long.
    Timeout,
    /// Too many requests, or the quota is used up.
    RateLimited,
    /// The key is missing, wrong or not allowed to do this.
    Unauthorized,
    /// The provider does not accept the request as it is.
    BadRequest,
    /// The provider declines this content.
    Refused,
    /// The provider is overloaded or broken.
    Unavailable,
    /// The answer ended without its finish.
    Truncated,
    /// The answer is not what the wire promises.
    Malformed,
    /// The answer is larger than the limits allow.
    TooLarge,
    /// The model is not set up, for example without a key.
    Setup,
    /// Anything else that the provider reports.
    Other,
}

impl Error {
    /// An error with a public message: lower case, no full stop, none of the provider's words.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            inner: Box::new(Inner {
                kind,
                message: message.into(),
                detail: None,
                retry_after: None,
            }),
        }
    }

    /// An error with the usual message of its kind.
    #[must_use]
    pub fn of(kind: ErrorKind) -> Self {
        Self::new(kind, kind.message())
    }

    /// Adds what the provider or the network said, cut to a bounded length.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        let mut detail = detail.into();
        if detail.len() > DETAIL_LIMIT {
            detail.truncate(detail.floor_char_boundary(DETAIL_LIMIT));
            detail.push('…');
        }
        self.inner.detail = Some(detail);
        self
    }

    /// Adds how long the provider asks to wait.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.inner.retry_after = Some(wait);
        self
    }

    /// What kind of failure it was.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.inner.kind
    }

    /// The stable code of its kind, such as `upstream_timeout`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.inner.kind.code()
    }

    /// What the provider or the network said. For the log only; never holds a key.
    #[must_use]
    pub fn detail(&self) -> Option<&str> {
        self.inner.detail.as_deref()
    }

    /// How long the provider asked to wait.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.inner.retry_after
    }

    /// Whether the same call may go well a moment later.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(
            self.inner.kind,
            ErrorKind::Connect | ErrorKind::RateLimited | ErrorKind::Unavailable
        )
    }
}

impl ErrorKind {
    /// The stable code of this kind, such as `upstream_timeout`.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Connect | Self::Unavailable => "upstream_unavailable",
            Self::Timeout => "upstream_timeout",
            Self::RateLimited => "upstream_rate_limited",
            Self::Unauthorized => "upstream_unauthorized",
            Self::BadRequest => "upstream_bad_request",
            Self::Refused => "upstream_refused",
            Self::Truncated => "upstream_truncated",
            Self::Malformed => "upstream_malformed",
            Self::TooLarge => "upstream_too_large",
            Self::Setup => "model_setup",
            Self::Other => "upstream_error",
        }
    }
}

impl ErrorKind {
    fn message(self) -> &'static str {
        match self {
            Self::Connect => "the model provider cannot be reached",
            Self::Timeout => "the model provider did not answer in time",
            Self::RateLimited => "the model provider's rate limit is reached",
            Self::Unauthorized => "the model provider rejected the credentials",
            Self::BadRequest => "the model provider did not accept the request",
            Self::Refused => "the model provider declined this content",
            Self::Unavailable => "the model provider is unavailable",
            Self::Truncated => "the model's answer was cut off",
            Self::Malformed => "the model provider sent an answer that cannot be read",
            Self::TooLarge => "the model's answer is too large",
            Self::Setup => "the model is not set up",
            Self::Other => "the model provider reported an error",
        }
    }

    /// What an HTTP status means.
    #[must_use]
    pub fn from_status(status: u16) -> Self {
        match status {
            401 | 403 => Self::Unauthorized,
            408 | 500..=599 => Self::Unavailable,
            429 => Self::RateLimited,
            400..=499 => Self::BadRequest,
            _ => Self::Other,
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.inner.kind)
            .field("message", &self.inner.message)
            .field("detail", &self.inner.detail)
            .field("retry_after", &self.inner.retry_after)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_detail_is_cut_between_characters() {
        let error = Error::new(ErrorKind::Other, "x").with_detail("é".repeat(DETAIL_LIMIT));
        let detail = error.detail().unwrap();
        assert!(detail.len() <= DETAIL_LIMIT + '…'.len_utf8());
        assert!(detail.ends_with("é…"));
    }

    #[test]
    fn the_public_message_holds_nothing_of_the_detail() {
        let error =
            Error::new(ErrorKind::Unauthorized, "the key was rejected").with_detail("secret words");
        assert!(!error.to_string().contains("secret"));
        assert_eq!(error.code(), "upstream_unauthorized");
    }
}
