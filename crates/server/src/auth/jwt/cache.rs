//! The provider's keys: fetched when they are needed, kept while they can't be.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use jsonwebtoken::{Algorithm, DecodingKey};
use reqwest::{Client, Url};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::key_set::KeySet;
use crate::error::Error;

/// What a fetch costs. Two can be had at once, so that keys which change soon after the first fetch are
/// found; from there on it is the time between two fetches, whatever tokens name.
const PRICE: Duration = Duration::from_secs(30);
/// After this time the keys are fetched again, so that one that was withdrawn stops counting.
const AGE: Duration = Duration::from_secs(600);
/// How long a fetch may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// The largest answer that is read, in bytes.
const SIZE: usize = 1 << 20;

/// The keys at one address.
pub(super) struct Keys {
    url: Url,
    client: Client,
    known: RwLock<Option<Known>>,
    /// Until when fetches are paid for. Whoever holds it fetches.
    paid: Mutex<Option<Instant>>,
}

#[derive(Clone)]
struct Known {
    set: Arc<KeySet>,
    since: Instant,
}

/// Why there is no key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Miss {
    /// The provider has no such key.
    Unknown,
    /// The provider's keys could not be had.
    Unavailable,
}

impl Keys {
    pub(super) fn at(url: &str) -> Result<Self, Error> {
        let wrong = |why: &str| Error::Auth(format!("jwt: the key address {url:?} {why}"));
        let url = Url::parse(url).map_err(|_| wrong("is no URL"))?;
        let is_local = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
        if !(url.scheme() == "https" || url.scheme() == "http" && is_local) {
            return Err(wrong(
                "must be https: whoever can change the keys can be anybody",
            ));
        }
        let client = antiphon_model::http::client(PATIENCE)
            .map_err(|error| Error::Auth(format!("jwt: {error}")))?;
        Ok(Self {
            url,
            client,
            known: RwLock::new(None),
            paid: Mutex::new(None),
        })
    }

    /// The key that a token names, for its algorithm.
    pub(super) async fn find(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<DecodingKey, Miss> {
        let known = self.known();
        let key = known
            .as_ref()
            .and_then(|known| known.set.find(id, algorithm));
        if let (Some(known), Some(key)) = (known, key) {
            let is_old = known.since.elapsed() >= AGE;
            // Only one request at a time waits for keys that it can do without.
            let Some(mut paid) = is_old.then(|| self.paid.try_lock().ok()).flatten() else {
                return Ok(key);
            };
            self.fetch(&mut paid).await;
        } else {
            self.fetch(&mut *self.paid.lock().await).await;
        }
        self.look(id, algorithm)
    }

    fn look(&self, id: Option<&str>, algorithm: Algorithm) -> Result<DecodingKey, Miss> {
        let known = self.known().ok_or(Miss::Unavailable)?;
        known.set.find(id, algorithm).ok_or(Miss::Unknown)
    }

    fn known(&self) -> Option<Known> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.clone()
    }

    /// Fetches the keys, unless that was done too often. What is known stays when it fails.
    async fn fetch(&self, paid: &mut Option<Instant>) {
        let now = Instant::now();
        let until = paid.map_or(now, |until| until.max(now));
        if until > now + PRICE {
            return;
        }
        *paid = Some(until + PRICE);
        match tokio::time::timeout(PATIENCE, self.read()).await {
            Ok(Ok(set)) => {
                let known = Known {
                    set: Arc::new(set),
                    since: Instant::now(),
                };
                *self.known.write().unwrap_or_else(PoisonError::into_inner) = Some(known);
            }
            Ok(Err(why)) => {
                tracing::warn!(
                    host = self.url.host_str(),
                    why,
                    "the keys for tokens can't be had"
                );
            }
            Err(_) => {
                let why = "there is no answer";
                tracing::warn!(
                    host = self.url.host_str(),
                    why,
                    "the keys for tokens can't be had"
                );
            }
        }
    }

    async fn read(&self) -> Result<KeySet, &'static str> {
        let request = self.client.get(self.url.clone());
        let mut answer = request
            .send()
            .await
            .map_err(|_| "the provider can't be reached")?;
        if !answer.status().is_success() {
            return Err("the provider answers with an error");
        }
        let mut body = Vec::new();
        while let Some(piece) = answer.chunk().await.map_err(|_| "the answer was cut off")? {
            if piece.len() > SIZE - body.len() {
                return Err("the answer is too large");
            }
            body.extend_from_slice(&piece);
        }
        KeySet::read(&body).ok_or("the answer has no key to check a signature with")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_over_https_or_from_this_machine() {
        for url in [
            "https://id.example.com/keys",
            "http://localhost:8080/keys",
            "http://127.0.0.1/keys",
            "http://[::1]:1/keys",
        ] {
            assert!(Keys::at(url).is_ok(), "{url}");
        }
        for url in [
            "",
            "keys",
            "http://id.example.com/keys",
            "http://localhost.example.com/keys",
            "file:///etc/keys",
        ] {
            assert!(Keys::at(url).is_err(), "{url}");
        }
    }
}
