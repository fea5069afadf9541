//! Lists of threads, and threads that go.

use std::time::Duration;

use antiphon_agent::store::{CallPhase, Commit, Error, ThreadKey};
use serde_json::json;

use crate::bed::{Bed, TTL, call, decision, interaction, key, message, run};

fn titled(title: &str) -> Commit {
    Commit {
        title: Some(title.to_owned()),
        ..Commit::default()
    }
}

async fn page(bed: &Bed, after: Option<&str>, limit: usize) -> Vec<String> {
    let found = bed.store.threads("alice", after, limit).await.unwrap();
    found.into_iter().map(|thread| thread.thread).collect()
}

async fn put_threads(bed: &Bed, threads: &[&str]) {
    for thread in threads {
        bed.put(&ThreadKey::new("alice", *thread), Commit::default())
            .await;
    }
}

pub(crate) async fn threads_are_listed_with_the_one_changed_last_first(bed: Bed) {
    let made_at = bed.now();
    put_threads(&bed, &["b", "c", "a"]).await;
    assert_eq!(page(&bed, None, 9).await, ["a", "b", "c"], "ties go by id");
    bed.clock.advance(Duration::from_nanos(1));
    bed.put(&ThreadKey::new("alice", "b"), titled("Soup")).await;
    assert_eq!(page(&bed, None, 9).await, ["b", "a", "c"]);
    let first = bed.store.threads("alice", None, 1).await.unwrap();
    assert_eq!(first[0].title.as_deref(), Some("Soup"));
    assert_eq!(first[0].created_at, made_at);
    assert_eq!(first[0].updated_at, bed.now());
}

pub(crate) async fn pages_follow_each_other_without_a_gap(bed: Bed) {
    put_threads(&bed, &["e", "d"]).await;
    bed.clock.advance(Duration::from_secs(1));
    put_threads(&bed, &["c", "a", "b"]).await;
    assert_eq!(page(&bed, None, 2).await, ["a", "b"]);
    assert_eq!(page(&bed, Some("b"), 2).await, ["c", "d"]);
    assert_eq!(page(&bed, Some("d"), 2).await, ["e"]);
    assert!(page(&bed, Some("e"), 2).await.is_empty());
    assert!(page(&bed, None, 0).await.is_empty());
    assert_eq!(page(&bed, None, usize::MAX).await.len(), 5);
}

pub(crate) async fn a_page_after_a_thread_that_is_gone_is_empty(bed: Bed) {
    put_threads(&bed, &["a", "b", "c"]).await;
    let gone = ThreadKey::new("alice", "a");
    assert!(bed.store.delete_thread(&gone).await.unwrap());
    // From the start would be a reader that never comes to an end.
    assert!(page(&bed, Some("a"), 9).await.is_empty());
}

pub(crate) async fn users_see_their_own_threads_only(bed: Bed) {
    put_threads(&bed, &["a"]).await;
    bed.put(&ThreadKey::new("bob", "b"), Commit::default())
        .await;
    bed.put(&ThreadKey::new("bob", "a"), titled("His")).await;
    let hers = bed.store.threads("alice", None, 9).await.unwrap();
    assert_eq!(hers.len(), 1);
    assert_eq!(hers[0].title, None);
    assert_eq!(bed.store.threads("carol", None, 9).await.unwrap(), []);
    let not_hers = ThreadKey::new("alice", "b");
    assert_eq!(bed.store.thread(&not_hers).await.unwrap(), None);
    assert!(!bed.store.delete_thread(&not_hers).await.unwrap());
    assert_eq!(bed.store.threads("bob", None, 9).await.unwrap().len(), 2);
}

fn everything(bed: &Bed) -> Commit {
    Commit {
        messages: vec![message("message-1", 1, "a")],
        state: Some(json!({})),
        run: Some(run(&key(), "run-1", 1, bed.now())),
        calls: vec![call("call-1", 1, CallPhase::Proposed)],
        interactions: vec![interaction(&key(), "interaction-1", bed.now())],
        audit: vec![decision("interaction-1", "approved", bed.now())],
        ..titled("Soup")
    }
}

pub(crate) async fn a_deleted_thread_is_gone_with_all_that_belongs_to_it(bed: Bed) {
    bed.put(&key(), everything(&bed)).await;
    put_threads(&bed, &["thread-2"]).await;
    assert!(bed.store.delete_thread(&key()).await.unwrap());
    assert_eq!(bed.store.thread(&key()).await.unwrap(), None);
    assert_eq!(page(&bed, None, 9).await, ["thread-2"]);
    assert_eq!(bed.store.audit(&key()).await.unwrap(), []);
    assert_eq!(bed.store.orphans().await.unwrap(), []);
    let run = bed.store.run("alice", "run-1", None).await.unwrap();
    assert_eq!(run, None);
    let response = bed.store.response("alice", "response-run-1-1").await;
    assert_eq!(response.unwrap(), None);
    let interaction = bed.store.interaction("interaction-1").await.unwrap();
    assert_eq!(interaction, None);
    assert!(!bed.store.delete_thread(&key()).await.unwrap());
}

pub(crate) async fn a_held_thread_is_not_deleted(bed: Bed) {
    let lease = bed.claim(&key(), "run-1").await;
    let refused = bed.store.delete_thread(&key()).await;
    assert!(matches!(refused, Err(Error::LeaseLost { .. })));
    bed.store.commit(&lease, everything(&bed)).await.unwrap();
    let refused = bed.store.delete_thread(&key()).await;
    assert!(matches!(refused, Err(Error::LeaseLost { .. })));
    assert_eq!(bed.read(&key()).await.messages.len(), 1);
    bed.clock.advance(TTL);
    assert!(bed.store.delete_thread(&key()).await.unwrap());
    let late = bed.store.commit(&lease, everything(&bed)).await;
    assert!(matches!(late, Err(Error::LeaseLost { .. })));
    assert_eq!(bed.store.thread(&key()).await.unwrap(), None);
}

pub(crate) async fn a_deleted_thread_begins_anew(bed: Bed) {
    bed.put(&key(), everything(&bed)).await;
    assert!(bed.store.delete_thread(&key()).await.unwrap());
    bed.clock.advance(Duration::from_secs(1));
    let (lease, thread, earlier) = bed.open(&key(), "run-1").await;
    assert!(!thread.stored && thread.messages.is_empty());
    assert_eq!((thread.created_at, earlier), (bed.now(), None));
    bed.store.commit(&lease, everything(&bed)).await.unwrap();
    assert_eq!(bed.read(&key()).await.messages.len(), 1);
}

pub(crate) async fn a_store_answers(bed: Bed) {
    bed.store.ping().await.unwrap();
}
