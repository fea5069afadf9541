//! The headers that a client sends: secrets, all of them.

use std::fmt;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};

use crate::{Error, ErrorKind};

/// Parts of a secret that are shorter than this are words, which must not be blotted out.
const SECRET_PART: usize = 8;

/// Headers of the application's own. Their values are in no debug output and no error.
#[derive(Clone, Default)]
pub(crate) struct Headers {
    map: HeaderMap,
    secrets: Vec<SecretString>,
    /// The name of a header that cannot be sent. Told at the first request, so that setting a
    /// token is a plain step of a chain.
    unusable: Option<String>,
}

impl Headers {
    pub(crate) fn token(&mut self, token: &str) {
        self.insert(AUTHORIZATION.as_str(), &format!("Bearer {token}"));
    }

    pub(crate) fn insert(&mut self, name: &str, value: &str) {
        let header = HeaderName::from_bytes(name.as_bytes())
            .ok()
            .zip(HeaderValue::from_str(value).ok());
        match header {
            Some((name, mut value)) => {
                value.set_sensitive(true);
                self.map.insert(name, value);
            }
            None => self.unusable = Some(name.to_owned()),
        }
        self.secrets.push(value.to_owned().into());
    }

    /// Returns the headers to send.
    pub(crate) fn checked(&self) -> Result<HeaderMap, Error> {
        match &self.unusable {
            None => Ok(self.map.clone()),
            Some(name) => Err(Error::new(
                ErrorKind::Setup,
                format!("the header {name:?} holds characters that cannot be sent"),
            )),
        }
    }

    /// Returns text of the other side without any of our secrets in it.
    pub(crate) fn blot(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            // `Bearer TOKEN` holds the token, which may come back alone.
            let parts = secret.expose_secret().split_ascii_whitespace();
            for part in parts.filter(|part| part.len() >= SECRET_PART) {
                if text.contains(part) {
                    text = text.replace(part, "[redacted]");
                }
            }
        }
        text
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.map.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_never_shown() {
        let mut headers = Headers::default();
        headers.token("s3cret-token");
        headers.insert("x-api-key", "another-secret");
        let shown = format!("{headers:?}");
        assert_eq!(shown, r#"["authorization", "x-api-key"]"#);
        let said = headers.blot("bad token s3cret-token, key another-secret, Bearer");
        assert_eq!(said, "bad token [redacted], key [redacted], Bearer");
    }

    #[test]
    fn a_header_that_cannot_be_sent_is_named_without_its_value() {
        let mut headers = Headers::default();
        headers.token("line\nbreak");
        let error = headers.checked().unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Setup);
        assert_eq!(
            error.to_string(),
            "the header \"authorization\" holds characters that cannot be sent"
        );
    }
}
