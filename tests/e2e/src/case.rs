//! The cases under `tests/cases`, read.
//!
//! A folder holds `expect.json`, mostly `request.json` (the first POST) and `upstream.N.sse`
//! (what the model answers to its N-th request), maybe `delivery.json` (how that is cut into
//! writes). A key that is not understood is an error, so nothing is passed over in silence.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    agent::AgentSpec,
    client::ClientWant,
    expect::{OverAll, RunWant},
    json::merge,
    provider::Delivery,
    states::StateCheck,
    upstream::{Assembled, UpstreamCheck},
};

/// Where the cases are.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../cases")
}

/// Why a case cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {what}", path = path.display())]
pub struct CaseError {
    path: PathBuf,
    what: String,
}

/// One case.
#[derive(Debug, Clone)]
pub struct Case {
    /// The name of its folder.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// What it expects.
    pub spec: Spec,
    /// The body of its first POST; ids are replaced when it is sent.
    pub request: Value,
    /// What the model answers, in order.
    pub upstream: Vec<Bytes>,
    /// How that is delivered.
    pub delivery: Delivery,
}

/// `expect.json`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The id of the case, the first part of its folder's name.
    pub id: String,
    /// What it shows, in a sentence.
    pub about: String,
    /// The agent, see [`AgentSpec`].
    #[serde(default)]
    agent: Map<String, Value>,
    /// Whether a function in [`steps`](crate::steps) plays it.
    #[serde(default)]
    pub script: bool,
    /// What its server needs beside the agent.
    #[serde(default)]
    pub own_server: OwnServer,
    /// Whether the last upstream file answers all further requests.
    #[serde(default)]
    pub repeat_upstream: bool,
    /// The time for the whole case.
    #[serde(default = "a_minute")]
    pub timeout_s: u64,
    /// The variants; each is played on its own.
    #[serde(default)]
    variants: Vec<Variant>,
    /// What each upstream file must become.
    #[serde(default)]
    pub assembled: Vec<Assembled>,
    /// Checks on every state on the way.
    #[serde(default)]
    pub states: Vec<StateCheck>,
    /// The requests and what must come back.
    #[serde(default)]
    agui: Agui,
    /// For a case about reading a stream: what the reader must hold at its end.
    pub client: Option<ClientWant>,
}

const fn a_minute() -> u64 {
    60
}

/// What a server needs beside the agent.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnServer {
    /// `sqlite`, for a store that outlives the process.
    pub store: Option<String>,
    /// Members of the agent file beside `agents`.
    #[serde(default)]
    pub top: Map<String, Value>,
    /// Variables of the process.
    #[serde(default)]
    pub env: Map<String, Value>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Variant {
    #[serde(default)]
    name: String,
    #[serde(default)]
    agent: Map<String, Value>,
    #[serde(default)]
    request: Map<String, Value>,
    delivery: Option<Delivery>,
    agui: Option<Agui>,
}

/// The requests of a case and what must come back.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agui {
    /// One entry per POST.
    #[serde(default)]
    pub runs: Vec<RunStep>,
    /// What must hold over all runs.
    #[serde(default)]
    pub over_all: OverAll,
    /// What the model must have been sent.
    #[serde(default)]
    pub upstream: Vec<UpstreamCheck>,
}

/// One POST.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunStep {
    /// How its body differs from what a client would send anyway.
    #[serde(default)]
    pub send: Send,
    /// What must come back.
    pub expect: RunWant,
}

/// How a body differs from the held messages and state.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Send {
    /// Answers to what is open.
    pub resume: Option<Vec<Answer>>,
    /// Messages after the held ones; `@id` is the wire id of a provider's call.
    #[serde(default)]
    pub append: Vec<Value>,
    /// The state instead of the held one.
    pub state: Option<Value>,
}

impl Send {
    /// Whether nothing differs.
    pub const fn is_plain(&self) -> bool {
        self.resume.is_none() && self.append.is_empty() && self.state.is_none()
    }
}

/// An answer to an open interrupt.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The provider's id of the call that waits.
    pub call: String,
    /// `resolved` if absent.
    pub status: Option<String>,
    /// The payload.
    pub payload: Option<Value>,
}

/// A case in one of its variants.
#[derive(Debug, Clone)]
pub struct Variation {
    /// The name of the variant; empty for the plain one.
    pub name: String,
    /// The agent.
    pub agent: AgentSpec,
    /// Members of the first body that are replaced, or removed by `null`.
    pub request: Map<String, Value>,
    /// How the upstream files are delivered.
    pub delivery: Delivery,
    /// The requests and what must come back.
    pub agui: Agui,
}

