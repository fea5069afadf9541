//! What is left of a file whose server was killed: everything that was acknowledged, whole commits,
//! and nobody's lease.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use antiphon_agent::store::{Commit, Store, Thread};
use antiphon_store::Sqlite;
use serde_json::json;
use sqlx::Connection;

use crate::bed::{key, message, run};
use crate::sqlite::{claimed, connect, folder};

/// Tells a child process which file to write.
const FILE: &str = "ANTIPHON_TEST_FILE";

/// Before the number of a commit that a child has seen acknowledged.
const ACKNOWLEDGED: &str = "acknowledged ";

/// Commits one numbered message after the other, with its number as the state, from `first` on.
async fn write_for_ever(store: &dyn Store, first: u64, acknowledge: impl Fn(u64)) {
    let lease = claimed(store, &key(), "run-1").await;
    let now = "2026-02-03T04:05:06Z".parse().unwrap();
    for number in first.. {
        let text = "word ".repeat(500);
        let commit = Commit {
            messages: vec![message(&format!("message-{number}"), place(number), &text)],
            state: Some(json!(number)),
            run: Some(run(&key(), "run-1", 1, now)),
            ..Commit::default()
        };
        if store.commit(&lease, commit).await.is_err() {
            return;
        }
        acknowledge(number);
    }
}

fn place(number: u64) -> i64 {
    i64::try_from(number).unwrap()
}

/// Opens what is left and checks that it consists of whole commits; returns how many.
async fn whole_commits(path: &Path) -> u64 {
    let store = Sqlite::open(path).await.unwrap();
    let Some(thread) = store.thread(&key()).await.unwrap() else {
        return 0;
    };
    let Thread {
        messages, state, ..
    } = thread;
    let count = u64::try_from(messages.len()).unwrap();
    for (number, stored) in (1..).zip(&messages) {
        assert_eq!(stored.message.id(), format!("message-{number}"));
    }
    assert_eq!(
        state,
        Some(json!(count)),
        "state and messages are of one commit"
    );
    let orphans = store.orphans().await.unwrap();
    assert_eq!(orphans.len(), 1, "the run is nobody's now");
    count
}

/// Runs a test of this very program in a process of its own.
fn child(test: &str, path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--ignored", "--nocapture"])
        .env(FILE, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn file_of_the_parent() -> PathBuf {
    PathBuf::from(std::env::var_os(FILE).unwrap())
}

#[tokio::test]
#[ignore = "runs as a child of the tests below"]
async fn writes_until_it_is_killed() {
    let store = Sqlite::open(file_of_the_parent()).await.unwrap();
    let stored = store.thread(&key()).await.unwrap();
    let first = stored.map_or(1, |thread| thread.messages.len() + 1);
    write_for_ever(&store, u64::try_from(first).unwrap(), |number| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{ACKNOWLEDGED}{number}").unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_killed_server_loses_nothing_that_was_acknowledged() {
    let (_folder, path) = folder();
    let mut before = 0;
    // Enough for the log to be carried over into the database several times.
    for commits in [1, 7, 60, 400, 3] {
        let mut child = child("crash::writes_until_it_is_killed", &path);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut acknowledged = before;
        for line in lines {
            let line = line.unwrap();
            let Some((_, number)) = line.split_once(ACKNOWLEDGED) else {
                continue;
            };
            acknowledged = number.parse().unwrap();
            if acknowledged >= before + commits {
                // Killed amid the next commits; what it still told is read to its end.
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        let stored = whole_commits(&path).await;
        assert!(acknowledged >= before + commits);
        assert!(stored >= acknowledged, "{stored} of {acknowledged}");
        assert!(stored <= acknowledged + 1, "one was on its way");
        before = stored;
    }
}

#[tokio::test]
async fn another_process_is_refused() {
    let (_folder, path) = folder();
    let _store = Sqlite::open(&path).await.unwrap();
    let refused = child("crash::writes_until_it_is_killed", &path);
    let refused = refused.wait_with_output().unwrap();
    assert!(!refused.status.success());
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(told.contains("InUse"), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_copy_made_while_writing_holds_what_was_acknowledged() {
    let (folder, path) = folder();
    let store: Arc<dyn Store> = Arc::new(Sqlite::open(&path).await.unwrap());
    let acknowledged = Arc::new(AtomicU64::new(0));
    let (store, told) = (Arc::clone(&store), Arc::clone(&acknowledged));
    let writing = tokio::spawn(async move {
        let acknowledge = |number| told.store(number, Ordering::SeqCst);
        write_for_ever(&*store, 1, acknowledge).await;
    });
    let log = |path: &Path| path.with_extension("db-wal");
    for round in 1..=30 {
        while acknowledged.load(Ordering::SeqCst) < round * 10 {
            tokio::task::yield_now().await;
        }
        let before = acknowledged.load(Ordering::SeqCst);
        let copy = folder.path().join(format!("copy-{round}.db"));
        // A reader keeps the log from starting anew between the two copies.
        let mut reader = connect(&path).await;
        let mut pin = reader.begin().await.unwrap();
        sqlx::query("SELECT count(*) FROM threads")
            .execute(&mut *pin)
            .await
            .unwrap();
        fs::copy(&path, &copy).unwrap();
        fs::copy(log(&path), log(&copy)).unwrap();
        pin.rollback().await.unwrap();
        let stored = whole_commits(&copy).await;
        assert!(stored >= before, "{stored} of {before}");
    }
    writing.abort();
}
