//! What storing a short text run costs: a claim, a commit of its input, a commit of its end.
//!
//! ```text
//! cargo run --release -p antiphon-store --example run_cost [FOLDER]
//! ```
//!
//! The database goes to FOLDER, or to a temporary one; its disk decides how long a commit waits. The
//! time is that of one run after the other, the CPU that of all threads of the process, as Linux
//! counts it.

#![expect(clippy::print_stdout, reason = "it prints what it measured")]

use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use antiphon_agent::store::{
    Claim, Commit, Opened, RunRecord, RunStatus, Store, StoredMessage, ThreadKey,
};
use antiphon_agent::{clock::SystemClock, store::MemoryStore};
use antiphon_protocol::{AssistantMessage, Message, UserMessage};
use antiphon_store::Sqlite;
use jiff::Timestamp;
use serde_json::json;

type Failed = Box<dyn Error + Send + Sync>;

const RUNS: u32 = 2000;

/// Messages that a thread may have before the run.
const HISTORIES: [i64; 3] = [0, 20, 200];

#[tokio::main]
async fn main() -> Result<(), Failed> {
    // Where a server's runs are: on one of the runtime's own threads.
    tokio::spawn(measure_all()).await?
}

async fn measure_all() -> Result<(), Failed> {
    let temporary = tempfile::tempdir()?;
    let folder = std::env::args_os()
        .nth(1)
        .map_or_else(|| temporary.path().to_owned(), PathBuf::from);
    let memory = MemoryStore::new(std::sync::Arc::new(SystemClock));
    let sqlite = Sqlite::open(folder.join("run_cost.db")).await?;
    println!(
        "{:<8} {:>8} {:>10} {:>10}",
        "store", "messages", "time", "cpu"
    );
    for history in HISTORIES {
        measure("memory", &memory, history).await?;
        measure("sqlite", &sqlite, history).await?;
    }
    Ok(())
}

async fn measure(name: &str, store: &dyn Store, history: i64) -> Result<(), Failed> {
    let runs = if history > 100 { RUNS / 10 } else { RUNS };
    for n in 0..runs {
        fill(store, &key(history, n), history).await?;
    }
    let (began, cpu) = (Instant::now(), cpu_time()?);
    for n in 0..runs {
        play(store, &key(history, n), history).await?;
    }
    let (time, cpu) = (began.elapsed() / runs, (cpu_time()? - cpu) / runs);
    println!("{name:<8} {history:>8} {time:>10.1?} {cpu:>10.1?}");
    Ok(())
}

fn key(history: i64, n: u32) -> ThreadKey {
    ThreadKey::new("alice", format!("thread-{history}-{n}"))
}

async fn fill(store: &dyn Store, key: &ThreadKey, history: i64) -> Result<(), Failed> {
    if history == 0 {
        return Ok(());
    }
    let Opened::Ours(lease, ..) = store.open(claim(key, "run-0")).await? else {
        return Err("a new thread is free".into());
    };
    let commit = Commit {
        messages: (0..history)
            .map(|n| said(&format!("message-{n}"), n))
            .collect(),
        release: true,
        ..Commit::default()
    };
    Ok(store.commit(&lease, commit).await?)
}

async fn play(store: &dyn Store, key: &ThreadKey, history: i64) -> Result<(), Failed> {
    let Opened::Ours(lease, ..) = store.open(claim(key, "run-1")).await? else {
        return Err("a thread is free after its run".into());
    };
    let mut record = RunRecord {
        key: key.clone(),
        run_id: "run-1".to_owned(),
        attempt: 1,
        agent: "recipe".to_owned(),
        response_id: format!("response-{}", lease.token),
        status: RunStatus::Running,
        input_hash: "0".repeat(64),
        invocation: json!({ "tools": [], "context": [], "forwardedProps": {} }),
        ending: None,
        started_at: Timestamp::now(),
        ended_at: None,
    };
    let input = Commit {
        messages: vec![said("message-in", history + 1)],
        run: Some(record.clone()),
        ..Commit::default()
    };
    store.commit(&lease, input).await?;
    record.status = RunStatus::Finished;
    record.ended_at = Some(Timestamp::now());
    record.ending = Some(json!({ "type": "RUN_FINISHED", "outcome": { "type": "success" } }));
    let mut answer = AssistantMessage::new("message-out");
    answer.content = Some("word ".repeat(200).as_str().into());
    let end = Commit {
        messages: vec![StoredMessage {
            place: history + 2,
            message: Message::Assistant(answer),
            origin: None,
        }],
        run: Some(record),
        release: true,
        ..Commit::default()
    };
    Ok(store.commit(&lease, end).await?)
}

fn claim(key: &ThreadKey, run_id: &str) -> Claim {
    Claim {
        key: key.clone(),
        owner: "server-1".to_owned(),
        run_id: run_id.to_owned(),
        ttl: Duration::from_secs(30),
    }
}

fn said(id: &str, place: i64) -> StoredMessage {
    StoredMessage {
        place,
        message: Message::User(UserMessage::new(id, "Which soup goes with rain?")),
        origin: None,
    }
}

/// The CPU time that the threads of this process have used.
fn cpu_time() -> Result<Duration, Failed> {
    let mut nanoseconds = 0;
    for thread in std::fs::read_dir("/proc/self/task")? {
        let counts = std::fs::read_to_string(thread?.path().join("schedstat"))?;
        let on_cpu = counts.split_whitespace().next().unwrap_or_default();
        nanoseconds += on_cpu.parse::<u64>()?;
    }
    Ok(Duration::from_nanos(nanoseconds))
}
