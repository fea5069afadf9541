//! What only the store in SQLite does: files, reopening, schemas, many at once.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use antiphon_agent::store::{Commit, Error, Opened, Store, ThreadKey};
use antiphon_store::{Failure, Sqlite};
use serde_json::json;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use tempfile::TempDir;

use crate::bed::{StillClock, claim, key, message, run};

/// A folder for a database.
pub(crate) fn folder() -> (TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    (folder, path)
}

/// A connection beside the store's.
pub(crate) async fn connect(path: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(path);
    options.connect().await.unwrap()
}

pub(crate) async fn claimed(
    store: &dyn Store,
    key: &ThreadKey,
    run_id: &str,
) -> antiphon_agent::store::Lease {
    match store.open(claim(key, run_id)).await.unwrap() {
        Opened::Ours(lease, ..) => lease,
        Opened::Busy { run_id } => panic!("{run_id} holds {key:?}"),
    }
}

fn said(text: &str) -> Commit {
    Commit {
        messages: vec![message("message-1", 1, text)],
        state: Some(json!({ "said": text })),
        ..Commit::default()
    }
}

fn failure(error: &Error) -> &Failure {
    let Error::Unavailable(cause) = error else {
        panic!("{error} is not a failure of the file");
    };
    cause.downcast_ref().unwrap()
}

#[tokio::test]
async fn a_store_that_is_opened_again_has_what_was_committed() {
    let (_folder, path) = folder();
    let clock = StillClock::new();
    let store = Sqlite::open_with(&path, clock.clone()).await.unwrap();
    let lease = claimed(&store, &key(), "run-1").await;
    let commit = Commit {
        run: Some(run(
            &key(),
            "run-1",
            1,
            "2026-02-03T04:05:06Z".parse().unwrap(),
        )),
        ..said("hello")
    };
    store.commit(&lease, commit).await.unwrap();
    let before = store.thread(&key()).await.unwrap();
    drop(store);

    let store = Sqlite::open_with(&path, clock).await.unwrap();
    assert_eq!(store.thread(&key()).await.unwrap(), before);
    let orphans = store.orphans().await.unwrap();
    assert_eq!(orphans.len(), 1, "its server is gone, and so is its lease");
    let renewed = store.renew(&lease, crate::bed::TTL).await;
    assert!(matches!(renewed, Err(Error::LeaseLost { .. })));
    let next = claimed(&store, &key(), "run-2").await;
    assert!(next.token > lease.token);
}

#[tokio::test]
async fn a_thread_that_was_only_claimed_leaves_no_row() {
    let (_folder, path) = folder();
    let store = Sqlite::open(&path).await.unwrap();
    let lease = claimed(&store, &key(), "run-1").await;
    store.release(&lease).await.unwrap();
    let mut beside = connect(&path).await;
    for count in [
        "SELECT count(*) FROM threads",
        "SELECT count(*) FROM leases",
    ] {
        let rows: i64 = sqlx::query_scalar(count)
            .fetch_one(&mut beside)
            .await
            .unwrap();
        assert_eq!(rows, 0, "{count}");
    }
}

#[tokio::test]
async fn a_file_has_one_server_under_all_its_names() {
    let (folder, path) = folder();
    let store = Sqlite::open(&path).await.unwrap();
    let other = folder.path().join("other.db");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&path, &other).unwrap();
    #[cfg(not(unix))]
    let other = path.clone();
    for name in [&path, &other] {
        let refused = Sqlite::open(name).await.unwrap_err();
        assert!(matches!(failure(&refused), Failure::InUse { .. }));
        let said = refused.to_string();
        assert!(
            said.contains("threads.db is in use by another server"),
            "{said}"
        );
    }
    drop(store);
    Sqlite::open(&other).await.unwrap();
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let (_folder, path) = folder();
    drop(Sqlite::open(&path).await.unwrap());
    let mut beside = connect(&path).await;
    sqlx::query(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         VALUES (7, 'of the future', true, x'00', 0)",
    )
    .execute(&mut beside)
    .await
    .unwrap();
    let refused = Sqlite::open(&path).await.unwrap_err();
    let newer = Failure::NewerSchema { found: 7, known: 2 };
    assert_eq!(failure(&refused).to_string(), newer.to_string());
}

#[tokio::test]
async fn a_schema_that_another_program_wrote_is_damaged() {
    let (_folder, path) = folder();
    drop(Sqlite::open(&path).await.unwrap());
    let mut beside = connect(&path).await;
    sqlx::query("UPDATE _sqlx_migrations SET checksum = x'00'")
        .execute(&mut beside)
        .await
        .unwrap();
    let refused = Sqlite::open(&path).await.unwrap_err();
    assert!(
        matches!(refused, Error::Damaged { what: "schema", .. }),
        "{refused}"
    );
}

#[tokio::test]
async fn a_file_that_is_no_database_is_damaged() {
    let (_folder, path) = folder();
    fs::write(&path, "Dear diary, ".repeat(1000)).unwrap();
    let refused = Sqlite::open(&path).await.unwrap_err();
    assert!(
        matches!(
            refused,
            Error::Damaged {
                what: "database",
                ..
            }
        ),
        "{refused}"
    );
    assert!(fs::read(&path).unwrap().starts_with(b"Dear diary, "));
}

