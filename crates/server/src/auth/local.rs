//! One user, for a server that only this machine can reach.

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use http::request::Parts;

use super::{Authenticator, Principal, Rejection};

/// Everybody is the user `local`. A server with this listens on loopback addresses only.
#[derive(Debug, Clone, Copy, Default)]
pub struct Local;

impl Authenticator for Local {
    fn authenticate<'a>(&'a self, _: &'a Parts) -> BoxFuture<'a, Result<Principal, Rejection>> {
        ready(Ok(Principal::user("local"))).boxed()
    }
}
