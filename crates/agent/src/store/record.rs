//! The rows of a store, as the agent sees them.

use antiphon_protocol::{Message, ResumeEntry};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::run::Delivery;

/// A thread's name: thread ids are chosen by clients, so they count within their user's namespace.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadKey {
    /// The user, as the authenticator named them.
    pub user: String,
    /// The thread id.
    pub thread: String,
}

impl ThreadKey {
    /// Names a thread of a user.
    pub fn new(user: impl Into<String>, thread: impl Into<String>) -> Self {
        Self {
            user: user.into(),
            thread: thread.into(),
        }
    }
}

/// A message of a thread with what only the server needs of it.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredMessage {
    /// Orders the messages of a thread; unique within it.
    pub place: i64,
    /// The message as clients see it.
    pub message: Message,
    /// What the provider that wrote it wants back verbatim (signatures, its own ids). Never sent to
    /// clients.
    pub origin: Option<Value>,
}

/// A thread as a run finds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Thread {
    /// Its name.
    pub key: ThreadKey,
    /// A title for lists.
    pub title: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last written.
    pub updated_at: Timestamp,
    /// Whether anything of it is stored yet.
    pub stored: bool,
    /// The committed shared state; `None` before anything was committed.
    pub state: Option<Value>,
    /// The messages of the current branch, in order of their place.
    pub messages: Vec<StoredMessage>,
    /// Calls that are not settled, in the order in which the model made them.
    pub calls: Vec<Call>,
    /// Interactions that are open.
    pub interactions: Vec<Interaction>,
}

impl Thread {
    /// An empty thread that is not stored yet.
    #[must_use]
    pub fn new(key: ThreadKey, now: Timestamp) -> Self {
        Self {
            key,
            title: None,
            created_at: now,
            updated_at: now,
            stored: false,
            state: None,
            messages: Vec::new(),
            calls: Vec::new(),
            interactions: Vec::new(),
        }
    }

    /// The thread as it counts at a time, for those who only look: what nobody answered in time is not
    /// open, and its calls have failed. The next request stores it so.
    #[must_use]
    pub fn at(mut self, now: Timestamp) -> Self {
        let expired = self.interactions.extract_if(.., |i| i.has_expired(now));
        let settled: Vec<String> = expired.map(|i| i.call_id).collect();
        self.calls.retain(|call| !settled.contains(&call.id));
        self
    }
}

/// A thread in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadSummary {
    /// The thread id.
    pub thread: String,
    /// A title for lists.
    pub title: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last written.
    pub updated_at: Timestamp,
}

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// It is at work, or was when its process died.
    Running,
    /// It ended well.
    Finished,
    /// It stopped to ask a person, or handed calls to the page; the thread's open interactions say what.
    Waiting,
    /// It ended with an error.
    Failed,
    /// It was cancelled.
    Cancelled,
}

/// One attempt of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    /// The thread.
    pub key: ThreadKey,
    /// The run id, chosen by the client.
    pub run_id: String,
    /// Counts the attempts under this run id in this thread, from 1.
    pub attempt: u32,
    /// The agent that runs.
    pub agent: String,
    /// The server's own name for this attempt, as in `GET /responses/{id}`.
    pub response_id: String,
    /// How far it has come.
    pub status: RunStatus,
    /// SHA-256 of the canonical input, in hexadecimal: tells a repeated request from a new attempt.
    pub input_hash: String,
    /// What the client sent beside messages and state, `{"tools", "context", "forwardedProps"}`: a
    /// resume goes on with it. Beside it the ids of messages that say where in the thread its answer
    /// is: `turn` is the user message that it answers, `last` the last one when it ended.
    pub invocation: Value,
    /// The terminal event, once it has ended.
    pub ending: Option<Value>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

/// How far a tool call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallPhase {
    /// The model made it; nothing has run.
    Proposed,
    /// Its side effect may have happened. Stored before the tool is called.
    Executing,
    /// Its result is a message of the thread.
    Settled,
}

