//! OpenAI and every server that speaks its chat completions.

use std::{borrow::Cow, env, fmt};

use secrecy::{ExposeSecret, SecretString};

use crate::{
    Error, ErrorKind,
    http::{Endpoint, HttpModel, Retries, Timeouts},
    wire::{
        Limits,
        openai::{ChatCompletions, Settings},
    },
};

const BASE_URL: &str = "https://api.openai.com/v1";
const PATH: &str = "/chat/completions";

/// An account at OpenAI, or at a server that speaks the same wire. Makes [models](Self::model).
///
/// ```
/// use antiphon_model::{Model, OpenAi};
///
/// let model = OpenAi::new("sk-...").base_url("http://127.0.0.1:8080/v1").model("gpt-5-mini");
/// assert_eq!((model.provider(), model.name()), ("openai", "gpt-5-mini"));
/// ```
#[derive(Clone)]
pub struct OpenAi {
    key: SecretString,
    base_url: String,
    headers: Vec<(String, SecretString)>,
    timeouts: Timeouts,
    retries: Retries,
    limits: Limits,
    max_tokens_name: Cow<'static, str>,
    stream_usage: bool,
}

impl OpenAi {
    /// An account with this key. An empty key sends none, as local servers like it.
    #[must_use]
    pub fn new(key: impl Into<SecretString>) -> Self {
        Self {
            key: key.into(),
            base_url: BASE_URL.to_owned(),
            headers: Vec::new(),
            timeouts: Timeouts::default(),
            retries: Retries::default(),
            limits: Limits::default(),
            max_tokens_name: Cow::Borrowed("max_completion_tokens"),
            stream_usage: true,
        }
    }

    /// The account that `OPENAI_API_KEY` and, where it is set, `OPENAI_BASE_URL` name. With a base URL the key may be
    /// missing.
    ///
    /// # Errors
    /// [`ErrorKind::Setup`] if neither is set.
    pub fn from_env() -> Result<Self, Error> {
        let variable = |name| env::var(name).ok().filter(|value| !value.trim().is_empty());
        let base_url = variable("OPENAI_BASE_URL");
        match (variable("OPENAI_API_KEY"), base_url) {
            (None, None) => Err(Error::new(
                ErrorKind::Setup,
                "the environment variable OPENAI_API_KEY is not set",
            )),
            (key, None) => Ok(Self::new(key.unwrap_or_default())),
            (key, Some(url)) => Ok(Self::new(key.unwrap_or_default()).base_url(url)),
        }
    }

    /// Where the server is, up to and including the `/v1`.
    #[must_use]
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = url.into();
        self
    }

    /// Sends one more header. Its value is treated as a secret.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<SecretString>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// How long calls may take and be silent.
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// How often a call is tried again before it has begun to answer.
    #[must_use]
    pub fn retries(mut self, retries: Retries) -> Self {
        self.retries = retries;
        self
    }

    /// How much of an answer is taken.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// What the server calls `max_output_tokens`: `max_tokens` at many that imitate OpenAI. A parameter under a
    /// server's own name is passed on in any case.
    #[must_use]
    pub fn max_tokens_name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.max_tokens_name = name.into();
        self
    }

    /// Whether to ask for usage, which a few servers do not know.
    #[must_use]
    pub fn stream_usage(mut self, ask: bool) -> Self {
        self.stream_usage = ask;
        self
    }

    /// A model of this account. A base URL or header that cannot be used is reported by each call, and by
    /// [`HttpModel::check`].
    #[must_use]
    pub fn model(&self, name: impl Into<String>) -> HttpModel<ChatCompletions> {
        let settings = Settings {
            max_tokens_name: self.max_tokens_name.clone(),
            stream_usage: self.stream_usage,
            ..Settings::new(name)
        };
        HttpModel::new(
            ChatCompletions {
                settings,
                limits: self.limits,
            },
            self.endpoint(),
        )
    }

    fn endpoint(&self) -> Result<Endpoint, Error> {
        let base = self.base_url.trim().trim_end_matches('/');
        let url = format!("{}{PATH}", base.strip_suffix(PATH).unwrap_or(base));
        let key = self.key.expose_secret().trim();
        let authorization = (!key.is_empty()).then(|| SecretString::from(format!("Bearer {key}")));
        let headers = self
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value));
        let headers = authorization
            .iter()
            .map(|value| ("authorization", value))
            .chain(headers);
        Endpoint::new(&url, headers, self.timeouts, self.retries)
    }
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("OpenAi")
            .field("headers", &headers)
            .field("timeouts", &self.timeouts)
            .finish_non_exhaustive()
    }
}
