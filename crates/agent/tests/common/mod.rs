//! A stage for runs: a model that says what a test wrote down, a store in memory, ids that count.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test file uses its own part"
)]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use antiphon_agent::clock::{Clock, CountingIds};
use antiphon_agent::store::{MemoryStore, Store, Thread, ThreadKey};
use antiphon_agent::{Accepted, Agent, Batch, BuiltAgent, Refusal, RunLog, Runtime};
use antiphon_model::{
    Error, EventStream, Finish, FinishReason, Message as Said, Model, ModelEvent, Request,
};
use antiphon_protocol::{
    Content, Event, Message, Replica, ResumeEntry, ResumeStatus, RunAgentInput, UserMessage,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

/// What the model does in one call.
pub type Turn = Vec<Result<ModelEvent, Error>>;

/// A model that plays turns in order and keeps what it was asked.
#[derive(Debug, Default)]
pub struct Fake {
    turns: Mutex<VecDeque<Turn>>,
    pub asked: Mutex<Vec<Request>>,
    /// Never ends the last turn.
    pub hangs: bool,
}

impl Model for Fake {
    fn provider(&self) -> &'static str {
        "fake"
    }

    fn name(&self) -> &'static str {
        "fake-1"
    }

    fn stream(&self, request: &Request) -> EventStream {
        self.asked.lock().unwrap().push(request.clone());
        let mut turns = self.turns.lock().unwrap();
        let turn = turns
            .pop_front()
            .expect("the model was called more often than the test says");
        let last = turns.is_empty() && self.hangs;
        let played = futures_util::stream::iter(turn);
        if last {
            use futures_util::StreamExt;
            return Box::pin(played.chain(futures_util::stream::pending()));
        }
        Box::pin(played)
    }
}

impl Fake {
    /// Plays these turns and never ends the last one.
    pub fn hanging(turns: Vec<Turn>) -> Self {
        Self {
            turns: Mutex::new(turns.into()),
            hangs: true,
            ..Self::default()
        }
    }

    /// Plays more turns after those.
    pub fn then(&self, turns: Vec<Turn>) {
        self.turns.lock().unwrap().extend(turns);
    }
}

/// A clock that a test moves.
#[derive(Debug)]
pub struct HandClock(Mutex<Timestamp>);

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

impl HandClock {
    pub fn advance(&self, seconds: i64) {
        let mut now = self.0.lock().unwrap();
        *now = now.checked_add(SignedDuration::from_secs(seconds)).unwrap();
    }
}

pub fn says(text: &str) -> Turn {
    let words = text
        .split_inclusive(' ')
        .map(|word| Ok(ModelEvent::Text(word.to_owned())));
    words.chain([finished(FinishReason::Stop)]).collect()
}

pub fn finished(reason: FinishReason) -> Result<ModelEvent, Error> {
    Ok(ModelEvent::Finished(Finish {
        reason,
        origin: None,
    }))
}

/// Calls with their arguments in pieces of four characters.
pub fn calls(calls: &[(&str, &str, Value)]) -> Turn {
    let mut turn = Turn::new();
    for (index, (id, name, arguments)) in calls.iter().enumerate() {
        turn.push(Ok(ModelEvent::CallStarted {
            index,
            id: (*id).into(),
            name: (*name).into(),
        }));
        let text: Vec<char> = arguments.to_string().chars().collect();
        for piece in text.chunks(4) {
            turn.push(Ok(ModelEvent::CallArguments {
                index,
                delta: piece.iter().collect(),
            }));
        }
        turn.push(Ok(ModelEvent::CallEnded { index }));
    }
    turn.push(finished(FinishReason::ToolCalls));
    turn
}

/// One agent with its runtime, driven as a client does.
pub struct Stage {
    pub agent: Arc<BuiltAgent>,
    pub model: Arc<Fake>,
    pub runtime: Runtime,
    pub store: Arc<MemoryStore>,
    pub clock: Arc<HandClock>,
    pub held: Replica,
    runs: usize,
}

/// What one request gave.
#[derive(Debug)]
pub struct Played {
    pub events: Vec<Event>,
}

impl Stage {
    pub fn new(describe: impl FnOnce(Agent) -> Agent, turns: Vec<Turn>) -> Self {
        Self::with_model(
            describe,
            Fake {
                turns: Mutex::new(turns.into()),
                ..Fake::default()
            },
        )
    }

    pub fn with_model(describe: impl FnOnce(Agent) -> Agent, model: Fake) -> Self {
        let model = Arc::new(model);
        let shared: Arc<dyn Model> = Arc::clone(&model) as _;
        let agent = describe(Agent::new("test").shared_model(shared))
            .build()
            .unwrap();
        let clock = Arc::new(HandClock(Mutex::new(
            "2026-01-01T00:00:00Z".parse().unwrap(),
        )));
        let store = Arc::new(MemoryStore::new(Arc::clone(&clock) as _));
        let runtime = Runtime::new(Arc::clone(&store) as _)
            .with(Arc::clone(&clock) as _, Arc::new(CountingIds::default()));
        let held = Replica::new(Vec::new(), json!({}));
        Self {
            agent: Arc::new(agent),
            model,
            runtime,
            store,
            clock,
            held,
            runs: 0,
        }
    }

