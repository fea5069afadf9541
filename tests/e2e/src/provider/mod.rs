//! The fake model provider and the fake HTTP tools, on one loopback port.
//!
//! The N-th model request gets the N-th answer of the [script](Script); one request more is
//! recorded as a problem. `POST /tool/NAME` records an execution and answers as that tool was
//! told to. Everything that arrives is kept, and a test waits for it with [`Provider::until`].

pub mod chunks;
mod connection;
pub mod reply;
pub mod wire;

use std::{
    collections::BTreeMap,
    fmt,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use serde_json::Value;
use tokio::{
    net::TcpListener,
    sync::watch,
    task::JoinHandle,
    time::{Instant, timeout},
};

pub use self::reply::{Delivery, End, Gate, Reply, Write};
use self::wire::{Message, Wire};

/// A request to the model.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// Its place, from 1.
    pub number: usize,
    /// The wire that its path belongs to.
    pub wire: Wire,
    /// Its path and query.
    pub path: String,
    /// Header names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub raw: Bytes,
    /// Its body as JSON; `Null` if it is none.
    pub body: Value,
    /// When the peer gave up on it.
    pub closed_by_peer: Option<Instant>,
    /// Whether it was answered to the end.
    pub answered: bool,
    /// The calls that its answer makes: provider id, where there is one, and tool.
    pub calls: Vec<(Option<String>, String)>,
}

impl ModelRequest {
    /// The messages it sends.
    pub fn messages(&self) -> Vec<Message> {
        wire::messages(self.wire, &self.body)
    }

    /// The text of its last user message.
    pub fn last_user(&self) -> String {
        let messages = self.messages();
        let mut users = messages
            .iter()
            .rev()
            .filter(|m| m.role == "user" && !m.text.is_empty());
        users.next().map(|m| m.text.clone()).unwrap_or_default()
    }

    /// Whether its last message answers a call.
    pub fn ends_with_result(&self) -> bool {
        self.messages()
            .last()
            .is_some_and(|m| !m.results.is_empty())
    }

    /// The texts of the results it holds for a call.
    pub fn results_of(&self, call: &str) -> Vec<String> {
        let messages = self.messages();
        let results = messages.iter().flat_map(|m| &m.results);
        results
            .filter(|r| r.id.as_deref() == Some(call))
            .map(|r| r.text.clone())
            .collect()
    }

    /// Whether a text occurs anywhere in it.
    pub fn mentions(&self, needle: &str) -> bool {
        String::from_utf8_lossy(&self.raw).contains(needle)
    }
}

/// A request to a tool.
#[derive(Debug, Clone)]
pub struct Execution {
    /// The tool.
    pub name: String,
    /// Its arguments: the body as JSON.
    pub args: Value,
    /// Header names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// When the peer gave up on it.
    pub closed_by_peer: Option<Instant>,
}

/// What a tool does.
#[derive(Debug, Clone)]
pub struct Tool {
    /// What it waits for before it answers.
    pub wait: Option<Write>,
    /// Its result as JSON, or the text of an HTTP 500.
    pub answer: Result<Value, String>,
}

impl Tool {
    /// Answers at once.
    pub const fn returns(value: Value) -> Self {
        Self {
            wait: None,
            answer: Ok(value),
        }
    }

    /// Waits first.
    #[must_use]
    pub fn after(mut self, wait: Write) -> Self {
        self.wait = Some(wait);
        self
    }
}

/// What the model answers.
pub enum Script {
    /// The answers in order; the last one again and again if told so.
    InOrder {
        /// The answers.
        replies: Vec<Reply>,
        /// Whether the last one answers all further requests.
        repeat: bool,
    },
    /// An answer made from the request.
    Answer(Box<dyn Fn(&ModelRequest) -> Reply + Send + Sync>),
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InOrder { replies, repeat } => f
                .debug_struct("InOrder")
                .field("replies", &replies.len())
                .field("repeat", repeat)
                .finish(),
            Self::Answer(_) => f.write_str("Answer"),
        }
    }
}

