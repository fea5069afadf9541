//! Disks that fill up, files that others lock, callers that go away.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use antiphon_agent::store::{
    Claim, Commit, Error, Lease, Opened, Result, Store, StoredMessage, ThreadKey,
};
use antiphon_protocol::{Message, UserMessage};
use serde_json::json;
use sqlx::{Connection, Executor};
use tempfile::TempDir;

use super::{Failure, Sqlite, options};

fn key() -> ThreadKey {
    ThreadKey::new("alice", "thread-1")
}

fn claim(run_id: &str) -> Claim {
    Claim {
        key: key(),
        owner: "server-1".to_owned(),
        run_id: run_id.to_owned(),
        ttl: Duration::from_secs(30),
    }
}

fn said(id: &str, text: &str) -> Commit {
    let message = Message::User(UserMessage::new(id, text));
    Commit {
        messages: vec![StoredMessage {
            place: 1,
            message,
            origin: None,
        }],
        state: Some(json!(id)),
        ..Commit::default()
    }
}

async fn opened() -> (TempDir, Sqlite, Lease) {
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(folder.path().join("threads.db"))
        .await
        .unwrap();
    let Opened::Ours(lease, ..) = store.open(claim("run-1")).await.unwrap() else {
        panic!("a new file has no leases");
    };
    (folder, store, lease)
}

async fn pragma(store: &Sqlite, pragma: &'static str) {
    let mut writer = store.writer.lock().await;
    writer.durable().execute(pragma).await.unwrap();
    writer
        .leases()
        .await
        .unwrap()
        .execute(pragma)
        .await
        .unwrap();
}

fn failure(outcome: Result<()>) -> Failure {
    match outcome {
        Err(Error::Unavailable(cause)) => *cause.downcast().unwrap(),
        other => panic!("{other:?} is not a failure of the file"),
    }
}

#[tokio::test]
async fn a_full_disk_is_told_and_survived() {
    let (_folder, store, lease) = opened().await;
    store.commit(&lease, said("first", "hello")).await.unwrap();
    pragma(&store, "PRAGMA max_page_count = 1").await;
    let large = "word ".repeat(100_000);
    let full = store.commit(&lease, said("second", &large)).await;
    let full = failure(full);
    assert!(matches!(full, Failure::Full(_)), "{full}");
    assert_eq!(full.to_string(), "the disk is full");
    let thread = store.thread(&key()).await.unwrap().unwrap();
    assert_eq!(
        (thread.messages.len(), thread.state),
        (1, Some(json!("first")))
    );
    store.renew(&lease, Duration::from_secs(30)).await.unwrap();

    pragma(&store, "PRAGMA max_page_count = 1000000").await;
    store.commit(&lease, said("second", &large)).await.unwrap();
    let thread = store.thread(&key()).await.unwrap().unwrap();
    assert_eq!(
        (thread.messages.len(), thread.state),
        (2, Some(json!("second")))
    );
}

#[tokio::test]
async fn a_lock_that_another_program_keeps_is_told_and_survived() {
    let (folder, store, lease) = opened().await;
    pragma(&store, "PRAGMA busy_timeout = 1").await;
    let path = folder.path().join("threads.db");
    let mut other = sqlx::SqliteConnection::connect_with(&options(&path))
        .await
        .unwrap();
    let lock = other.begin_with("BEGIN IMMEDIATE").await.unwrap();
    let locked = failure(store.commit(&lease, said("first", "hello")).await);
    assert!(matches!(locked, Failure::Locked(_)), "{locked}");
    let locked = failure(store.renew(&lease, Duration::from_secs(30)).await);
    assert!(matches!(locked, Failure::Locked(_)), "{locked}");
    assert_eq!(
        store.thread(&key()).await.unwrap(),
        None,
        "readers don't wait"
    );
    lock.rollback().await.unwrap();
    store.commit(&lease, said("first", "hello")).await.unwrap();
}

#[tokio::test]
async fn a_commit_whose_caller_went_away_is_whole_or_nothing() {
    let (_folder, store, lease) = opened().await;
    for polls in 0..40 {
        let id = format!("message-{polls}");
        {
            let mut commit = pin!(store.commit(&lease, said(&id, "hello")));
            let mut context = Context::from_waker(Waker::noop());
            for _ in 0..polls {
                if let Poll::Ready(done) = commit.as_mut().poll(&mut context) {
                    done.unwrap();
                    break;
                }
                std::thread::yield_now();
            }
        }
        store.renew(&lease, Duration::from_secs(30)).await.unwrap();
        let thread = store.thread(&key()).await.unwrap();
        let has_state = thread.as_ref().is_some_and(|t| t.state == Some(json!(id)));
        let has_message = thread
            .as_ref()
            .is_some_and(|t| t.messages.iter().any(|m| m.message.id() == id));
        assert_eq!(has_state, has_message, "after {polls} polls");
    }
    store.commit(&lease, said("last", "hello")).await.unwrap();
    let thread = store.thread(&key()).await.unwrap().unwrap();
    assert_eq!(thread.state, Some(json!("last")));
}

#[tokio::test]
async fn a_state_too_deep_to_be_read_back_is_refused_whole() {
    let (_folder, store, lease) = opened().await;
    let deep = (0..200).fold(json!(1), |value, _| json!([value]));
    let commit = Commit {
        state: Some(deep),
        ..said("first", "hello")
    };
    let refused = store.commit(&lease, commit).await.unwrap_err();
    assert!(refused.to_string().contains("nested deeper"), "{refused}");
    assert_eq!(store.thread(&key()).await.unwrap(), None);
    store.commit(&lease, said("first", "hello")).await.unwrap();
}
