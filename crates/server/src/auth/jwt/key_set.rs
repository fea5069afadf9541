//! A published set of keys, as RFC 7517 writes it.

use jsonwebtoken::jwk::{Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey};
use serde_json::Value;

/// The most keys that are taken from one set.
const KEYS: usize = 256;

/// The keys of a set that can check a signature.
pub(super) struct KeySet(Vec<Key>);

struct Key {
    id: Option<String>,
    /// The only algorithm that the key may be used with, where the set says so.
    algorithm: Option<String>,
    key: DecodingKey,
}

impl KeySet {
    /// Reads a set; keys of kinds that we don't know are passed over. `None` when none is left.
    pub(super) fn read(json: &[u8]) -> Option<Self> {
        let mut set: Value = serde_json::from_slice(json).ok()?;
        let Value::Array(keys) = set.get_mut("keys")?.take() else {
            return None;
        };
        let keys: Vec<Key> = keys.into_iter().take(KEYS).filter_map(Key::read).collect();
        (!keys.is_empty()).then_some(Self(keys))
    }

    /// The key with this id. A token that names none can only mean the one that there is.
    pub(super) fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Option<DecodingKey> {
        let fits = |key: &&Key| key.serves(algorithm);
        let found = match id {
            Some(id) => {
                let mut named = self.0.iter().filter(|key| key.id.as_deref() == Some(id));
                named.find(fits)
            }
            None => {
                let mut fitting = self.0.iter().filter(fits);
                let first = fitting.next();
                first.filter(|_| fitting.next().is_none())
            }
        };
        found.map(|found| found.key.clone())
    }
}

impl Key {
    fn read(value: Value) -> Option<Self> {
        let algorithm = value.get("alg").and_then(Value::as_str).map(str::to_owned);
        let jwk: Jwk = serde_json::from_value(value).ok()?;
        let signs = matches!(
            jwk.common.public_key_use,
            None | Some(PublicKeyUse::Signature)
        );
        let key = DecodingKey::from_jwk(&jwk).ok()?;
        // A secret that is published is none.
        let is_public = key.family() != AlgorithmFamily::Hmac;
        (signs && is_public).then_some(Self {
            id: jwk.common.key_id,
            algorithm,
            key,
        })
    }

    fn serves(&self, algorithm: Algorithm) -> bool {
        let named = self.algorithm.as_deref();
        self.key.family() == algorithm.family()
            && named.is_none_or(|named| named.parse() == Ok(algorithm))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The public part of the example in RFC 7517, appendix A.1.
    fn curve(id: &str) -> Value {
        json!({
            "kty": "EC", "crv": "P-256", "kid": id,
            "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
            "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
        })
    }

    fn rsa(id: &str) -> Value {
        json!({ "kty": "RSA", "kid": id, "e": "AQAB", "n": "sXchDaQebHnPiGvyDOAT4saGEUetSyo9MKLOoWFsueri" })
    }

    fn set(keys: &[Value]) -> Option<KeySet> {
        KeySet::read(json!({ "keys": keys }).to_string().as_bytes())
    }

    #[test]
    fn a_key_is_found_by_its_id_and_for_its_own_kind_of_algorithm() {
        let set = set(&[curve("a"), rsa("b")]).unwrap();
        assert!(set.find(Some("a"), Algorithm::ES256).is_some());
        assert!(set.find(Some("b"), Algorithm::RS256).is_some());
        for (id, algorithm) in [
            ("a", Algorithm::RS256),
            ("b", Algorithm::ES256),
            ("c", Algorithm::RS256),
            ("../a", Algorithm::ES256),
            ("", Algorithm::ES256),
        ] {
            assert!(set.find(Some(id), algorithm).is_none(), "{id}");
        }
    }

    #[test]
    fn a_token_without_a_key_id_means_the_only_key_that_fits() {
        let two = set(&[curve("a"), curve("b"), rsa("c")]).unwrap();
        assert!(two.find(None, Algorithm::RS256).is_some());
        assert!(two.find(None, Algorithm::ES256).is_none());
    }

    #[test]
    fn a_key_that_names_its_algorithm_serves_no_other() {
        let mut key = rsa("a");
        key["alg"] = json!("RS512");
        let named = set(&[key.clone()]).unwrap();
        assert!(named.find(Some("a"), Algorithm::RS512).is_some());
        assert!(named.find(Some("a"), Algorithm::RS256).is_none());
        key["alg"] = json!("RSA-OAEP");
        let other = set(&[key]).unwrap();
        assert!(other.find(Some("a"), Algorithm::RS256).is_none());
    }

    #[test]
    fn secrets_and_keys_for_encryption_and_unknown_kinds_are_passed_over() {
        let mut encrypts = rsa("a");
        encrypts["use"] = json!("enc");
        let unknown = json!({ "kty": "XYZ", "kid": "b" });
        let secret = json!({ "kty": "oct", "kid": "c", "k": "c2VjcmV0" });
        assert!(set(&[encrypts.clone(), unknown.clone(), secret.clone()]).is_none());
        let set = set(&[encrypts, unknown, secret, curve("d")]).unwrap();
        assert!(set.find(Some("d"), Algorithm::ES256).is_some());
    }

    #[test]
    fn what_is_no_set_of_keys_is_none() {
        for json in [
            "",
            "[]",
            "{}",
            r#"{"keys":{}}"#,
            r#"{"keys":[]}"#,
            r#"{"keys":[1]}"#,
        ] {
            assert!(KeySet::read(json.as_bytes()).is_none(), "{json}");
        }
    }
}
