//! One thread of one client against one server, with everything judged that comes back.

mod bodies;
mod judge;
mod requests;
mod stage;

use std::{fmt, sync::atomic::AtomicUsize};

use serde_json::{Value, json};

pub use self::stage::{AGENT, Setting, Stage};
use crate::{
    agent::AgentSpec,
    binary::BinaryError,
    provider::NotInTime,
    rules::Memory,
    run::{Held, Run, WireCall},
};

/// What ends a play: it cannot go on, or it is over and something was wrong.
pub struct Stop(String);

/// What a step of a play returns.
pub type Step<T = ()> = Result<T, Stop>;

impl Stop {
    /// Says why.
    pub fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A test that returns an error shows its `Debug` form.
impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! stops {
    ($($error:ty),*) => {
        $(impl From<$error> for Stop {
            fn from(error: $error) -> Self {
                Self(error.to_string())
            }
        })*
    };
}

stops!(
    BinaryError,
    NotInTime,
    std::io::Error,
    serde_json::Error,
    crate::case::CaseError
);

/// One thread.
#[derive(Debug)]
pub struct Play {
    /// What it is played on.
    pub stage: Stage,
    /// The thread's id.
    pub thread: String,
    /// Headers of every request, such as a token.
    pub headers: Vec<(String, String)>,
    /// What the client holds now.
    pub held: Held,
    /// What was wrong so far.
    pub problems: Vec<String>,
    /// The calls that were streamed, replays aside.
    pub calls: Vec<WireCall>,
    /// The interrupts that the newest interrupted run brought.
    pub open: Vec<Value>,
    /// Whether every execution must have been streamed to this client.
    pub executions_are_streamed: bool,
    /// Whether the stored state must be what the client holds.
    pub is_stored: bool,
    first_body: Value,
    memory: Memory,
    run_numbers: AtomicUsize,
}

impl Play {
    /// A new thread on a stage, with the first body of a plain client.
    pub fn new(stage: Stage) -> Self {
        let history = stage.agent.rest.get("history");
        let is_stored = history.is_none_or(|h| h == "thread");
        Self {
            stage,
            thread: "thread-1".to_owned(),
            headers: Vec::new(),
            held: Held::default(),
            problems: Vec::new(),
            calls: Vec::new(),
            open: Vec::new(),
            executions_are_streamed: true,
            is_stored,
            first_body: json!({"messages": [{"id": "u1", "role": "user", "content": "go"}], "state": {}, "tools": [], "context": [], "forwardedProps": {}}),
            memory: Memory::default(),
            run_numbers: AtomicUsize::new(0),
        }
    }

    /// A new thread with an agent that is written as JSON, on a stage of its own.
    ///
    /// # Errors
    ///
    /// The agent cannot be understood, or the server does not start.
    pub async fn with(agent: Value) -> Step<Self> {
        Self::set(agent, Setting::default()).await
    }

    /// As [`with`](Self::with), in a setting of its own.
    ///
    /// # Errors
    ///
    /// As [`with`](Self::with).
    pub async fn set(agent: Value, setting: Setting) -> Step<Self> {
        Ok(Self::new(
            Stage::new(AgentSpec::read(agent)?, setting).await?,
        ))
    }

    /// Sets the body that requests start from.
    pub fn start_from(&mut self, body: Value) {
        self.first_body = body;
    }

    /// Goes on with another thread; the client holds nothing of it yet.
    pub fn turn_to(&mut self, thread: &str) {
        thread.clone_into(&mut self.thread);
        self.held = Held::default();
        self.memory = Memory::default();
    }

    /// Notes a problem.
    pub fn bad(&mut self, text: impl Into<String>) {
        self.problems.push(text.into());
    }

    /// Notes a problem unless the condition holds.
    pub fn check(&mut self, holds: bool, text: impl Into<String>) {
        if !holds {
            self.bad(text);
        }
    }

    /// Notes a problem unless the run ended as a success with this text.
    pub fn expect_success(&mut self, run: &Run, what: &str, text: Option<&str>) {
        if !run.succeeded() {
            self.bad(format!("{what}: {} instead of success", run.ending()));
        } else if let Some(text) = text {
            self.check(
                run.text() == text,
                format!("{what}: text {:?}, expected {text:?}", run.text()),
            );
        }
    }

    /// Notes a problem unless so many model requests have arrived.
    pub fn expect_model_requests(&mut self, count: usize) {
        let got = self.stage.provider.request_count();
        self.check(
            got == count,
            format!("{got} model requests, expected {count}"),
        );
    }

    /// Notes a problem unless so many executions have happened.
    pub fn expect_executions(&mut self, count: usize) {
        let got = self.stage.provider.execution_count();
        self.check(got == count, format!("{got} executions, expected {count}"));
    }
}
