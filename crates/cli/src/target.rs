//! What is at a URL: an Antiphon server with its agents and threads, or any AG-UI agent.

use std::time::Duration;

use antiphon_client::{Client, Error, ErrorKind};
use reqwest::{StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::Value;

use crate::chat::clean;
use crate::failure::Failure;

/// How long a connection and an answer may take. None of these requests waits for a model.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest answer that is read, in bytes.
const LONGEST: usize = 4 << 20;

/// A server, as far as it is one of Antiphon's kind.
#[derive(Debug)]
pub(crate) struct Server {
    http: reqwest::Client,
    token: Option<SecretString>,
    /// Under which it keeps agents, sessions and responses.
    base: Url,
}

/// An agent that a server lists.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Listed {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) default: bool,
}

/// A thread that a server keeps.
#[derive(Debug, Deserialize)]
pub(crate) struct Session {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) metadata: Value,
}

/// An agent to talk to.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) client: Client,
    /// The agent's name, where the server says it.
    pub(crate) agent: Option<String>,
    /// The server, if it lists its agents.
    pub(crate) server: Option<Server>,
    /// The server's URL, or the agent's own, to be shown.
    pub(crate) url: String,
    /// The agent's own URL.
    pub(crate) address: Url,
}

#[derive(Deserialize)]
struct Agents {
    agents: Vec<Listed>,
}

#[derive(Deserialize)]
struct Sessions {
    sessions: Vec<Session>,
}

impl Target {
    /// Finds out what is at the URL, and takes the agent of this name or the default one.
    ///
    /// # Errors
    /// The URL is none, the token can't be sent, nobody answers there, or there is no such agent.
    pub(crate) async fn find(
        url: &str,
        agent: Option<&str>,
        token: Option<SecretString>,
    ) -> Result<Self, Failure> {
        let url = parse(url)?;
        token.as_ref().map_or(Ok(()), sendable)?;
        let (base, named) = split(&url);
        let http = antiphon::model::http::client(PATIENCE)
            .map_err(|error| Failure::failed(error.to_string()))?;
        let server = Server { http, token, base };
        let listed = server.agents().await?;
        let Some(listed) = listed else {
            if let Some(agent) = agent {
                return Err(Failure::usage(format!(
                    "{} lists no agents, so {agent:?} can't be chosen; give the agent's own URL and leave --agent out",
                    shown(&url)
                )));
            }
            let client = server.client(url.as_str())?;
            return Ok(Self {
                client,
                agent: None,
                server: None,
                url: shown(&url),
                address: url,
            });
        };
        let name = choose(&listed, agent.or(named.as_deref()))?;
        let address = server.address(&["agents", &name]);
        Ok(Self {
            client: server.client(address.as_str())?,
            agent: Some(name),
            url: shown(&server.base),
            address,
            server: Some(server),
        })
    }
}

impl Server {
    /// The agents that it lists, `None` if it lists none: it is another kind of server.
    async fn agents(&self) -> Result<Option<Vec<Listed>>, Failure> {
        let (status, body) = self.get(self.address(&["agents"])).await?;
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err(Failure::failed(format!(
                "{} answered {}: give your token with --token or ANTIPHON_TOKEN",
                shown(&self.base),
                status.as_u16()
            )));
        }
        let agents = serde_json::from_slice::<Agents>(&body).ok();
        let agents = agents.filter(|agents| status.is_success() && !agents.agents.is_empty());
        Ok(agents.map(|agents| agents.agents))
    }

    /// The threads that it keeps for this user, the one changed last first.
    ///
    /// # Errors
    /// It can't be reached, or says something else.
    pub(crate) async fn sessions(&self) -> Result<Vec<Session>, Failure> {
        let (status, body) = self.get(self.address(&["sessions"])).await?;
        let sessions = serde_json::from_slice::<Sessions>(&body);
        sessions.map(|sessions| sessions.sessions).map_err(|_| {
            Failure::failed(format!(
                "the server answered {} and no list of threads",
                status.as_u16()
            ))
        })
    }

    /// How a response stands: its `status` is `in_progress` while another system works on it.
    ///
    /// # Errors
    /// It can't be reached, or says something else.
    pub(crate) async fn response(&self, id: &str, thread: &str) -> Result<Value, Failure> {
        let mut address = self.address(&["responses", id]);
        address.query_pairs_mut().append_pair("sessionId", thread);
        let (status, body) = self.get(address).await?;
        let response = serde_json::from_slice::<Value>(&body).ok();
        let response = response.filter(|response| response.get("status").is_some());
        response.ok_or_else(|| {
            let status = status.as_u16();
            Failure::failed(format!(
                "the server answered {status} and not how the response stands"
            ))
        })
    }

    async fn get(&self, address: Url) -> Result<(StatusCode, Vec<u8>), Failure> {
        let mut request = self.http.get(address).timeout(PATIENCE);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token.expose_secret());
        }
        let unreachable = |error: reqwest::Error| {
            let base = shown(&self.base);
            let why = if error.is_timeout() {
                "it does not answer"
            } else {
                "nobody answers there"
            };
            Failure::unreachable(format!(
                "can't reach {base}: {why}; start a server with `antiphon demo`, or check the URL"
            ))
        };
        let mut response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let mut body = Vec::new();
        while let Some(bytes) = response.chunk().await.map_err(unreachable)? {
            body.extend_from_slice(&bytes);
            if body.len() > LONGEST {
                return Err(Failure::failed(format!(
                    "the server's answer is longer than {LONGEST} bytes"
                )));
            }
        }
        Ok((status, body))
    }

    fn client(&self, url: &str) -> Result<Client, Failure> {
        let client = Client::connect(url).map_err(|error| Failure::usage(error.to_string()))?;
        Ok(match &self.token {
            Some(token) => client.token(token.expose_secret()),
            None => client,
        })
    }

    fn address(&self, path: &[&str]) -> Url {
        let mut url = self.base.clone();
        // Only a URL without a host has no segments, and `parse` let none through.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }
}

