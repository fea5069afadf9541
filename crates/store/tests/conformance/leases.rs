//! Who may write a thread.

use std::sync::Arc;
use std::time::Duration;

use antiphon_agent::store::{Commit, Opened, ThreadKey};

use crate::bed::{Bed, TTL, claim, ids, is_lost, key, message};

const MOMENT: Duration = Duration::from_nanos(1);

fn one_message() -> Commit {
    Commit {
        messages: vec![message("message-1", 1, "hello")],
        ..Commit::default()
    }
}

pub(crate) async fn a_free_thread_is_claimed_and_comes_empty(bed: Bed) {
    let (lease, thread, earlier) = bed.open(&key(), "run-1").await;
    assert_eq!((&lease.key, lease.run_id.as_str()), (&key(), "run-1"));
    assert_eq!(thread.key, key());
    assert!(!thread.stored);
    assert!(thread.messages.is_empty() && thread.state.is_none());
    assert_eq!(thread.created_at, bed.now());
    assert_eq!(earlier, None);
}

pub(crate) async fn a_held_thread_is_busy_with_its_run(bed: Bed) {
    bed.claim(&key(), "run-1").await;
    for asking in ["run-2", "run-1"] {
        let opened = bed.store.open(claim(&key(), asking)).await.unwrap();
        assert!(matches!(opened, Opened::Busy { run_id } if run_id == "run-1"));
    }
}

pub(crate) async fn one_thread_id_of_two_users_is_two_threads(bed: Bed) {
    let bobs = ThreadKey::new("bob", "thread-1");
    let hers = bed.claim(&key(), "run-1").await;
    let his = bed.claim(&bobs, "run-1").await;
    bed.store.commit(&hers, one_message()).await.unwrap();
    bed.store.commit(&his, Commit::default()).await.unwrap();
    assert_eq!(ids(&bed.read(&key()).await), ["message-1"]);
    assert!(bed.read(&bobs).await.messages.is_empty());
}

pub(crate) async fn a_released_thread_is_free_again(bed: Bed) {
    let first = bed.claim(&key(), "run-1").await;
    bed.store.release(&first).await.unwrap();
    let second = bed.claim(&key(), "run-2").await;
    let commit = Commit {
        release: true,
        ..one_message()
    };
    bed.store.commit(&second, commit).await.unwrap();
    let (_, thread, _) = bed.open(&key(), "run-3").await;
    assert_eq!(ids(&thread), ["message-1"]);
}

pub(crate) async fn a_lapsed_lease_is_taken_over(bed: Bed) {
    bed.claim(&key(), "run-1").await;
    bed.clock.advance(TTL - MOMENT);
    let opened = bed.store.open(claim(&key(), "run-2")).await.unwrap();
    assert!(matches!(opened, Opened::Busy { .. }));
    bed.clock.advance(MOMENT);
    let (lease, thread, _) = bed.open(&key(), "run-2").await;
    assert_eq!(lease.run_id, "run-2");
    assert_eq!(thread.created_at, bed.now(), "nothing of it was stored");
}

pub(crate) async fn a_renewed_lease_lasts_from_the_renewal_on(bed: Bed) {
    let lease = bed.claim(&key(), "run-1").await;
    bed.clock.advance(TTL - MOMENT);
    bed.store.renew(&lease, TTL).await.unwrap();
    bed.clock.advance(TTL - MOMENT);
    bed.store.commit(&lease, one_message()).await.unwrap();
    bed.clock.advance(MOMENT);
    let late = bed.store.commit(&lease, one_message()).await;
    assert!(is_lost(&late));
}

pub(crate) async fn a_lapsed_or_lost_lease_is_not_renewed(bed: Bed) {
    let first = bed.claim(&key(), "run-1").await;
    bed.clock.advance(TTL);
    assert!(is_lost(&bed.store.renew(&first, TTL).await));
    let second = bed.claim(&key(), "run-2").await;
    assert!(is_lost(&bed.store.renew(&first, TTL).await));
    bed.store.release(&second).await.unwrap();
    assert!(is_lost(&bed.store.renew(&second, TTL).await));
}

