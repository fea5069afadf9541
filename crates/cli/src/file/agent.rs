//! An agent in the file: its model, its manners, and the state it shares with the page.

use std::num::NonZeroU32;
use std::path::PathBuf;

use antiphon::model::script::Script;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::script;
use super::tool::ToolEntry;
use super::units::{Secret, Time};

/// An agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentEntry {
    /// What it is for, as listings show it.
    pub(crate) description: Option<String>,
    /// What the model is told first.
    pub(crate) instructions: Option<String>,
    /// The model that it calls.
    pub(crate) model: Option<ModelEntry>,
    /// What of a conversation is kept and seen; `thread` if absent.
    #[serde(default)]
    pub(crate) history: HistoryWord,
    /// What becomes of the context that the page sends; `provide` if absent.
    #[serde(default)]
    pub(crate) context: ContextWord,
    /// Model calls in one run; 16 if absent.
    pub(crate) max_turns: Option<NonZeroU32>,
    /// Time of one run, waiting for people not counted; 300s if absent.
    pub(crate) timeout: Option<Time>,
    /// What becomes of a run when its last reader leaves; `cancel` if absent.
    #[serde(default)]
    pub(crate) on_disconnect: DisconnectWord,
    /// What becomes of a run when a person declines a call; `continue` if absent.
    #[serde(default)]
    pub(crate) on_decline: DeclineWord,
    /// The state that page and agent share.
    #[serde(default)]
    pub(crate) state: StateEntry,
    /// What the model may call.
    #[serde(default)]
    pub(crate) tools: Vec<ToolEntry>,
    /// Not supported yet by this build.
    pub(crate) mcp: Option<Value>,
    /// Not supported yet by this build.
    pub(crate) graph: Option<Value>,
    /// Not supported yet by this build.
    pub(crate) remote: Option<Value>,
}

/// What of a conversation is kept and seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HistoryWord {
    /// The stored thread is the truth; the client's list is read for what is new.
    #[default]
    Thread,
    /// The client's list is the whole history.
    Client,
    /// The thread is stored, and the model sees only this turn.
    Turn,
}

/// What becomes of the context that the page sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ContextWord {
    /// Tools can read it.
    #[default]
    Provide,
    /// The model sees it too, marked as data.
    Inject,
}

/// What becomes of a run when its last reader leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DisconnectWord {
    /// It is cancelled.
    #[default]
    Cancel,
    /// It goes on and is stored.
    Detach,
}

/// What becomes of a run when a person declines a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DeclineWord {
    /// The model is told and goes on.
    #[default]
    Continue,
    /// The run ends with the error `approval_declined`.
    Stop,
}

/// A language model.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModelEntry {
    /// Who serves it.
    pub(crate) provider: Provider,
    /// Its name at the provider, such as gpt-5-mini.
    pub(crate) name: Option<String>,
    /// Where the provider is, such as http://127.0.0.1:9000/v1; its usual place if absent.
    pub(crate) base_url: Option<String>,
    /// The key; without it and without `base_url`, the variable OPENAI_API_KEY.
    pub(crate) api_key: Option<Secret>,
    /// Parameters such as temperature and max_output_tokens, passed on with every call.
    #[serde(default)]
    pub(crate) parameters: Map<String, Value>,
    /// How long a call may be silent.
    #[serde(default)]
    pub(crate) timeouts: TimeoutsEntry,
    /// How often a call that has not begun to answer is tried again; 2 if absent.
    pub(crate) retries: Option<u32>,
    /// What the provider `script` plays.
    #[serde(default)]
    #[schemars(schema_with = "script::schema")]
    pub(crate) script: Option<Script>,
    /// A file with what the provider `script` plays, relative to this file.
    pub(crate) file: Option<PathBuf>,
}

/// Who serves a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Provider {
    /// OpenAI and every server that speaks its chat completions.
    Openai,
    /// Not supported yet by this build.
    OpenaiResponses,
    /// Not supported yet by this build.
    AzureOpenai,
    /// Not supported yet by this build.
    Anthropic,
    /// Not supported yet by this build.
    Gemini,
    /// Not supported yet by this build.
    Ollama,
    /// No model at all: fixed turns, played through the same pipeline.
    Script,
}

/// How long a model call may be silent.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimeoutsEntry {
    /// Until there is a connection; 10s if absent.
    pub(crate) connect: Option<Time>,
    /// From the request to the first byte of the answer; 60s if absent.
    pub(crate) first_token: Option<Time>,
    /// Between two pieces of the answer; 60s if absent.
    pub(crate) idle: Option<Time>,
}

/// The state that page and agent share.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StateEntry {
    /// The keys of the state with their schemas, or a JSON Schema of the whole state.
    pub(crate) schema: Option<Map<String, Value>>,
    /// The state of a new thread.
    pub(crate) initial: Option<Map<String, Value>>,
    /// Whether the model sees the current state; true where there is a schema.
    pub(crate) inject: Option<bool>,
    /// Arguments that show as state while the model still writes them.
    #[serde(default)]
    pub(crate) predict: Vec<ArgumentEntry>,
    /// Whether a predicting tool waits for approval before it runs.
    #[serde(default)]
    pub(crate) require_confirmation: bool,
    /// Arguments of finished calls that become state.
    #[serde(default)]
    pub(crate) calls: Vec<ArgumentEntry>,
    /// Results that become state.
    #[serde(default)]
    pub(crate) results: Vec<ResultEntry>,
}

/// An argument of a tool as a key of the state.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ArgumentEntry {
    /// The key of the state.
    pub(crate) state_key: String,
    /// The tool.
    pub(crate) tool: String,
    /// Its argument; "*" means all of them, as one object.
    pub(crate) tool_argument: String,
}

/// A tool's result as state.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResultEntry {
    /// The tool.
    pub(crate) tool: String,
    /// What its JSON result is.
    #[serde(rename = "as")]
    pub(crate) kind: ResultWord,
}

/// What a tool's JSON result is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ResultWord {
    /// The whole state.
    Snapshot,
    /// A JSON Patch of the state.
    Delta,
}
