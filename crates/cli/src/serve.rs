//! `antiphon serve`: the agents of a file.

use std::path::Path;

use antiphon::server::{Authenticators, Jwt, Limits, Server, StaticTokens};
use secrecy::ExposeSecret;

use crate::address::Address;
use crate::agents::{ModelChoice, agents, built};
use crate::args;
use crate::failure::{Ended, Failure};
use crate::file::document::{AuthEntry, LimitsEntry};
use crate::file::{AgentFile, FileError, KeyPath, Variables};
use crate::running;
use crate::store::StoreUrl;
use crate::web;

/// What to do where strangers could come in.
const REMEDY: &str = "add `auth` to the agent file, or listen on 127.0.0.1";
/// Where a file that does not say so keeps its threads.
const STORE: &str = "sqlite:antiphon.db";

/// Serves a file until it is told to stop.
///
/// # Errors
/// The file is wrong, or the server can't be started.
pub(crate) async fn serve(args: args::Serve) -> Result<Ended, Failure> {
    let variables = variables(&args.file)?;
    let file = AgentFile::load(&args.file, &variables)?;
    // Everything of the file is checked before anything outside is touched.
    built(&file, agents(&file, &variables, &ModelChoice::AsWritten)?)?;
    let url = store_url(&file, args.store.as_deref())?;
    let address = Address::new(&file, args.listen.as_deref());
    address.checked()?;
    let server = server(&file, &variables)?.drain(args.running.drain);
    let store = url.open().await.map_err(Failure::failed)?;
    let bound = running::bind(
        server.shared_store(store).page(web::router()),
        &address,
        REMEDY,
    )
    .await?;
    let agents = file.document.agents.0.len();
    tracing::info!(file = %args.file.display(), agents, store = %url, "serving");
    running::serve(bound).await
}

/// The variables that a file may name.
///
/// # Errors
/// Its `.env` can't be read.
pub(crate) fn variables(file: &Path) -> Result<Variables, Failure> {
    let folder = file.parent().unwrap_or(Path::new(""));
    Variables::beside(folder).map_err(Failure::usage)
}

/// Where to keep threads: the option, relative to the working folder, else the file, relative to
/// itself, else beside the file.
///
/// # Errors
/// It is no store that this build knows.
pub(crate) fn store_url(file: &AgentFile, option: Option<&str>) -> Result<StoreUrl, Failure> {
    if let Some(option) = option {
        return StoreUrl::parse(option, Path::new(""))
            .map_err(|what| Failure::usage(format!("--store {option}: {what}")));
    }
    let key = KeyPath::default().key("store");
    let text = file.document.store.as_deref().unwrap_or(STORE);
    let url = StoreUrl::parse(text, file.folder());
    let url = url.map_err(|what| file.error(key.clone(), what))?;
    Ok(if file.is_filled(&key) {
        url.hidden()
    } else {
        url
    })
}

/// The server that a file describes, without its store.
///
/// # Errors
/// Its agents or its users can't be as they are described.
pub(crate) fn server(file: &AgentFile, variables: &Variables) -> Result<Server, FileError> {
    let document = &file.document;
    let mut server = Server::new(agents(file, variables, &ModelChoice::AsWritten)?)
        .limits(limits(&document.limits))
        .cors(document.cors.iter().cloned());
    if let Some(name) = &document.default_agent {
        server = server.default_agent(name);
    }
    if let Some(silence) = document.heartbeat {
        server = server.heartbeat(silence.into());
    }
    if let Some(auth) = &document.auth {
        let known = authenticators(auth).map_err(|error| {
            // The sentence begins with the keys.
            file.error_in_words(&error.to_string().replacen("auth: jwt: ", "auth.jwt: ", 1))
        })?;
        server = server.authenticator(known);
    }
    Ok(server)
}

/// Tokens of the file first, then those of the identity provider.
fn authenticators(auth: &AuthEntry) -> Result<Authenticators, antiphon::server::Error> {
    let known = Authenticators::new().with(tokens(auth)?);
    let Some(jwt) = &auth.jwt else {
        return Ok(known);
    };
    let mut provider = Jwt::new(&jwt.jwks_url, &jwt.issuer, &jwt.audience)?;
    if !jwt.algorithms.is_empty() {
        provider = provider.algorithms(&jwt.algorithms)?;
    }
    Ok(known.with(provider))
}

fn tokens(auth: &AuthEntry) -> Result<StaticTokens, antiphon::server::Error> {
    let mut tokens = StaticTokens::new();
    for entry in &auth.tokens {
        tokens = tokens.user(entry.token.0.expose_secret(), &entry.user)?;
    }
    for entry in &auth.service_tokens {
        tokens = tokens.service(entry.token.0.expose_secret(), &entry.name)?;
    }
    Ok(tokens)
}

fn limits(entry: &LimitsEntry) -> Limits {
    let usual = Limits::default();
    Limits {
        body: entry.body.map_or(usual.body, |size| size.0),
        concurrent_runs: entry
            .concurrent_runs
            .map_or(usual.concurrent_runs, Into::into),
        runs_per_user: entry.runs_per_user.map_or(usual.runs_per_user, Into::into),
        messages: entry.messages.map_or(usual.messages, Into::into),
        json_depth: entry.json_depth.map_or(usual.json_depth, Into::into),
        ..usual
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(jwt: &str) -> Result<Server, FileError> {
        let agents =
            "agents: { a: { model: { provider: script, script: { turns: [{ say: hi }] } } } }";
        let variables = Variables::of_process();
        let text = format!("auth: {{ jwt: {{ {jwt} }} }}\n{agents}\n");
        let file = AgentFile::parse(Path::new("a.yaml"), &text, &variables)?;
        server(&file, &variables)
    }

    #[test]
    fn an_identity_provider_is_known_or_the_file_is_refused() {
        let of = |url: &str, more: &str| {
            described(&format!(
                r#"jwks_url: "{url}", issuer: "https://id.example.com", audience: agents{more}"#
            ))
        };
        assert!(of("https://id.example.com/jwks.json", "").is_ok());
        assert!(of("https://id.example.com/jwks.json", ", algorithms: [ES256]").is_ok());
        for refused in [
            of("http://id.example.com/jwks.json", ""),
            of("https://id.example.com/jwks.json", ", algorithms: [HS256]"),
            of("https://id.example.com/jwks.json", ", algorithm: [RS256]"),
        ] {
            let message = refused.map(|_| ()).expect_err("it is wrong").to_string();
            let is_placed = message.starts_with("a.yaml:1:") && message.contains(": auth.jwt: ");
            assert!(is_placed, "{message}");
        }
    }
}
