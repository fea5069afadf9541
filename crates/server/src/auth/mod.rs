//! Who asks. Identity comes from here alone, never from a body, a query or any other header.

mod header;
mod jwt;
mod local;
mod network;
mod several;
mod tokens;

use std::borrow::Cow;
use std::fmt;

use antiphon_protocol::MAX_ID_BYTES;
use axum::extract::FromRequestParts;
use futures_util::future::BoxFuture;
use http::StatusCode;
use http::request::Parts;
use std::sync::Arc;

pub use header::TrustedHeader;
pub use jwt::Jwt;
pub use local::Local;
pub use several::Authenticators;
pub use tokens::StaticTokens;

use crate::app::App;
use crate::error::ApiError;

/// Tells who sent a request, from its head.
///
/// ```
/// use antiphon_server::{Authenticator, Principal, Rejection};
/// use futures_util::future::BoxFuture;
/// use http::request::Parts;
///
/// /// Trusts a proxy that has checked the user already.
/// #[derive(Debug)]
/// struct Proxy;
///
/// impl Authenticator for Proxy {
///     fn authenticate<'a>(&'a self, head: &'a Parts) -> BoxFuture<'a, Result<Principal, Rejection>> {
///         let user = head.headers.get("x-verified-user").and_then(|user| user.to_str().ok());
///         let principal = user.map(Principal::user);
///         Box::pin(async move { principal.ok_or_else(|| Rejection::unauthenticated("no user")) })
///     }
/// }
/// # let (head, ()) = http::Request::builder().header("x-verified-user", "alice").body(()).unwrap().into_parts();
/// # let found = futures_util::FutureExt::now_or_never(Proxy.authenticate(&head)).unwrap();
/// # assert_eq!(found.unwrap().user, "alice");
/// ```
pub trait Authenticator: Send + Sync + fmt::Debug + 'static {
    /// Names the principal.
    ///
    /// # Errors
    /// A [`Rejection`]: the request is refused with 401 or 403.
    fn authenticate<'a>(&'a self, head: &'a Parts) -> BoxFuture<'a, Result<Principal, Rejection>>;
}

/// Who sent a request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Principal {
    /// The user, or the service's name. Threads and runs belong to it.
    pub user: String,
    /// What it may do.
    pub kind: PrincipalKind,
}

/// What a principal may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PrincipalKind {
    /// A person: runs agents and sees what is theirs.
    User,
    /// Another system: settles external waits and does nothing else.
    Service,
}

impl Principal {
    /// A person.
    pub fn user(user: impl Into<String>) -> Self {
        Self {
            user: user.into(),
            kind: PrincipalKind::User,
        }
    }

    /// Another system.
    pub fn service(name: impl Into<String>) -> Self {
        Self {
            user: name.into(),
            kind: PrincipalKind::Service,
        }
    }
}

/// Why a request was not let in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Rejection {
    reason: Reason,
    message: Cow<'static, str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    Unauthenticated,
    Forbidden,
    Unavailable,
}

impl Rejection {
    /// 401: nobody we know.
    pub fn unauthenticated(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Reason::Unauthenticated, message)
    }

    /// 403: known, and not allowed.
    pub fn forbidden(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Reason::Forbidden, message)
    }

    /// 503: what tells who it is can't be asked right now.
    pub fn unavailable(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Reason::Unavailable, message)
    }

    fn new(reason: Reason, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            reason,
            message: message.into(),
        }
    }

    fn is_unauthenticated(&self) -> bool {
        self.reason == Reason::Unauthenticated
    }

    fn is_unavailable(&self) -> bool {
        self.reason == Reason::Unavailable
    }
}

impl From<Rejection> for ApiError {
    fn from(rejection: Rejection) -> Self {
        let (status, code) = match rejection.reason {
            Reason::Unauthenticated => (StatusCode::UNAUTHORIZED, "unauthenticated"),
            Reason::Forbidden => (StatusCode::FORBIDDEN, "forbidden"),
            Reason::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "auth_unavailable"),
        };
        let error = Self::new(status, code, rejection.message);
        match rejection.reason {
            Reason::Unauthenticated => error.challenge(),
            Reason::Forbidden => error,
            Reason::Unavailable => error.retry_after(5),
        }
    }
}

/// Whether this can be a user's name: it becomes part of keys, and of what is logged.
fn is_user(name: &str) -> bool {
    let is_short = (1..=MAX_ID_BYTES).contains(&name.len());
    is_short && name.trim() == name && !name.chars().any(char::is_control)
}

/// The person who sent a request; a service is refused.
#[derive(Debug)]
pub(crate) struct Caller(pub(crate) String);

impl Caller {
    pub(crate) async fn of(app: &App, head: &Parts) -> Result<Self, ApiError> {
        let principal = app.authenticator.authenticate(head).await?;
        match principal.kind {
            PrincipalKind::User => Ok(Self(principal.user)),
            PrincipalKind::Service => {
                let message = "a service token may settle external waits and do nothing else";
                Err(Rejection::forbidden(message).into())
            }
        }
    }
}

impl FromRequestParts<Arc<App>> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(head: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        Self::of(app, head).await
    }
}
