//! The HTTP client that calls go through.

use std::time::Duration;

use crate::{Error, ErrorKind};

/// Makes a client for calls to model providers.
///
/// It follows no redirects, so a key never travels to another host, and takes no proxy from the environment. The
/// process's TLS provider is set to ring if none is set yet.
///
/// # Errors
/// [`ErrorKind::Setup`] if the system's certificates cannot be loaded.
pub fn client(connect: Duration) -> Result<reqwest::Client, Error> {
    // An error means that a provider is installed already.
    rustls::crypto::ring::default_provider()
        .install_default()
        .ok();
    reqwest::Client::builder()
        .connect_timeout(connect)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .tcp_nodelay(true)
        .user_agent(concat!("antiphon/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| {
            Error::new(ErrorKind::Setup, "the http client cannot be set up")
                .with_detail(chain(&error))
        })
}

/// An error and its causes in one line.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        line.push_str(": ");
        line.push_str(&error.to_string());
        cause = error.source();
    }
    line
}
