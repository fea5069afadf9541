//! A private form: the token goes to the vault and nowhere else.

use std::sync::{Mutex, PoisonError};

use antiphon::prelude::*;

/// What the person fills in.
#[derive(Deserialize, JsonSchema)]
pub(super) struct TokenForm {
    /// The access token.
    token: Secret,
}

/// Where the token is kept, until the demo ends.
#[derive(Debug, Default)]
pub(super) struct Vault(Mutex<Option<Secret>>);

/// Ask the person for an access token.
#[private_input(response = "Token stored.")]
pub(super) async fn provide_token(form: TokenForm, vault: Resource<Vault>) -> Result<()> {
    *vault.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(form.token);
    Ok(())
}