pub(crate) async fn tokens_grow_with_every_claim(bed: Bed) {
    let other = ThreadKey::new("bob", "thread-2");
    let mut tokens = Vec::new();
    for round in 0..3 {
        let lease = bed.claim(&key(), "run-1").await;
        tokens.push(lease.token);
        bed.store.commit(&lease, one_message()).await.unwrap();
        bed.store.release(&lease).await.unwrap();
        if round == 1 {
            assert!(bed.store.delete_thread(&key()).await.unwrap());
        }
        let lease = bed.claim(&other, "run-1").await;
        tokens.push(lease.token);
        bed.store.release(&lease).await.unwrap();
    }
    assert!(tokens.is_sorted_by(|a, b| a < b), "{tokens:?}");
}

pub(crate) async fn a_writer_that_was_replaced_changes_nothing(bed: Bed) {
    let stale = bed.claim(&key(), "run-1").await;
    bed.store.commit(&stale, one_message()).await.unwrap();
    bed.clock.advance(TTL);
    let lease = bed.claim(&key(), "run-2").await;
    let before = bed.read(&key()).await;
    let late = Commit {
        messages: vec![message("message-2", 2, "too late")],
        title: Some("Late".to_owned()),
        state: Some(true.into()),
        release: true,
        ..Commit::default()
    };
    assert!(is_lost(&bed.store.commit(&stale, late).await));
    assert_eq!(bed.read(&key()).await, before);
    bed.store
        .commit(&lease, Commit::default())
        .await
        .expect("the new holder still holds the thread");
}

pub(crate) async fn a_writer_whose_lease_lapsed_changes_nothing(bed: Bed) {
    let lease = bed.claim(&key(), "run-1").await;
    bed.clock.advance(TTL);
    assert!(is_lost(&bed.store.commit(&lease, one_message()).await));
    assert_eq!(bed.store.thread(&key()).await.unwrap(), None);
}

pub(crate) async fn a_writer_that_released_changes_nothing(bed: Bed) {
    let lease = bed.claim(&key(), "run-1").await;
    let release = Commit {
        release: true,
        ..Commit::default()
    };
    bed.store.commit(&lease, release).await.unwrap();
    assert!(is_lost(&bed.store.commit(&lease, one_message()).await));
    assert!(bed.read(&key()).await.messages.is_empty());
}

pub(crate) async fn releasing_a_lost_lease_leaves_the_new_holder_alone(bed: Bed) {
    let stale = bed.claim(&key(), "run-1").await;
    bed.clock.advance(TTL);
    let lease = bed.claim(&key(), "run-2").await;
    bed.store.release(&stale).await.unwrap();
    let opened = bed.store.open(claim(&key(), "run-3")).await.unwrap();
    assert!(matches!(opened, Opened::Busy { run_id } if run_id == "run-2"));
    bed.store.commit(&lease, one_message()).await.unwrap();
    bed.store.release(&stale).await.unwrap();
    bed.store.renew(&lease, TTL).await.unwrap();
}

pub(crate) async fn a_thread_that_was_only_claimed_is_not_there(bed: Bed) {
    let lease = bed.claim(&key(), "run-1").await;
    for _ in 0..2 {
        assert_eq!(bed.store.thread(&key()).await.unwrap(), None);
        assert_eq!(bed.store.threads("alice", None, 9).await.unwrap(), []);
        assert_eq!(bed.store.audit(&key()).await.unwrap(), []);
        bed.store.release(&lease).await.unwrap();
    }
    assert!(!bed.store.delete_thread(&key()).await.unwrap());
}

pub(crate) async fn one_of_twenty_claims_wins(bed: Bed) {
    let claims = (0..20).map(|n| {
        let store = Arc::clone(&bed.store);
        tokio::spawn(async move { store.open(claim(&key(), &format!("run-{n}"))).await })
    });
    let claims: Vec<_> = claims.collect();
    let (mut winners, mut holders) = (Vec::new(), Vec::new());
    for claim in claims {
        match claim.await.unwrap().unwrap() {
            Opened::Ours(lease, ..) => winners.push(lease.run_id),
            Opened::Busy { run_id } => holders.push(run_id),
        }
    }
    assert_eq!((winners.len(), holders.len()), (1, 19));
    assert!(holders.iter().all(|holder| *holder == winners[0]));
}