impl Case {
    /// Reads all cases, in the order of their names.
    ///
    /// # Errors
    ///
    /// A folder cannot be read or understood.
    pub fn all() -> Result<Vec<Self>, CaseError> {
        let root = folder();
        let entries = std::fs::read_dir(&root).map_err(|e| error(&root, e))?;
        let mut folders = Vec::new();
        for entry in entries {
            let path = entry.map_err(|e| error(&root, e))?.path();
            if path.join("expect.json").is_file() {
                folders.push(path);
            }
        }
        folders.sort();
        folders.into_iter().map(Self::read).collect()
    }

    fn read(folder: PathBuf) -> Result<Self, CaseError> {
        let name = folder.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        let spec: Spec = parse(&folder.join("expect.json"))?;
        if name.split('-').next() != Some(&spec.id) {
            return Err(error(
                &folder,
                format!("the id {} is not in the name", spec.id),
            ));
        }
        let request = folder.join("request.json");
        let request = if request.is_file() {
            parse(&request)?
        } else {
            json!({"messages": [{"id": "u1", "role": "user", "content": "go"}], "state": {}, "tools": [], "context": [], "forwardedProps": {}})
        };
        let delivery = folder.join("delivery.json");
        let delivery = if delivery.is_file() {
            parse(&delivery)?
        } else {
            Delivery::default()
        };
        let case = Self {
            name,
            upstream: upstream(&folder)?,
            folder,
            spec,
            request,
            delivery,
        };
        case.variations()?;
        Ok(case)
    }

    /// The id of the case.
    pub fn id(&self) -> &str {
        &self.spec.id
    }

    /// The variants, each whole. A case with upstream files is also played byte by byte, unless
    /// its variants say how they are delivered.
    ///
    /// # Errors
    ///
    /// An agent cannot be understood.
    pub fn variations(&self) -> Result<Vec<Variation>, CaseError> {
        let spec = &self.spec;
        let plain = [Variant::default()];
        let variants = if spec.variants.is_empty() {
            &plain[..]
        } else {
            &spec.variants
        };
        let mut out = Vec::new();
        for variant in variants {
            let mut agent = Value::Object(spec.agent.clone());
            merge(&mut agent, &Value::Object(variant.agent.clone()));
            out.push(Variation {
                name: variant.name.clone(),
                agent: AgentSpec::read(agent).map_err(|e| error(&self.folder, e))?,
                request: variant.request.clone(),
                delivery: variant
                    .delivery
                    .clone()
                    .unwrap_or_else(|| self.delivery.clone()),
                agui: variant.agui.clone().unwrap_or_else(|| spec.agui.clone()),
            });
        }
        let own_delivery = variants.iter().any(|v| v.delivery.is_some());
        if !self.upstream.is_empty() && !spec.script && !own_delivery && self.delivery.is_plain() {
            for at in 0..out.len() {
                let mut bytewise = out[at].clone();
                bytewise.name = format!("{}-bytewise", bytewise.name)
                    .trim_matches('-')
                    .to_owned();
                bytewise.delivery = Delivery::bytewise();
                out.push(bytewise);
            }
        }
        Ok(out)
    }
}

fn error(path: &Path, what: impl std::fmt::Display) -> CaseError {
    CaseError {
        path: path.to_owned(),
        what: what.to_string(),
    }
}

fn parse<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, CaseError> {
    let text = std::fs::read(path).map_err(|e| error(path, e))?;
    serde_json::from_slice(&text).map_err(|e| error(path, e))
}

/// `upstream.sse`, or `upstream.1.sse`, `upstream.2.sse` and so on, whatever they end in.
fn upstream(folder: &Path) -> Result<Vec<Bytes>, CaseError> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|e| error(folder, e))? {
        let path = entry.map_err(|e| error(folder, e))?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if let Some(rest) = name.strip_prefix("upstream.") {
            let number: usize = rest
                .split('.')
                .next()
                .and_then(|n| n.parse().ok())
                .unwrap_or(1);
            found.push((number, path));
        }
    }
    found.sort();
    let files = found
        .into_iter()
        .map(|(_, path)| std::fs::read(&path).map_err(|e| error(&path, e)));
    files.map(|file| file.map(Bytes::from)).collect()
}
