//! `#[private_input]`: a form whose value reaches one function and nothing else.

use std::sync::Mutex;

use crate::support::Stage;
use antiphon::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct TokenForm {
    /// The access token.
    token: Secret,
}

#[derive(Default)]
struct Vault(Mutex<Vec<String>>);

#[derive(Debug, thiserror::Error)]
#[error("no room for {0}")]
struct Full(String);

/// Ask the person for an access token.
#[private_input(response = json!({ "stored": true }), timeout = "10m")]
async fn provide_token(form: TokenForm, vault: Resource<&'static Vault>) -> Result<(), Full> {
    let mut tokens = vault.0.lock().unwrap();
    if form.token.expose() == "too-much" {
        return Err(Full(form.token.expose().to_owned()));
    }
    tokens.push(form.token.expose().to_owned());
    Ok(())
}

/// Ask for a word.
#[private_input(response = "Heard.")]
fn whisper(_word: Secret) {}

fn stage() -> (Stage, &'static Vault) {
    let vault: &'static Vault = Box::leak(Box::default());
    let stage = Stage::calling("provide_token", &json!({}), |agent| {
        agent.tools((provide_token, whisper)).resource(vault)
    });
    (stage, vault)
}

#[tokio::test]
async fn the_form_is_described_by_its_type() {
    let (mut stage, _) = stage();
    let asked = stage.ask().await;
    let interrupt = asked.interrupt();
    assert_eq!(interrupt["reason"], "private_input");
    let token = json!({
        "type": "string", "format": "password", "writeOnly": true, "description": "The access token.",
    });
    assert_eq!(interrupt["responseSchema"]["properties"]["token"], token);
}

#[tokio::test]
async fn the_value_reaches_the_function_and_the_model_is_told_the_response() {
    let (mut stage, vault) = stage();
    let asked = stage.ask().await;
    let played = stage.answer(&asked, &json!({ "token": "s3cret" })).await;
    assert_eq!(*vault.0.lock().unwrap(), ["s3cret"]);
    assert_eq!(played.result(), r#"{"stored":true}"#);
    assert!(!format!("{:?}", played.events).contains("s3cret"));
}

#[tokio::test]
async fn what_the_function_fails_with_is_told_to_nobody() {
    let (mut stage, _) = stage();
    let asked = stage.ask().await;
    let played = stage.answer(&asked, &json!({ "token": "too-much" })).await;
    assert!(played.result().contains("could not be delivered"));
    assert!(!format!("{:?}", played.events).contains("too-much"));
}
