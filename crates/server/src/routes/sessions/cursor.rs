//! Where the next page of a list begins.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::ApiError;

/// A place in one user's list. It holds nothing secret and opens nothing: it only says where to go on.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Cursor {
    scope: String,
    pub(super) after: Value,
}

impl Cursor {
    /// The cursor for what follows `after` in the list that `scope` names.
    pub(super) fn after(scope: &str, after: Value) -> String {
        let cursor = Self {
            scope: scope.to_owned(),
            after,
        };
        let json = serde_json::to_vec(&cursor).expect("two strings are always JSON");
        URL_SAFE_NO_PAD.encode(json)
    }

    /// Reads a cursor; one of another list is refused.
    pub(super) fn read(given: Option<&str>, scope: &str) -> Result<Option<Self>, ApiError> {
        let Some(given) = given else {
            return Ok(None);
        };
        let read = URL_SAFE_NO_PAD.decode(given).ok();
        let cursor = read.and_then(|json| serde_json::from_slice::<Self>(&json).ok());
        match cursor.filter(|cursor| cursor.scope == scope) {
            Some(cursor) => Ok(Some(cursor)),
            None => Err(ApiError::invalid(
                "invalid_query",
                "cursor",
                "the cursor does not belong to this list",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Cursor;

    #[test]
    fn a_cursor_is_read_back_by_its_own_list_only() {
        let written = Cursor::after("sessions/alice", json!("t1"));
        let read = Cursor::read(Some(&written), "sessions/alice").unwrap();
        assert_eq!(read.unwrap().after, "t1");
        assert!(Cursor::read(Some(&written), "sessions/bob").is_err());
        assert!(Cursor::read(Some("nonsense"), "sessions/alice").is_err());
        assert!(Cursor::read(None, "sessions/alice").unwrap().is_none());
    }
}
