//! Where a provider is and how it is called.

use std::{fmt, sync::OnceLock};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

use super::{Retries, Timeouts, client};
use crate::{Error, ErrorKind};

/// A provider's address with the headers that open it. Header values are secret: they are in no debug output, log or
/// error, and are blotted out where a provider repeats them.
pub struct Endpoint {
    url: reqwest::Url,
    headers: HeaderMap,
    secrets: Vec<SecretString>,
    pub(super) timeouts: Timeouts,
    pub(super) retries: Retries,
    client: OnceLock<reqwest::Client>,
}

impl Endpoint {
    /// An endpoint at `url` with these headers.
    ///
    /// # Errors
    /// [`ErrorKind::Setup`] if the URL is none of http or https, or a header cannot be sent.
    pub fn new<'a>(
        url: &str,
        headers: impl IntoIterator<Item = (&'a str, &'a SecretString)>,
        timeouts: Timeouts,
        retries: Retries,
    ) -> Result<Self, Error> {
        let url = reqwest::Url::parse(url)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https"));
        let url = url.ok_or_else(|| {
            Error::new(
                ErrorKind::Setup,
                "the model's base_url is no http or https url",
            )
        })?;
        let mut map = HeaderMap::new();
        let mut secrets = Vec::new();
        for (name, secret) in headers {
            let wrong = || {
                Error::new(
                    ErrorKind::Setup,
                    format!("the model's header {name:?} cannot be sent"),
                )
            };
            let mut value = HeaderValue::from_str(secret.expose_secret()).map_err(|_| wrong())?;
            value.set_sensitive(true);
            map.insert(
                HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?,
                value,
            );
            secrets.push(secret.clone());
        }
        Ok(Self {
            url,
            headers: map,
            secrets,
            timeouts,
            retries,
            client: OnceLock::new(),
        })
    }

    /// A POST of a JSON body whose answer is to be a stream.
    pub(super) fn request(&self, body: bytes::Bytes) -> Result<reqwest::RequestBuilder, Error> {
        let request = self.client()?.post(self.url.clone());
        Ok(request
            .header("content-type", "application/json")
            .header("accept", "text/event-stream")
            .headers(self.headers.clone())
            .body(body))
    }

    /// Text that came from outside, without any of our secrets in it.
    pub(super) fn without_secrets(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            // `Bearer KEY` holds the key, which may come back alone.
            for part in secret
                .expose_secret()
                .split_ascii_whitespace()
                .filter(|part| part.len() >= 8)
            {
                if text.contains(part) {
                    text = text.replace(part, "[redacted]");
                }
            }
        }
        text
    }

    /// The client, made at the first call: loading the system's certificates takes a while.
    fn client(&self) -> Result<&reqwest::Client, Error> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let made = client(self.timeouts.connect)?;
        Ok(self.client.get_or_init(|| made))
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("host", &self.url.host_str())
            .field("timeouts", &self.timeouts)
            .field("retries", &self.retries)
            .finish_non_exhaustive()
    }
}
