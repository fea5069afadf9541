//! An identity provider: keys at an address, and tokens signed with them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use antiphon_server::Jwt;
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::StatusCode;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};
use tokio::net::TcpListener;

pub(crate) const ISSUER: &str = "https://id.example.com";
pub(crate) const AUDIENCE: &str = "agents";

pub(crate) struct Provider {
    address: String,
    published: Arc<Published>,
}

#[derive(Default)]
struct Published {
    keys: Mutex<Vec<Value>>,
    asked: AtomicUsize,
    broken: AtomicBool,
}

/// A key pair.
pub(crate) struct Pair {
    pub(crate) id: &'static str,
    pub(crate) algorithm: Algorithm,
    key: EncodingKey,
}

impl Pair {
    pub(crate) fn rsa(id: &'static str) -> Self {
        let pem = include_bytes!("../../fixtures/issuer-rsa.pem");
        Self {
            id,
            algorithm: Algorithm::RS256,
            key: EncodingKey::from_rsa_pem(pem).unwrap(),
        }
    }

    pub(crate) fn p256(id: &'static str) -> Self {
        let pem = include_bytes!("../../fixtures/issuer-p256.pem");
        Self {
            id,
            algorithm: Algorithm::ES256,
            key: EncodingKey::from_ec_pem(pem).unwrap(),
        }
    }

    pub(crate) fn ed25519(id: &'static str) -> Self {
        Self::edwards(id, include_bytes!("../../fixtures/issuer-ed25519.pem"))
    }

    /// Of somebody whom nobody knows.
    pub(crate) fn stranger(id: &'static str) -> Self {
        Self::edwards(id, include_bytes!("../../fixtures/stranger-ed25519.pem"))
    }

    fn edwards(id: &'static str, pem: &[u8]) -> Self {
        Self {
            id,
            algorithm: Algorithm::EdDSA,
            key: EncodingKey::from_ed_pem(pem).unwrap(),
        }
    }

    /// The public key as it is published.
    pub(crate) fn published(&self) -> Value {
        let jwk = Jwk::from_encoding_key(&self.key, self.algorithm).unwrap();
        let mut jwk = serde_json::to_value(jwk).unwrap();
        jwk["kid"] = json!(self.id);
        jwk["use"] = json!("sig");
        jwk
    }

    pub(crate) fn sign(&self, claims: &Value) -> String {
        let mut header = Header::new(self.algorithm);
        header.kid = Some(self.id.to_owned());
        self.sign_as(&header, claims)
    }

    pub(crate) fn sign_as(&self, header: &Header, claims: &Value) -> String {
        jsonwebtoken::encode(header, claims, &self.key).unwrap()
    }
}

impl Provider {
    pub(crate) async fn publish(keys: &[&Pair]) -> Self {
        let published = Arc::new(Published::default());
        let router = Router::new()
            .route("/keys", get(answer))
            .with_state(Arc::clone(&published));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/keys", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let provider = Self { address, published };
        provider.replace(keys);
        provider
    }

    pub(crate) fn replace(&self, keys: &[&Pair]) {
        *self.published.keys.lock().unwrap() = keys.iter().map(|key| key.published()).collect();
    }

    pub(crate) fn set_broken(&self, broken: bool) {
        self.published.broken.store(broken, Ordering::SeqCst);
    }

    /// How often it was asked for its keys.
    pub(crate) fn asked(&self) -> usize {
        self.published.asked.load(Ordering::SeqCst)
    }

    pub(crate) fn authenticator(&self) -> Jwt {
        let jwt = Jwt::new(&self.address, ISSUER, AUDIENCE).unwrap();
        jwt.algorithms(["RS256", "ES256", "EdDSA"]).unwrap()
    }
}

async fn answer(State(published): State<Arc<Published>>) -> Response {
    published.asked.fetch_add(1, Ordering::SeqCst);
    if published.broken.load(Ordering::SeqCst) {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    let keys = published.keys.lock().unwrap().clone();
    axum::Json(json!({ "keys": keys })).into_response()
}

/// Claims of a token that counts.
pub(crate) fn claims(user: &str) -> Value {
    json!({
        "sub": user,
        "iss": ISSUER,
        "aud": AUDIENCE,
        "exp": now() + 600,
        "nbf": now() - 10,
        "iat": now() - 10,
    })
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    since.as_secs()
}
