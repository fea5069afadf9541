//! Text that is never shown.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use zeroize::Zeroizing;

/// A text in a private form, such as a token: it can be read, and neither written nor printed.
///
/// Its schema is that of a password field, its memory is wiped when it is dropped, and it has no
/// `Serialize` and no `Clone`.
///
/// ```
/// # use antiphon::Secret;
/// let secret: Secret = serde_json::from_str("\"hush\"")?;
/// assert_eq!(secret.expose(), "hush");
/// assert_eq!(format!("{secret:?}"), "Secret(..)");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Shows the text. From here on the caller answers for it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(Zeroizing::new(text)))
    }
}

impl JsonSchema for Secret {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Secret".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "password", "writeOnly": true })
    }
}
