//! Which names a server answers to.
//!
//! A web page can make its own name point at 127.0.0.1 and then talk to a local server as if it were
//! its own. The browser still sends that name, so a loopback server knows it by its `Host`.

use std::net::{Ipv4Addr, Ipv6Addr};

use axum::extract::Request;
use http::{StatusCode, header};

use crate::error::ApiError;

/// The names that a server answers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hosts {
    /// All; others than this machine's programs are meant to reach it.
    Any,
    /// Names of this machine only.
    Loopback,
}

impl Hosts {
    /// Checks the `Host` header, and the authority of the request's target where it has one.
    pub(crate) fn check<B>(self, request: &http::Request<B>) -> Result<(), ApiError> {
        if self == Self::Any {
            return Ok(());
        }
        let mut given = request.headers().get_all(header::HOST).iter();
        let (first, second) = (given.next(), given.next());
        let target = request.uri().authority();
        if second.is_some() || (first.is_none() && target.is_none()) {
            let message = "a request names one Host";
            return Err(ApiError::new(
                StatusCode::BAD_REQUEST,
                "invalid_host",
                message,
            ));
        }
        let header_is_ours = first.is_none_or(|host| host.to_str().is_ok_and(is_loopback));
        if header_is_ours && target.is_none_or(|target| is_loopback(target.as_str())) {
            return Ok(());
        }
        let message = "this server answers only to names of this machine; call it as localhost or 127.0.0.1, or let the proxy in front of it send such a Host";
        Err(ApiError::new(
            StatusCode::MISDIRECTED_REQUEST,
            "misdirected",
            message,
        ))
    }
}

/// The host and port that the client called, as it wrote them.
pub(crate) fn called(request: &Request) -> Option<&str> {
    let header = request.headers().get(header::HOST);
    match header {
        Some(host) => host.to_str().ok(),
        None => request.uri().authority().map(http::uri::Authority::as_str),
    }
}

/// Whether an authority is this machine: `localhost`, a name below it, or a loopback address in its
/// usual form, with or without a port.
fn is_loopback(authority: &str) -> bool {
    if let Some(rest) = authority.strip_prefix('[') {
        let Some((address, after)) = rest.split_once(']') else {
            return false;
        };
        return is_port_or_nothing(after)
            && address.parse::<Ipv6Addr>().is_ok_and(|ip| ip.is_loopback());
    }
    let (name, after) = match authority.find(':') {
        Some(colon) => authority.split_at(colon),
        None => (authority, ""),
    };
    is_port_or_nothing(after) && (is_localhost(name) || is_loopback_v4(name))
}

fn is_port_or_nothing(after: &str) -> bool {
    match after.strip_prefix(':') {
        Some(port) => port.bytes().all(|byte| byte.is_ascii_digit()),
        None => after.is_empty(),
    }
}

fn is_loopback_v4(name: &str) -> bool {
    name.parse::<Ipv4Addr>().is_ok_and(|ip| ip.is_loopback())
}

fn is_localhost(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_label = |label: &str| {
        !label.is_empty()
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    match name.strip_suffix("localhost") {
        Some("") => true,
        Some(below) => below
            .strip_suffix('.')
            .is_some_and(|labels| labels.split('.').all(is_label)),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn names_of_this_machine_are_known() {
        for host in [
            "localhost",
            "LocalHost:8888",
            "app.localhost",
            "a.b.localhost:1",
            "127.0.0.1",
            "127.0.0.1:8888",
            "127.9.8.7",
            "[::1]",
            "[::1]:8888",
            "[0:0:0:0:0:0:0:1]:80",
            "localhost:",
        ] {
            assert!(is_loopback(host), "{host}");
        }
    }

    #[test]
    fn other_names_are_not_taken_for_this_machine() {
        for host in [
            "",
            "evil.example",
            "evil.example:8888",
            "localhost.evil.example",
            "evillocalhost",
            "evil-localhost:80",
            ".localhost",
            "a..localhost",
            "localhost.",
            "127.0.0.1.evil.example",
            "127.0.0.1.",
            "evil@127.0.0.1",
            "localhost@evil",
            "localhost:80@evil",
            "localhost:80:80",
            "localhost:port",
            "0x7f000001",
            "2130706433",
            "127.1",
            "0127.0.0.1",
            "0.0.0.0",
            "192.168.1.4",
            "[::]",
            "[::1",
            "::1",
            "[::1]evil",
            "[::ffff:127.0.0.1]",
            "local host",
            "a b.localhost",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
