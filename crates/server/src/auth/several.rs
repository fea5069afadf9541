//! Several ways to be known.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::request::Parts;

use super::{Authenticator, Principal, Rejection};

/// Asks one authenticator after the other; the first that knows the sender names them.
///
/// ```
/// use antiphon_server::{Authenticators, Jwt, StaticTokens};
///
/// let workers = StaticTokens::new().service("w0rker", "kyc-worker")?;
/// let people = Jwt::new("https://id.example.com/jwks.json", "https://id.example.com", "agents")?;
/// let both = Authenticators::new().with(workers).with(people);
/// # Ok::<(), antiphon_server::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Authenticators(Vec<Arc<dyn Authenticator>>);

impl Authenticators {
    /// Knows nobody yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks this one where those before know nobody.
    #[must_use]
    pub fn with(mut self, next: impl Authenticator) -> Self {
        self.0.push(Arc::new(next));
        self
    }

    /// Who is known and not allowed is refused at once. Where nobody knows the sender, it may be
    /// because one of them could not look; else the last one says why.
    async fn ask(&self, head: &Parts) -> Result<Principal, Rejection> {
        let mut why = Rejection::unauthenticated("nobody is known here");
        for authenticator in &self.0 {
            match authenticator.authenticate(head).await {
                Err(rejection) if rejection.is_unauthenticated() => {
                    if why.is_unauthenticated() {
                        why = rejection;
                    }
                }
                Err(rejection) if rejection.is_unavailable() => why = rejection,
                decided => return decided,
            }
        }
        Err(why)
    }
}

impl Authenticator for Authenticators {
    fn authenticate<'a>(&'a self, head: &'a Parts) -> BoxFuture<'a, Result<Principal, Rejection>> {
        self.ask(head).boxed()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::ready;

    use super::*;

    #[derive(Debug)]
    struct Says(Result<Principal, Rejection>);

    impl Authenticator for Says {
        fn authenticate<'a>(&'a self, _: &'a Parts) -> BoxFuture<'a, Result<Principal, Rejection>> {
            ready(self.0.clone()).boxed()
        }
    }

    fn ask(say: &[&Result<Principal, Rejection>]) -> Result<Principal, Rejection> {
        let all = say.iter().fold(Authenticators::new(), |all, one| {
            all.with(Says((*one).clone()))
        });
        let (head, ()) = http::Request::new(()).into_parts();
        all.ask(&head).now_or_never().unwrap()
    }

    #[test]
    fn the_first_that_knows_the_sender_names_them() {
        let (alice, bob) = (Ok(Principal::user("alice")), Ok(Principal::user("bob")));
        let unknown = Err(Rejection::unauthenticated("who?"));
        let forbidden = Err(Rejection::forbidden("not you"));
        let away = Err(Rejection::unavailable("away"));
        assert_eq!(ask(&[&unknown, &alice, &bob]), alice);
        assert_eq!(ask(&[&away, &alice]), alice);
        assert_eq!(ask(&[&forbidden, &alice]), forbidden);
        assert_eq!(ask(&[&away, &unknown]), away);
        assert_eq!(ask(&[&unknown, &away, &unknown]), away);
        assert_eq!(
            ask(&[&Err(Rejection::unauthenticated("first")), &unknown]),
            unknown
        );
        assert!(ask(&[]).is_err());
    }
}
