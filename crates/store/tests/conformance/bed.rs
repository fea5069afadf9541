//! A store to try, a clock that stands still, and records to put in.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use antiphon_agent::clock::Clock;
use antiphon_agent::store::{
    Audit, Call, CallPhase, Claim, Commit, Error, Interaction, InteractionKind, InteractionStatus,
    Journal, Lease, MemoryStore, Opened, RunRecord, RunStatus, Store, StoredMessage, Thread,
    ThreadKey,
};
use antiphon_protocol::{Message, UserMessage};
use antiphon_store::Sqlite;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use tempfile::TempDir;

/// How long leases last here.
pub(crate) const TTL: Duration = Duration::from_secs(30);

/// A clock that only moves when told to.
#[derive(Debug)]
pub(crate) struct StillClock(Mutex<Timestamp>);

impl StillClock {
    pub(crate) fn new() -> Arc<Self> {
        let start = "2026-02-03T04:05:06.123456789Z".parse().unwrap();
        Arc::new(Self(Mutex::new(start)))
    }

    pub(crate) fn advance(&self, by: Duration) {
        let mut now = self.0.lock().unwrap();
        *now += SignedDuration::try_from(by).unwrap();
    }
}

impl Clock for StillClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

/// A store with its clock.
pub(crate) struct Bed {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<StillClock>,
    _folder: Option<TempDir>,
}

impl Bed {
    pub(crate) fn memory() -> Self {
        let clock = StillClock::new();
        Self {
            store: Arc::new(MemoryStore::new(clock.clone())),
            clock,
            _folder: None,
        }
    }

    pub(crate) async fn sqlite() -> Self {
        let clock = StillClock::new();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("threads.db");
        let store = Sqlite::open_with(path, clock.clone()).await.unwrap();
        Self {
            store: Arc::new(store),
            clock,
            _folder: Some(folder),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Claims a thread and loads it.
    pub(crate) async fn open(
        &self,
        key: &ThreadKey,
        run_id: &str,
    ) -> (Lease, Thread, Option<RunRecord>) {
        match self.store.open(claim(key, run_id)).await.unwrap() {
            Opened::Ours(lease, thread, earlier) => (lease, *thread, earlier.map(|run| *run)),
            Opened::Busy { run_id } => panic!("{run_id} holds {key:?}"),
        }
    }

    /// Claims a thread.
    pub(crate) async fn claim(&self, key: &ThreadKey, run_id: &str) -> Lease {
        self.open(key, run_id).await.0
    }

    /// Commits to a thread that nobody holds.
    pub(crate) async fn put(&self, key: &ThreadKey, commit: Commit) {
        let lease = self.claim(key, "run-put").await;
        let commit = Commit {
            release: true,
            ..commit
        };
        self.store.commit(&lease, commit).await.unwrap();
    }

    /// Reads a thread that is there.
    pub(crate) async fn read(&self, key: &ThreadKey) -> Thread {
        self.store.thread(key).await.unwrap().unwrap()
    }
}

pub(crate) fn key() -> ThreadKey {
    ThreadKey::new("alice", "thread-1")
}

pub(crate) fn claim(key: &ThreadKey, run_id: &str) -> Claim {
    Claim {
        key: key.clone(),
        owner: "server-1".to_owned(),
        run_id: run_id.to_owned(),
        ttl: TTL,
    }
}

pub(crate) fn message(id: &str, place: i64, text: &str) -> StoredMessage {
    StoredMessage {
        place,
        message: Message::User(UserMessage::new(id, text)),
        origin: None,
    }
}

pub(crate) fn run(key: &ThreadKey, run_id: &str, attempt: u32, now: Timestamp) -> RunRecord {
    RunRecord {
        key: key.clone(),
        run_id: run_id.to_owned(),
        attempt,
        agent: "recipe".to_owned(),
        response_id: format!("response-{run_id}-{attempt}"),
        status: RunStatus::Running,
        input_hash: "00ff".to_owned(),
        invocation: json!({ "tools": [], "context": [], "forwardedProps": null }),
        ending: None,
        started_at: now,
        ended_at: None,
    }
}

pub(crate) fn call(id: &str, place: i64, phase: CallPhase) -> Call {
    Call {
        id: id.to_owned(),
        run_id: "run-1".to_owned(),
        place,
        message_id: "message-1".to_owned(),
        tool: "update_recipe".to_owned(),
        arguments: r#"{"recipe":{}}"#.to_owned(),
        phase,
        journal: Journal::default(),
    }
}

pub(crate) fn interaction(key: &ThreadKey, id: &str, now: Timestamp) -> Interaction {
    Interaction {
        id: id.to_owned(),
        key: key.clone(),
        run_id: "run-1".to_owned(),
        response_id: "response-1".to_owned(),
        call_id: "call-1".to_owned(),
        kind: InteractionKind::Approval,
        status: InteractionStatus::Open,
        request: json!({ "message": "Really?" }),
        answer: None,
        early: None,
        opened_at: now,
        expires_at: Some(now + SignedDuration::from_mins(15)),
    }
}

pub(crate) fn decision(interaction_id: &str, decision: &str, now: Timestamp) -> Audit {
    Audit {
        interaction_id: interaction_id.to_owned(),
        tool_call_id: "call-1".to_owned(),
        tool: "update_recipe".to_owned(),
        decision: decision.to_owned(),
        by: "alice".to_owned(),
        at: now,
        arguments_hash: "00ff".to_owned(),
        edited_arguments: None,
        outcome: None,
    }
}

/// The ids of a thread's messages, in their order.
pub(crate) fn ids(thread: &Thread) -> Vec<&str> {
    thread
        .messages
        .iter()
        .map(|stored| stored.message.id())
        .collect()
}

pub(crate) fn is_lost(outcome: &Result<(), Error>) -> bool {
    matches!(outcome, Err(Error::LeaseLost { .. }))
}
