//! Whether the providers of the models answer.

use std::time::Duration;

use antiphon::model::http::client;
use secrecy::ExposeSecret;

use super::Finding;
use crate::agents::model::{Place, place};
use crate::failure::Code;
use crate::file::agent::Provider;
use crate::file::{AgentFile, Variables};

const SUBJECT: &str = "provider";
const OPENAI: &str = "https://api.openai.com/v1";
/// How long a provider may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks each provider of the file once; scripts need none.
pub(super) async fn providers(file: &AgentFile, variables: &Variables) -> Vec<Finding> {
    let mut asked: Vec<String> = Vec::new();
    let mut findings = Vec::new();
    for (name, agent) in &file.document.agents.0 {
        let Some(model) = &agent.model else { continue };
        if model.provider != Provider::Openai {
            continue;
        }
        // What is missing was said about the file.
        let Ok(place) = place(model, variables) else {
            continue;
        };
        let key = place.key.as_ref().map_or("", |key| key.expose_secret());
        let identity = format!("{:?} {key}", place.base_url);
        if !asked.contains(&identity) {
            asked.push(identity);
            findings.push(ask(name, &place).await);
        }
    }
    findings
}

async fn ask(agent: &str, place: &Place) -> Finding {
    let base = place.base_url.as_deref().unwrap_or(OPENAI);
    let url = format!("{}/models", base.trim_end_matches('/'));
    let client = match client(PATIENCE) {
        Ok(client) => client,
        Err(error) => return Finding::wrong(SUBJECT, Code::Failed, error.to_string()),
    };
    let mut request = client.get(&url).timeout(PATIENCE);
    if let Some(key) = &place.key {
        request = request.bearer_auth(key.expose_secret());
    }
    match request.send().await {
        Ok(answer) => judged(agent, base, answer.status().as_u16()),
        Err(error) => {
            let why = if error.is_timeout() {
                "does not answer in time"
            } else {
                "can't be reached"
            };
            let what = format!(
                "{base}, the provider of {agent:?}, {why}; check the network, or `model.base_url`"
            );
            Finding::wrong(SUBJECT, Code::Unreachable, what)
        }
    }
}

fn judged(agent: &str, base: &str, status: u16) -> Finding {
    match status {
        401 | 403 => {
            let what = format!(
                "{base} does not accept the key of {agent:?}; check `model.api_key`, or OPENAI_API_KEY"
            );
            Finding::wrong(SUBJECT, Code::Failed, what)
        }
        500.. => {
            let what = format!(
                "{base}, the provider of {agent:?}, answers with status {status}; try again later"
            );
            Finding::wrong(SUBJECT, Code::Unreachable, what)
        }
        // Servers without a list of models answer too.
        _ => Finding::well(SUBJECT, format!("{base} answers")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_judged_by_who_has_to_act() {
        let fault = |status| judged("a", "http://x", status).fault;
        assert_eq!(fault(200), None);
        assert_eq!(fault(404), None);
        assert_eq!(fault(401), Some(Code::Failed));
        assert_eq!(fault(503), Some(Code::Unreachable));
    }
}