    /// The next request, as the official client sends it: everything it holds.
    pub fn input(&mut self) -> RunAgentInput {
        self.runs += 1;
        let mut input = RunAgentInput::new(
            "t1",
            format!("r{}", self.runs),
            self.held.messages().to_vec(),
        );
        input.protocol_version = Some("1.0".into());
        input.state = Some(self.held.state().clone());
        input
    }

    pub fn user(&mut self, text: &str) -> RunAgentInput {
        let mut input = self.input();
        input.messages.push(user(&format!("u{}", self.runs), text));
        input
    }

    pub fn resume(&mut self, entries: Vec<ResumeEntry>) -> RunAgentInput {
        let mut input = self.input();
        input.resume = entries;
        input
    }

    /// Posts a request, plays the run and takes what came into what the client holds.
    pub async fn play(&mut self, input: RunAgentInput) -> Result<Played, Refusal> {
        let mut replica = Replica::new(
            input.messages.clone(),
            input.state.clone().unwrap_or_else(|| json!({})),
        );
        let log = self.accept(input).await?;
        let events = read(&log).await;
        for event in &events {
            let warnings = replica.apply(event);
            assert!(warnings.is_empty(), "{event:?}: {warnings:?}");
        }
        self.held = replica;
        Ok(Played { events })
    }

    /// Posts a request and plays the run in the background.
    pub async fn accept(&self, input: RunAgentInput) -> Result<Arc<RunLog>, Refusal> {
        match self
            .runtime
            .accept(Arc::clone(&self.agent), "alice", input)
            .await?
        {
            Accepted::Run(run) => {
                let log = run.log();
                tokio::spawn(run.play());
                Ok(log)
            }
            Accepted::Replay(log) => Ok(log),
        }
    }

    /// The thread as it is shown to a page that only looks.
    pub async fn look(&self) -> Played {
        let key = ThreadKey::new("alice", "t1");
        let shown = self.runtime.shown(&self.agent, &key, "look").await;
        let events = read(&shown.unwrap()).await;
        Played { events }
    }

    pub async fn thread(&self) -> Thread {
        self.store
            .thread(&ThreadKey::new("alice", "t1"))
            .await
            .unwrap()
            .expect("the thread is stored")
    }

    /// Asserts that what the client holds is what the store has.
    pub async fn assert_in_step(&self) {
        let thread = self.thread().await;
        let stored: Vec<Message> = thread.messages.into_iter().map(|m| m.message).collect();
        assert_eq!(self.held.messages(), stored, "messages");
        assert_eq!(
            *self.held.state(),
            thread.state.unwrap_or_else(|| json!({})),
            "state"
        );
    }

    /// What the model was asked in its nth call, one line per message.
    pub fn asked(&self, n: usize) -> Vec<String> {
        self.model.asked.lock().unwrap()[n]
            .messages
            .iter()
            .map(line)
            .collect()
    }
}

fn line(message: &Said) -> String {
    match message {
        Said::User { content } => format!(
            "user: {}",
            content
                .iter()
                .filter_map(|p| p.as_text())
                .collect::<String>()
        ),
        Said::Assistant(m) => {
            let calls: Vec<&str> = m.calls.iter().map(|c| c.id.as_str()).collect();
            format!("assistant: {} {}", m.text, calls.join(","))
        }
        Said::ToolResult {
            call_id, content, ..
        } => {
            format!(
                "result {call_id}: {}",
                content
                    .iter()
                    .filter_map(|p| p.as_text())
                    .collect::<String>()
            )
        }
    }
}

pub fn user(id: &str, text: &str) -> Message {
    UserMessage::new(id, Content::Text(text.into())).into()
}

pub fn entry(id: &str, payload: Value) -> ResumeEntry {
    let mut entry = ResumeEntry::new(id, ResumeStatus::Resolved);
    entry.payload = Some(payload);
    entry
}

pub async fn read(log: &Arc<RunLog>) -> Vec<Event> {
    let mut reader = log.read();
    let mut events = Vec::new();
    loop {
        let next = tokio::time::timeout(std::time::Duration::from_secs(5), reader.next());
        match next.await.expect("the run goes on") {
            Batch::Frames(frames) => events.extend(frames.iter().map(|frame| {
                let value = serde_json::from_slice(&frame.json()).unwrap();
                Event::read(value).unwrap().value.unwrap()
            })),
            Batch::Lagged => panic!("the reader fell behind"),
            Batch::Ended => return events,
        }
    }
}

impl Played {
    pub fn types(&self) -> Vec<&'static str> {
        self.events
            .iter()
            .map(|event| event.kind().as_str())
            .collect()
    }

    /// The types with repetitions folded.
    pub fn shape(&self) -> String {
        let mut types = self.types();
        types.dedup();
        types.join(" ")
    }

    pub fn interrupts(&self) -> Vec<antiphon_protocol::Interrupt> {
        match self.events.last() {
            Some(Event::RunFinished(finished)) => match &finished.outcome {
                Some(antiphon_protocol::Outcome::Interrupt { interrupts }) => interrupts.clone(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    pub fn error_code(&self) -> Option<&str> {
        match self.events.last() {
            Some(Event::RunError(error)) => error.code.as_deref(),
            _ => None,
        }
    }

    pub fn deltas(&self) -> usize {
        self.types().iter().filter(|t| **t == "STATE_DELTA").count()
    }
}
