//! Fixed bearer tokens.

use std::fmt;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use http::header::AUTHORIZATION;
use http::request::Parts;
use sha2::{Digest, Sha256};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

use super::{Authenticator, Principal, Rejection};
use crate::error::Error;

/// Knows people and services by `Authorization: Bearer <token>`.
///
/// Only the tokens' hashes are kept, and all of them are compared, whichever one fits: how long an
/// answer takes says nothing about a token.
///
/// ```
/// use antiphon_server::StaticTokens;
///
/// let tokens = StaticTokens::new().user("s3cret", "alice")?.service("w0rker", "kyc-worker")?;
/// # Ok::<(), antiphon_server::Error>(())
/// ```
#[derive(Default)]
pub struct StaticTokens {
    entries: Vec<([u8; 32], Principal)>,
}

impl StaticTokens {
    /// Knows nobody yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A person's token.
    ///
    /// # Errors
    /// The token is empty or given twice.
    pub fn user(self, token: &str, user: impl Into<String>) -> Result<Self, Error> {
        self.with(token, Principal::user(user))
    }

    /// Another system's token.
    ///
    /// # Errors
    /// The token is empty or given twice.
    pub fn service(self, token: &str, name: impl Into<String>) -> Result<Self, Error> {
        self.with(token, Principal::service(name))
    }

    fn with(mut self, token: &str, principal: Principal) -> Result<Self, Error> {
        if token.is_empty() {
            return Err(Error::Token("a token is empty"));
        }
        let hash = hash(token);
        if self.entries.iter().any(|(known, _)| *known == hash) {
            return Err(Error::Token("a token is given twice"));
        }
        self.entries.push((hash, principal));
        Ok(self)
    }

    fn find(&self, token: &str) -> Option<&Principal> {
        let given = hash(token);
        let mut place = u64::MAX;
        for (index, (known, _)) in (0_u64..).zip(&self.entries) {
            let fits: Choice = known.ct_eq(&given);
            place = u64::conditional_select(&place, &index, fits);
        }
        let place = usize::try_from(place).ok()?;
        self.entries.get(place).map(|(_, principal)| principal)
    }

    fn check(&self, head: &Parts) -> Result<Principal, Rejection> {
        let token = bearer_of(head)?;
        let known = self.find(token).cloned();
        known.ok_or_else(unknown)
    }
}

/// The bearer token of a request.
pub(super) fn bearer_of(head: &Parts) -> Result<&str, Rejection> {
    let mut given = head.headers.get_all(AUTHORIZATION).iter();
    let Some(value) = given.next() else {
        return Err(Rejection::unauthenticated("a bearer token is needed"));
    };
    // A proxy may have checked the other one.
    if given.next().is_some() {
        let message = "a request has one Authorization header";
        return Err(Rejection::unauthenticated(message));
    }
    let token = value.to_str().ok().and_then(bearer);
    token.ok_or_else(unknown)
}

fn unknown() -> Rejection {
    Rejection::unauthenticated("the bearer token is not known")
}

/// The token of `Bearer <token>`; the scheme may be written in any case.
fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

impl Authenticator for StaticTokens {
    fn authenticate<'a>(&'a self, head: &'a Parts) -> BoxFuture<'a, Result<Principal, Rejection>> {
        ready(self.check(head)).boxed()
    }
}

impl fmt::Debug for StaticTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let principals: Vec<_> = self
            .entries
            .iter()
            .map(|(_, principal)| principal)
            .collect();
        f.debug_struct("StaticTokens")
            .field("principals", &principals)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask<'a>(
        tokens: &StaticTokens,
        authorization: impl IntoIterator<Item = &'a str>,
    ) -> Option<Principal> {
        let mut request = http::Request::builder();
        for value in authorization {
            request = request.header(AUTHORIZATION, value);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        tokens.check(&head).ok()
    }

    fn tokens() -> StaticTokens {
        StaticTokens::new()
            .user("alpha", "alice")
            .and_then(|tokens| tokens.user("beta", "bob"))
            .and_then(|tokens| tokens.service("gamma", "worker"))
            .unwrap()
    }

    #[test]
    fn each_token_names_its_own_principal() {
        let tokens = tokens();
        for (header, expected) in [
            ("Bearer alpha", Principal::user("alice")),
            ("bearer  beta ", Principal::user("bob")),
            ("BEARER gamma", Principal::service("worker")),
        ] {
            assert_eq!(ask(&tokens, Some(header)), Some(expected), "{header}");
        }
    }

    #[test]
    fn anything_else_names_nobody() {
        let tokens = tokens();
        for header in [
            "",
            "alpha",
            "Bearer",
            "Bearer ",
            "Bearer alph",
            "Bearer alphaa",
            "Basic alpha",
            "Bearer alpha beta",
        ] {
            assert_eq!(ask(&tokens, Some(header)), None, "{header:?}");
        }
        assert_eq!(ask(&tokens, None), None);
        assert_eq!(ask(&StaticTokens::new(), Some("Bearer x")), None);
    }

    #[test]
    fn two_headers_name_nobody() {
        let tokens = tokens();
        for second in ["Bearer beta", "Bearer alpha", "Bearer x", ""] {
            assert_eq!(ask(&tokens, ["Bearer alpha", second]), None, "{second:?}");
            assert_eq!(ask(&tokens, [second, "Bearer alpha"]), None, "{second:?}");
        }
    }

    #[test]
    fn an_empty_or_repeated_token_is_no_token() {
        assert!(StaticTokens::new().user("", "alice").is_err());
        assert!(tokens().user("alpha", "mallory").is_err());
    }

    #[test]
    fn tokens_are_not_printed() {
        let printed = format!("{:?}", tokens());
        assert!(
            printed.contains("alice") && !printed.contains("alpha"),
            "{printed}"
        );
    }
}
