//! Bearer tokens of an identity provider: JWTs, checked against the keys that it publishes.

mod cache;
mod key_set;

use std::fmt;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::request::Parts;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, Validation};
use serde::Deserialize;

use super::tokens::bearer_of;
use super::{Authenticator, Principal, Rejection, is_user};
use crate::error::Error;
use cache::{Keys, Miss};

/// How far the provider's clock may be from ours, in seconds.
const LEEWAY: u64 = 30;
/// The longest token that is looked at, in bytes.
const TOKEN: usize = 16 << 10;

/// Knows people by JWTs. The user is the token's `sub`.
///
/// A token counts if it is signed with a pinned algorithm and a published key, comes from the issuer,
/// is meant for the audience, and its time has come and is not over. The keys are fetched when the
/// first token arrives, again when a token names one that is not known (in the long run not more
/// often than every 30 s), and every ten minutes. While the provider can't be reached, those that are
/// known go on counting.
///
/// ```
/// use antiphon_server::Jwt;
///
/// let issuer = "https://id.example.com";
/// let jwt = Jwt::new("https://id.example.com/jwks.json", issuer, "my-agents")?
///     .algorithms(["RS256", "ES256"])?;
/// # Ok::<(), antiphon_server::Error>(())
/// ```
pub struct Jwt {
    issuer: String,
    audience: String,
    algorithms: Vec<Algorithm>,
    keys: Keys,
}

/// What of a token counts once it is proven.
#[derive(Deserialize)]
struct Claims {
    sub: String,
    /// Read as one text: the check before takes a list, too.
    #[serde(rename = "iss")]
    _issuer: String,
}

impl Jwt {
    /// Takes tokens from this issuer and for this audience, signed with RS256 and a key that is
    /// published at the address.
    ///
    /// # Errors
    /// The address is no `https` URL (`http` will do on this machine), or the issuer or the audience
    /// is empty.
    pub fn new(
        jwks_url: &str,
        issuer: impl Into<String>,
        audience: impl Into<String>,
    ) -> Result<Self, Error> {
        let (issuer, audience) = (issuer.into(), audience.into());
        if issuer.is_empty() || audience.is_empty() {
            return Err(Error::Auth(
                "jwt: issuer and audience must not be empty".into(),
            ));
        }
        Ok(Self {
            issuer,
            audience,
            algorithms: vec![Algorithm::RS256],
            keys: Keys::at(jwks_url)?,
        })
    }

    /// Takes tokens signed with these algorithms and no others: RS256, RS384, RS512, PS256, PS384,
    /// PS512, ES256, ES384 or EdDSA.
    ///
    /// # Errors
    /// There is none, or one of them is not among these.
    pub fn algorithms<I>(mut self, names: I) -> Result<Self, Error>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        self.algorithms = names
            .into_iter()
            .map(|name| algorithm(name.as_ref()))
            .collect::<Result<_, _>>()?;
        if self.algorithms.is_empty() {
            return Err(Error::Auth("jwt: there is no algorithm".into()));
        }
        Ok(self)
    }

    async fn check(&self, head: &Parts) -> Result<Principal, Rejection> {
        let token = bearer_of(head)?;
        if token.len() > TOKEN {
            return Err(invalid());
        }
        let header = jsonwebtoken::decode_header(token).map_err(|_| invalid())?;
        if !self.algorithms.contains(&header.alg) {
            return Err(invalid());
        }
        let found = self.keys.find(header.kid.as_deref(), header.alg).await;
        let key = found.map_err(|miss| match miss {
            Miss::Unknown => invalid(),
            Miss::Unavailable => {
                Rejection::unavailable("the keys of the identity provider can't be had")
            }
        })?;
        let rules = self.rules(header.alg);
        let proven = jsonwebtoken::decode::<Claims>(token, &key, &rules);
        let user = proven.map_err(|error| refused(error.kind()))?.claims.sub;
        match is_user(&user) {
            true => Ok(Principal::user(user)),
            false => Err(invalid()),
        }
    }

    fn rules(&self, algorithm: Algorithm) -> Validation {
        let mut rules = Validation::new(algorithm);
        rules.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        rules.set_issuer(&[&self.issuer]);
        rules.set_audience(&[&self.audience]);
        rules.validate_nbf = true;
        rules.leeway = LEEWAY;
        rules
    }
}

impl Authenticator for Jwt {
    fn authenticate<'a>(&'a self, head: &'a Parts) -> BoxFuture<'a, Result<Principal, Rejection>> {
        self.check(head).boxed()
    }
}

impl fmt::Debug for Jwt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jwt")
            .field("issuer", &self.issuer)
            .field("audience", &self.audience)
            .field("algorithms", &self.algorithms)
            .finish_non_exhaustive()
    }
}

/// An algorithm with a public key. With a shared secret whoever checks a token could also make it.
fn algorithm(name: &str) -> Result<Algorithm, Error> {
    let known = name.parse::<Algorithm>().ok();
    let public = known.filter(|known| known.family() != jsonwebtoken::AlgorithmFamily::Hmac);
    public.ok_or_else(|| {
        let known = "RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, EdDSA";
        Error::Auth(format!(
            "jwt: {name:?} is no algorithm to rely on; there are {known}"
        ))
    })
}

/// What a client may know of why its token does not count.
fn refused(kind: &ErrorKind) -> Rejection {
    match kind {
        ErrorKind::ExpiredSignature => Rejection::unauthenticated("the bearer token has expired"),
        ErrorKind::ImmatureSignature => {
            Rejection::unauthenticated("the bearer token is not valid yet")
        }
        _ => invalid(),
    }
}

fn invalid() -> Rejection {
    Rejection::unauthenticated("the bearer token is not valid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_algorithms_with_a_public_key_can_be_pinned() {
        let jwt = || Jwt::new("https://id.example.com/keys", "issuer", "us").unwrap();
        for name in [
            "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA",
        ] {
            assert!(jwt().algorithms([name]).is_ok(), "{name}");
        }
        for name in ["HS256", "HS512", "none", "rs256", ""] {
            assert!(jwt().algorithms([name]).is_err(), "{name}");
        }
        assert!(jwt().algorithms::<[&str; 0]>([]).is_err());
    }

    #[test]
    fn an_empty_issuer_or_audience_would_match_too_much() {
        for (issuer, audience) in [("", "us"), ("issuer", "")] {
            assert!(Jwt::new("https://id.example.com/keys", issuer, audience).is_err());
        }
    }
}