/// Puts a client's error into the words and the exit code of a command.
pub(crate) fn failure(error: &Error) -> Failure {
    let message = clean(&error.to_string()).into_owned();
    match error.kind() {
        ErrorKind::Connect => Failure::unreachable(format!(
            "can't reach the agent: {message}; check the URL, and that the server runs"
        )),
        ErrorKind::Setup => Failure::usage(message),
        ErrorKind::Status {
            status: 401 | 403, ..
        } => Failure::failed(format!(
            "{message}; give your token with --token or ANTIPHON_TOKEN"
        )),
        ErrorKind::NotAgUi => {
            Failure::failed(format!("{message}; is this the URL of an AG-UI agent?"))
        }
        _ => Failure::failed(message),
    }
}

/// That a token can stand in a header. It is not quoted, as it may be one all the same.
fn sendable(token: &SecretString) -> Result<(), Failure> {
    let token = token.expose_secret();
    let why = if token.trim().is_empty() {
        "is empty; give one, or leave it out"
    } else if !token.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        "can't be sent: it holds a line break, or letters that are not ASCII"
    } else {
        return Ok(());
    };
    Err(Failure::usage(format!(
        "the token of --token or ANTIPHON_TOKEN {why}"
    )))
}

/// Reads a URL; without a scheme it is taken for http.
fn parse(url: &str) -> Result<Url, Failure> {
    let with_scheme = if url.contains("://") {
        url.to_owned()
    } else {
        format!("http://{url}")
    };
    Url::parse(&with_scheme)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| {
            Failure::usage(format!(
                "{url:?} is not an http or https URL, such as http://127.0.0.1:8888"
            ))
        })
}

/// Splits `{base}/agents/{name}`; any other URL may be a base itself.
fn split(url: &Url) -> (Url, Option<String>) {
    let mut base = url.clone();
    base.set_query(None);
    base.set_fragment(None);
    let segments: Vec<&str> = url
        .path_segments()
        .into_iter()
        .flatten()
        .filter(|s| !s.is_empty())
        .collect();
    let [before @ .., "agents", name] = segments.as_slice() else {
        return (base, None);
    };
    if let Ok(mut path) = base.path_segments_mut() {
        path.clear().extend(before);
    }
    let name = percent_encoding::percent_decode_str(name).decode_utf8_lossy();
    (base, Some(name.into_owned()))
}

/// What may be shown of a URL: a query or a password can be a secret.
fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    // Both fail only for URLs without a host.
    url.set_password(None).ok();
    url.set_username("").ok();
    url.to_string().trim_end_matches('/').to_owned()
}

fn choose(listed: &[Listed], wanted: Option<&str>) -> Result<String, Failure> {
    let Some(wanted) = wanted else {
        let default = listed.iter().find(|agent| agent.default);
        let chosen = default.or_else(|| listed.first());
        return Ok(chosen.map(|agent| agent.name.clone()).unwrap_or_default());
    };
    if listed.iter().any(|agent| agent.name == wanted) {
        return Ok(wanted.to_owned());
    }
    let near = listed
        .iter()
        .map(|agent| (strsim::jaro_winkler(&agent.name, wanted), &agent.name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(one, _), (other, _)| one.total_cmp(other));
    let hint = near.map_or(String::new(), |(_, name)| {
        format!(" (did you mean {name:?}?)")
    });
    let names: Vec<&str> = listed.iter().map(|agent| agent.name.as_str()).collect();
    Err(Failure::usage(format!(
        "the server has no agent {wanted:?}{hint}; it has {}",
        names.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_may_name_a_server_or_an_agent() {
        let of = |url: &str| {
            let (base, name) = split(&parse(url).unwrap());
            (base.to_string(), name)
        };
        let root = "http://h:1/".to_owned();
        assert_eq!(of("h:1"), (root.clone(), None));
        assert_eq!(
            of("http://h:1/agents/a%20b"),
            (root, Some("a b".to_owned()))
        );
        assert_eq!(
            of("https://h/x/agents/a/"),
            ("https://h/x".to_owned(), Some("a".to_owned()))
        );
        assert_eq!(
            of("https://h/agui?k=1#x"),
            ("https://h/agui".to_owned(), None)
        );
        assert!(parse("ftp://h").is_err() && parse("http://").is_err());
    }

    #[test]
    fn an_agent_is_chosen_by_name_or_by_default() {
        let agent = |name: &str, default| Listed {
            name: name.to_owned(),
            default,
        };
        let listed = [agent("plan", false), agent("recipe", true)];
        assert_eq!(choose(&listed, None).unwrap(), "recipe");
        assert_eq!(choose(&listed, Some("plan")).unwrap(), "plan");
        let error = choose(&listed, Some("recpie")).unwrap_err().to_string();
        assert_eq!(
            error,
            "the server has no agent \"recpie\" (did you mean \"recipe\"?); it has plan, recipe"
        );
    }

    #[test]
    fn a_url_is_shown_without_its_secrets() {
        let url = parse("https://user:pass@h/agent?key=secret").unwrap();
        assert_eq!(shown(&url), "https://h/agent");
    }
}