/// Everything that has arrived.
#[derive(Debug, Default)]
pub struct Log {
    /// The model requests.
    pub requests: Vec<ModelRequest>,
    /// The tool executions.
    pub executions: Vec<Execution>,
    /// What should not have arrived.
    pub problems: Vec<String>,
    /// Model answers that are being written right now.
    pub open_streams: usize,
}

/// What all connections share.
#[derive(Debug)]
struct Shared {
    log: Mutex<Log>,
    changed: watch::Sender<()>,
    script: Mutex<Script>,
    tools: Mutex<BTreeMap<String, Tool>>,
}

impl Shared {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the log and wakes whoever waits for a change.
    fn note<T>(&self, change: impl FnOnce(&mut Log) -> T) -> T {
        let out = change(&mut self.log());
        self.changed.send_replace(());
        out
    }
}

/// What did not happen in time.
#[derive(Debug, thiserror::Error)]
#[error("{what} did not happen within {seconds} s")]
pub struct NotInTime {
    what: String,
    seconds: f64,
}

/// The fake provider. Dropping it closes its port.
#[derive(Debug)]
pub struct Provider {
    addr: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

impl Provider {
    /// Listens on a free loopback port. Until it is told otherwise it expects no request.
    ///
    /// # Errors
    ///
    /// No port is free.
    pub async fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let addr = listener.local_addr()?;
        let shared = Arc::new(Shared {
            log: Mutex::default(),
            changed: watch::Sender::new(()),
            script: Mutex::new(Script::InOrder {
                replies: Vec::new(),
                repeat: false,
            }),
            tools: Mutex::default(),
        });
        let accepting = tokio::spawn(connection::accept(listener, Arc::clone(&shared)));
        Ok(Self {
            addr,
            shared,
            accepting,
        })
    }

    /// Its address as the start of a URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Sets what the model answers from now on; requests are numbered on.
    pub fn script(&self, script: Script) {
        *self
            .shared
            .script
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = script;
    }

    /// Answers the coming requests with these streams, one after the other, and no more.
    pub fn turns(&self, turns: Vec<Vec<Write>>) {
        self.script(Script::InOrder {
            replies: turns.into_iter().map(Reply::stream).collect(),
            repeat: false,
        });
    }

    /// Makes each answer from its request.
    pub fn answer(&self, answer: impl Fn(&ModelRequest) -> Reply + Send + Sync + 'static) {
        self.script(Script::Answer(Box::new(answer)));
    }

    /// Sets what a tool does.
    pub fn tool(&self, name: &str, tool: Tool) {
        let mut tools = self
            .shared
            .tools
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        tools.insert(name.to_owned(), tool);
    }

    /// The model requests so far.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.shared.log().requests.clone()
    }

    /// The number of model requests so far.
    pub fn request_count(&self) -> usize {
        self.shared.log().requests.len()
    }

    /// The executions so far.
    pub fn executions(&self) -> Vec<Execution> {
        self.shared.log().executions.clone()
    }

    /// The number of executions so far.
    pub fn execution_count(&self) -> usize {
        self.shared.log().executions.len()
    }

    /// What should not have arrived.
    pub fn problems(&self) -> Vec<String> {
        self.shared.log().problems.clone()
    }

    /// Model answers that are being written right now.
    pub fn open_streams(&self) -> usize {
        self.shared.log().open_streams
    }

    /// Waits until the log is as a test needs it.
    ///
    /// # Errors
    ///
    /// It did not come to that in time.
    pub async fn until<T>(
        &self,
        within: Duration,
        what: &str,
        mut look: impl FnMut(&Log) -> Option<T>,
    ) -> Result<T, NotInTime> {
        let mut changes = self.shared.changed.subscribe();
        let waiting = async {
            loop {
                if let Some(found) = look(&self.shared.log()) {
                    return found;
                }
                // The sender lives in `self`, so a change comes or the time ends.
                let _ = changes.changed().await;
            }
        };
        timeout(within, waiting).await.map_err(|_| NotInTime {
            what: what.to_owned(),
            seconds: within.as_secs_f64(),
        })
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}