/// A tool call of a thread, from the model's proposal to its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The tool call id.
    pub id: String,
    /// The run that made it.
    pub run_id: String,
    /// Orders the calls of a thread.
    pub place: i64,
    /// The assistant message that holds it.
    pub message_id: String,
    /// The tool's name.
    pub tool: String,
    /// The arguments, as JSON text.
    pub arguments: String,
    /// How far it has come.
    pub phase: CallPhase,
    /// What was decided about it and what its code has done.
    #[serde(default)]
    pub journal: Journal,
}

/// What a call must not forget in a crash.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Journal {
    /// The answer that was taken for the call and that it has not acted on yet; the run loop knows its
    /// shape. A private value is never part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<Value>,
    /// What its code has asked and done so far, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<Entry>,
}

/// A recorded answer or step of a tool's code, so that running it again from its start does not ask
/// or do it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// A question with its answer.
    Asked {
        /// What the person read.
        message: String,
        /// The answer; `None` while it is open.
        answer: Option<Value>,
    },
    /// A step with its result.
    Step {
        /// The step's name.
        name: String,
        /// Its result.
        result: Value,
    },
}

/// What an interaction waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InteractionKind {
    /// A person's approval of a tool call.
    Approval,
    /// An answer to a question of tool code.
    Question,
    /// The result of a tool that runs in the page.
    ClientTool,
    /// A value that only the tool's handler may see.
    PrivateInput,
    /// A result that another system delivers.
    ExternalWait,
    /// A person's word on a call whose outcome a crash left unknown.
    OutcomeUnknown,
}

/// Where an interaction stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InteractionStatus {
    /// It waits.
    Open,
    /// It was answered.
    Answered,
    /// It was abandoned.
    Cancelled,
    /// Nobody answered in time.
    Expired,
}

/// The answer that settled an interaction. Private values are never part of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// SHA-256 of the canonical answer, in hexadecimal: tells a repeated answer from a contradicting one.
    pub hash: String,
    /// The answer itself; absent for private input.
    pub entry: Option<ResumeEntry>,
    /// When it was taken.
    pub at: Timestamp,
    /// Who gave it.
    pub by: String,
}

/// What another system delivered while the thread was being written; it is taken when that is free.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Early {
    /// The result.
    pub delivery: Delivery,
    /// Who delivered it.
    pub by: String,
}

/// A pause for someone outside: a row, so that it survives restarts and is answered once.
#[derive(Debug, Clone, PartialEq)]
pub struct Interaction {
    /// Its id; clients answer under it.
    pub id: String,
    /// The thread.
    pub key: ThreadKey,
    /// The run that stopped for it.
    pub run_id: String,
    /// The response that `GET /responses/{id}` shows it under.
    pub response_id: String,
    /// The tool call that it belongs to.
    pub call_id: String,
    /// What it waits for.
    pub kind: InteractionKind,
    /// Where it stands.
    pub status: InteractionStatus,
    /// What was asked: message, schemas, capability; shaped by its kind.
    pub request: Value,
    /// The answer, once there is one.
    pub answer: Option<Answer>,
    /// A result that came too soon. Commits leave it alone: see [`Store::keep_early`](super::Store::keep_early).
    pub early: Option<Early>,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
}

impl Interaction {
    /// Whether nobody has answered in time. A result that came too soon is an answer.
    #[must_use]
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.early.is_none() && self.expires_at.is_some_and(|at| at <= now)
    }
}

/// One decision, kept for `GET /sessions/{id}/interactions`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Audit {
    /// The interaction.
    pub interaction_id: String,
    /// The tool call.
    pub tool_call_id: String,
    /// The tool.
    pub tool: String,
    /// What happened: `approved`, `declined`, `cancelled`, `expired`, `answered`, `failed`.
    pub decision: String,
    /// Who decided.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// SHA-256 of the canonical arguments that the decision was about, in hexadecimal.
    pub arguments_hash: String,
    /// The arguments that a person put in place of the model's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub edited_arguments: Option<Value>,
    /// What came of it, once known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub outcome: Option<String>,
}
