//! Users that a proxy in front of the server has checked already.

use std::net::{IpAddr, SocketAddr};

use axum::extract::ConnectInfo;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use http::HeaderName;
use http::request::Parts;

use super::network::Network;
use super::{Authenticator, Principal, Rejection, is_user};
use crate::error::Error;

/// Knows people by a header that a proxy sets, where the connection comes from that proxy.
///
/// The proxy must drop the header from what its own clients send. In a larger application the
/// addresses of connections are known where it is served with
/// `into_make_service_with_connect_info::<SocketAddr>()`; without them nobody is let in.
///
/// ```
/// use antiphon_server::TrustedHeader;
///
/// let users = TrustedHeader::new("x-forwarded-user", ["127.0.0.1", "10.20.0.0/16"])?;
/// # Ok::<(), antiphon_server::Error>(())
/// ```
#[derive(Debug)]
pub struct TrustedHeader {
    name: HeaderName,
    proxies: Vec<Network>,
}

impl TrustedHeader {
    /// Trusts a header of connections from these addresses or networks.
    ///
    /// # Errors
    /// The name can't be a header's, there is no proxy, or one of them is no address.
    pub fn new<I>(name: &str, proxies: I) -> Result<Self, Error>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let name = name
            .parse()
            .map_err(|_| Error::Auth(format!("{name:?} is no name of a header")))?;
        let proxies = proxies
            .into_iter()
            .map(|proxy| Network::read(proxy.as_ref()))
            .collect::<Result<Vec<_>, _>>()?;
        if proxies.is_empty() {
            return Err(Error::Auth(format!("{name}: there is no proxy to trust")));
        }
        Ok(Self { name, proxies })
    }

    fn check(&self, head: &Parts) -> Result<Principal, Rejection> {
        let mut given = head.headers.get_all(&self.name).iter();
        let (Some(user), None) = (given.next(), given.next()) else {
            return Err(nobody());
        };
        let peer = head.extensions.get::<ConnectInfo<SocketAddr>>();
        if !peer.is_some_and(|peer| self.trusts(peer.0.ip())) {
            return Err(nobody());
        }
        match str::from_utf8(user.as_bytes()) {
            Ok(user) if is_user(user) => Ok(Principal::user(user)),
            _ => Err(nobody()),
        }
    }

    fn trusts(&self, peer: IpAddr) -> bool {
        self.proxies.iter().any(|proxy| proxy.holds(peer))
    }
}

/// The same for everybody: it says nothing of which addresses are trusted.
fn nobody() -> Rejection {
    Rejection::unauthenticated("the request does not come through the proxy that names its user")
}

impl Authenticator for TrustedHeader {
    fn authenticate<'a>(&'a self, head: &'a Parts) -> BoxFuture<'a, Result<Principal, Rejection>> {
        ready(self.check(head)).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(peer: Option<&str>, users: &[&str]) -> Option<String> {
        let header = TrustedHeader::new("X-User", ["127.0.0.1", "10.0.0.0/8"]).unwrap();
        let mut request = http::Request::builder();
        for user in users {
            request = request.header("x-user", *user);
        }
        let (mut head, ()) = request.body(()).unwrap().into_parts();
        if let Some(peer) = peer {
            let peer: IpAddr = peer.parse().unwrap();
            head.extensions
                .insert(ConnectInfo(SocketAddr::from((peer, 40_000))));
        }
        header.check(&head).ok().map(|principal| principal.user)
    }

    #[test]
    fn a_trusted_proxy_names_the_user() {
        for peer in ["127.0.0.1", "10.1.2.3", "::ffff:10.1.2.3"] {
            assert_eq!(
                ask(Some(peer), &["alice"]).as_deref(),
                Some("alice"),
                "{peer}"
            );
        }
    }

    #[test]
    fn nobody_else_does() {
        for peer in ["192.168.1.1", "11.0.0.1", "::1", "2001:db8::1"] {
            assert_eq!(ask(Some(peer), &["alice"]), None, "{peer}");
        }
        assert_eq!(ask(None, &["alice"]), None);
    }

    #[test]
    fn no_user_and_two_users_are_nobody() {
        for users in [
            &[][..],
            &[""],
            &[" "],
            &["alice", "alice"],
            &["alice", "bob"],
        ] {
            assert_eq!(ask(Some("127.0.0.1"), users), None, "{users:?}");
        }
    }

    #[test]
    fn a_header_needs_a_name_and_a_proxy() {
        assert!(TrustedHeader::new("x user", ["127.0.0.1"]).is_err());
        assert!(TrustedHeader::new("x-user", ["proxy"]).is_err());
        assert!(TrustedHeader::new::<[&str; 0]>("x-user", []).is_err());
    }
}