#[tokio::test]
async fn a_row_that_cannot_be_read_is_damaged() {
    let (_folder, path) = folder();
    let store = Sqlite::open(&path).await.unwrap();
    let lease = claimed(&store, &key(), "run-1").await;
    store.commit(&lease, said("hello")).await.unwrap();
    let mut beside = connect(&path).await;
    sqlx::query("UPDATE messages SET message = '{}'")
        .execute(&mut beside)
        .await
        .unwrap();
    let damaged = store.thread(&key()).await.unwrap_err();
    assert!(
        matches!(
            damaged,
            Error::Damaged {
                what: "message",
                ..
            }
        ),
        "{damaged}"
    );

    store.release(&lease).await.unwrap();
    let damaged = store.open(claim(&key(), "run-2")).await.unwrap_err();
    assert!(matches!(damaged, Error::Damaged { .. }), "{damaged}");
    let again = store.open(claim(&key(), "run-3")).await.unwrap_err();
    assert!(
        matches!(again, Error::Damaged { .. }),
        "nobody holds it: {again}"
    );
}

#[tokio::test]
async fn a_path_that_cannot_be_is_named() {
    let (folder, path) = folder();
    fs::write(folder.path().join("plain"), "a file").unwrap();
    let beneath = folder.path().join("plain/threads.db");
    let refused = Sqlite::open(&beneath).await.unwrap_err();
    assert!(matches!(failure(&refused), Failure::File { .. }));
    assert!(
        refused.to_string().contains("plain can't be used: "),
        "{refused}"
    );
    fs::create_dir(&path).unwrap();
    let refused = Sqlite::open(&path).await.unwrap_err();
    assert!(
        refused.to_string().contains("threads.db can't be used: "),
        "{refused}"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("a/b");
    let store = Sqlite::open(inner.join("threads.db")).await.unwrap();
    let lease = claimed(&store, &key(), "run-1").await;
    store.commit(&lease, said("hello")).await.unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let names = fs::read_dir(&inner).unwrap();
    let files: Vec<_> = names.map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 3, "database, log and lock: {files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    assert_eq!(mode(&inner), 0o700);
}

#[tokio::test]
async fn a_deleted_thread_is_not_in_the_file_any_more() {
    let (_folder, path) = folder();
    let store = Sqlite::open(&path).await.unwrap();
    let lease = claimed(&store, &key(), "run-1").await;
    let canary = "canary-5d1f ".repeat(4000);
    let commit = Commit {
        release: true,
        ..said(&canary)
    };
    store.commit(&lease, commit).await.unwrap();
    let holds = |path: &Path| {
        let bytes = fs::read(path).unwrap();
        bytes.windows(11).any(|window| window == b"canary-5d1f")
    };
    checkpoint(&path).await;
    assert!(holds(&path));
    assert!(store.delete_thread(&key()).await.unwrap());
    checkpoint(&path).await;
    assert!(!holds(&path));
}

async fn checkpoint(path: &Path) {
    let mut beside = connect(path).await;
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)")
        .execute(&mut beside)
        .await
        .unwrap();
    beside.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_threads_are_written_and_read_at_once() {
    let (_folder, path) = folder();
    let store: Arc<dyn Store> = Arc::new(Sqlite::open(&path).await.unwrap());
    let writing = (0..40).map(|n| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let key = ThreadKey::new("alice", format!("thread-{n}"));
            for round in 0..5_i64 {
                let lease = claimed(&*store, &key, "run-1").await;
                let commit = Commit {
                    messages: vec![message(&format!("message-{round}"), round, "hello")],
                    state: Some(json!(round)),
                    release: true,
                    ..Commit::default()
                };
                store.commit(&lease, commit).await.unwrap();
                let thread = store.thread(&key).await.unwrap().unwrap();
                assert_eq!(thread.state, Some(json!(round)));
                assert_eq!(thread.messages.len(), usize::try_from(round).unwrap() + 1);
            }
        })
    });
    for task in writing.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    assert_eq!(store.threads("alice", None, 99).await.unwrap().len(), 40);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thread_is_read_as_of_one_commit() {
    let (_folder, path) = folder();
    let store: Arc<dyn Store> = Arc::new(Sqlite::open(&path).await.unwrap());
    let lease = claimed(&*store, &key(), "run-1").await;
    let reading = Arc::clone(&store);
    let reader = tokio::spawn(async move {
        loop {
            let Some(thread) = reading.thread(&key()).await.unwrap() else {
                continue;
            };
            let read = thread.messages.len();
            assert_eq!(thread.state, Some(json!(read)));
            if read == 300 {
                return;
            }
        }
    });
    for number in 1..=300 {
        let commit = Commit {
            messages: vec![message(&format!("message-{number}"), number, "hello")],
            state: Some(json!(number)),
            ..Commit::default()
        };
        store.commit(&lease, commit).await.unwrap();
    }
    reader.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_twenty_claims_wins_in_parallel_too() {
    let (_folder, path) = folder();
    let store = Arc::new(Sqlite::open(&path).await.unwrap());
    for round in 0..10 {
        let claims = (0..20).map(|n| {
            let store = Arc::clone(&store);
            let asking = claim(&key(), &format!("run-{round}-{n}"));
            tokio::spawn(async move { store.open(asking).await })
        });
        let mut winners = Vec::new();
        for task in claims.collect::<Vec<_>>() {
            if let Opened::Ours(lease, ..) = task.await.unwrap().unwrap() {
                winners.push(lease);
            }
        }
        assert_eq!(winners.len(), 1);
        store.release(&winners[0]).await.unwrap();
    }
}
