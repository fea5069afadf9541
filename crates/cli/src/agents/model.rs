//! The model that an entry names.

use std::sync::Arc;

use antiphon::model::http::{Retries, Timeouts};
use antiphon::model::script::{Script, ScriptModel, ScriptTurn};
use antiphon::model::{Model, OpenAi};
use secrecy::SecretString;

use crate::file::agent::{ModelEntry, Provider, TimeoutsEntry};
use crate::file::{self, AgentFile, FileError, KeyPath, Variables, unusable_key};

/// The variable that holds a key where the file gives none.
const KEY_VARIABLE: &str = "OPENAI_API_KEY";
/// The variable that moves the provider where the file does not.
const URL_VARIABLE: &str = "OPENAI_BASE_URL";

/// Makes the model of an entry.
///
/// # Errors
/// There is no key, a URL or header can't be used, or the script can't be read.
pub(super) fn model(
    file: &AgentFile,
    entry: Option<&ModelEntry>,
    path: &KeyPath,
    variables: &Variables,
) -> Result<Arc<dyn Model>, FileError> {
    let Some(entry) = entry else {
        return Err(file.error(path.clone(), "no model is set"));
    };
    match entry.provider {
        Provider::Openai => {
            let place =
                place(entry, variables).map_err(|what| file.error(path.key("api_key"), what))?;
            let moved = place.base_url.is_some() && entry.base_url.is_none();
            let account = place
                .account()
                .timeouts(timeouts(entry.timeouts))
                .retries(retries(entry.retries));
            let model = account.model(entry.name.clone().unwrap_or_default());
            model.check().map_err(|error| {
                let by = if moved {
                    format!("{URL_VARIABLE}: ")
                } else {
                    String::new()
                };
                file.error(path.key("base_url"), format!("{by}{error}"))
            })?;
            Ok(Arc::new(model))
        }
        Provider::Script => {
            let name = entry.name.clone().unwrap_or_else(|| "script".to_owned());
            Ok(Arc::new(ScriptModel::new(
                name,
                script(file, entry, path, variables)?,
            )))
        }
        Provider::OpenaiResponses
        | Provider::AzureOpenai
        | Provider::Anthropic
        | Provider::Gemini
        | Provider::Ollama => {
            let what = "this provider is not supported yet by this build";
            Err(file.error(path.key("provider"), what))
        }
    }
}

/// Where a model is and what opens it.
#[derive(Debug)]
pub(crate) struct Place {
    /// The address that the file or the environment gives; the provider's own if absent.
    pub(crate) base_url: Option<String>,
    /// The key; none for servers that want none.
    pub(crate) key: Option<SecretString>,
}

/// The place of OpenAI's wire. A key of the environment goes only where the environment says, never
/// to a URL of the file.
///
/// # Errors
/// There is neither a key nor a URL.
pub(crate) fn place(entry: &ModelEntry, variables: &Variables) -> Result<Place, String> {
    let own_key = entry.api_key.as_ref().map(|key| key.0.clone());
    if let Some(url) = &entry.base_url {
        return Ok(Place {
            base_url: Some(url.clone()),
            key: own_key,
        });
    }
    let key = match own_key {
        Some(key) => Some(key),
        None => key_of_environment(variables)?,
    };
    let base_url = variables.filled(URL_VARIABLE);
    if key.is_none() && base_url.is_none() {
        return Err(format!(
            "no key is given; set the variable {KEY_VARIABLE} in the environment or in .env, or give `api_key` or `base_url`"
        ));
    }
    Ok(Place { base_url, key })
}

fn key_of_environment(variables: &Variables) -> Result<Option<SecretString>, String> {
    let Some(key) = variables.filled(KEY_VARIABLE) else {
        return Ok(None);
    };
    match unusable_key(&key, Some(KEY_VARIABLE)) {
        Some(what) => Err(what),
        None => Ok(Some(key.into())),
    }
}

impl Place {
    fn account(self) -> OpenAi {
        let account = OpenAi::new(self.key.unwrap_or_default());
        match self.base_url {
            Some(url) => account.base_url(url),
            None => account,
        }
    }
}

fn script(
    file: &AgentFile,
    entry: &ModelEntry,
    path: &KeyPath,
    variables: &Variables,
) -> Result<Script, FileError> {
    match (&entry.script, &entry.file) {
        (Some(script), _) => Ok(script.clone()),
        (None, Some(name)) => file::load_script(file, &path.key("file"), name, variables),
        (None, None) => Ok(Script::new(vec![ScriptTurn {
            say: Some("I am a script, not a model. You said: {{user}}".to_owned()),
            ..ScriptTurn::default()
        }])),
    }
}

fn timeouts(entry: TimeoutsEntry) -> Timeouts {
    let usual = Timeouts::default();
    Timeouts {
        connect: entry.connect.map_or(usual.connect, Into::into),
        first_token: entry.first_token.map_or(usual.first_token, Into::into),
        idle: entry.idle.map_or(usual.idle, Into::into),
        ..usual
    }
}

fn retries(again: Option<u32>) -> Retries {
    let usual = Retries::default();
    Retries {
        attempts: again.map_or(usual.attempts, |again| again.saturating_add(1)),
        ..usual
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn wrong(values: &[(&str, &str)]) -> String {
        let text = "agents: { a: { model: { provider: openai, name: m } } }";
        let variables = Variables::of(values);
        let file = AgentFile::parse(Path::new("a.yaml"), text, &variables).unwrap();
        let entry = file.document.agents.0[0].1.model.clone();
        let path = KeyPath::default().key("agents").key("a").key("model");
        let made = model(&file, entry.as_ref(), &path, &variables);
        made.map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn the_variables_of_the_provider_are_blamed_for_what_they_hold() {
        let error = wrong(&[(KEY_VARIABLE, "very\nsecret")]);
        let says =
            "agents.a.model.api_key: the key can't be sent: the variable OPENAI_API_KEY holds";
        assert!(error.contains(says) && !error.contains("very"), "{error}");
        let error = wrong(&[(KEY_VARIABLE, "k"), (URL_VARIABLE, "nowhere")]);
        assert!(
            error.contains("model.base_url: OPENAI_BASE_URL: "),
            "{error}"
        );
    }
}
