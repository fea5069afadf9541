//! Runs, responses, interactions and decisions, looked up apart from their thread.

use std::time::Duration;

use antiphon_agent::store::{Commit, RunRecord, RunStatus, ThreadKey};

use crate::bed::{Bed, TTL, decision, interaction, key, run};

async fn put_run(bed: &Bed, record: &RunRecord) {
    let commit = Commit {
        run: Some(record.clone()),
        ..Commit::default()
    };
    bed.put(&record.key, commit).await;
}

pub(crate) async fn a_claim_brings_the_newest_attempt_of_its_run(bed: Bed) {
    for attempt in [1, 3, 2] {
        put_run(&bed, &run(&key(), "run-1", attempt, bed.now())).await;
    }
    put_run(&bed, &run(&key(), "run-2", 9, bed.now())).await;
    let (lease, _, earlier) = bed.open(&key(), "run-1").await;
    assert_eq!(earlier, Some(run(&key(), "run-1", 3, bed.now())));
    bed.store.release(&lease).await.unwrap();
    let (_, _, earlier) = bed.open(&key(), "run-3").await;
    assert_eq!(earlier, None);
}

pub(crate) async fn a_run_is_found_in_its_thread_or_in_any(bed: Bed) {
    let other = ThreadKey::new("alice", "thread-2");
    let bobs = ThreadKey::new("bob", "thread-1");
    let old = run(&key(), "run-1", 2, bed.now());
    put_run(&bed, &old).await;
    bed.clock.advance(Duration::from_nanos(1));
    let new = run(&other, "run-1", 1, bed.now());
    put_run(&bed, &new).await;
    bed.clock.advance(Duration::from_nanos(1));
    let his = run(&bobs, "run-1", 1, bed.now());
    put_run(&bed, &his).await;

    let find = async |user: &'static str, thread| {
        let found = bed.store.run(user, "run-1", thread).await;
        found.unwrap()
    };
    assert_eq!(find("alice", None).await, Some(new.clone()));
    assert_eq!(find("alice", Some("thread-1")).await, Some(old));
    assert_eq!(find("alice", Some("thread-2")).await, Some(new));
    assert_eq!(find("alice", Some("thread-3")).await, None);
    assert_eq!(find("bob", None).await, Some(his));
    assert_eq!(find("bob", Some("thread-2")).await, None);
    assert_eq!(find("carol", None).await, None);
    let unknown = bed.store.run("alice", "run-2", None).await.unwrap();
    assert_eq!(unknown, None);
}

pub(crate) async fn a_response_is_found_by_its_user_alone(bed: Bed) {
    let bobs = ThreadKey::new("bob", "thread-1");
    let hers = run(&key(), "run-1", 1, bed.now());
    let his = run(&bobs, "run-1", 1, bed.now());
    assert_eq!(hers.response_id, his.response_id);
    put_run(&bed, &hers).await;
    let find = async |user: &'static str| {
        let found = bed.store.response(user, &hers.response_id).await;
        found.unwrap()
    };
    assert_eq!(find("bob").await, None);
    put_run(&bed, &his).await;
    assert_eq!(find("alice").await, Some(hers.clone()));
    assert_eq!(find("bob").await, Some(his));
    let unknown = bed.store.response("alice", "response-0").await.unwrap();
    assert_eq!(unknown, None);
}

pub(crate) async fn a_response_names_the_newest_run_that_continues_it(bed: Bed) {
    let first = run(&key(), "run-1", 1, bed.now());
    put_run(&bed, &first).await;
    bed.clock.advance(Duration::from_nanos(1));
    let second = RunRecord {
        response_id: first.response_id.clone(),
        ..run(&key(), "run-0", 1, bed.now())
    };
    put_run(&bed, &second).await;
    let found = bed
        .store
        .response("alice", &first.response_id)
        .await
        .unwrap();
    assert_eq!(found, Some(second));
}

pub(crate) async fn an_interaction_is_found_by_its_id_alone(bed: Bed) {
    let bobs = ThreadKey::new("bob", "thread-7");
    for (key, id) in [(key(), "interaction-1"), (bobs, "interaction-2")] {
        let asked = interaction(&key, id, bed.now());
        let commit = Commit {
            interactions: vec![asked.clone()],
            ..Commit::default()
        };
        bed.put(&key, commit).await;
        let found = bed.store.interaction(id).await.unwrap();
        assert_eq!(found, Some(asked));
    }
    let unknown = bed.store.interaction("interaction-3").await.unwrap();
    assert_eq!(unknown, None);
}

pub(crate) async fn decisions_come_in_the_order_they_were_taken(bed: Bed) {
    // The order is that of the commits, whatever the clock said.
    let mut decisions = Vec::new();
    for (n, back) in [0, 5, 3].into_iter().enumerate() {
        let at = bed.now() - Duration::from_secs(back);
        let two = ["asked", "approved"].map(|word| decision(&format!("i-{n}"), word, at));
        decisions.extend(two.clone());
        let commit = Commit {
            audit: two.to_vec(),
            ..Commit::default()
        };
        bed.put(&key(), commit).await;
    }
    assert_eq!(bed.store.audit(&key()).await.unwrap(), decisions);
    let bobs = ThreadKey::new("bob", "thread-1");
    assert_eq!(bed.store.audit(&bobs).await.unwrap(), []);
}

pub(crate) async fn runs_at_work_without_a_holder_are_orphans(bed: Bed) {
    let statuses = [
        ("run-1", RunStatus::Running),
        ("run-2", RunStatus::Finished),
        ("run-3", RunStatus::Waiting),
        ("run-4", RunStatus::Failed),
        ("run-5", RunStatus::Cancelled),
    ];
    for (run_id, status) in statuses {
        let record = RunRecord {
            status,
            ..run(&key(), run_id, 1, bed.now())
        };
        put_run(&bed, &record).await;
    }
    let orphan = run(&key(), "run-1", 1, bed.now());
    assert_eq!(
        bed.store.orphans().await.unwrap(),
        std::slice::from_ref(&orphan)
    );
    let lease = bed.claim(&key(), "run-1").await;
    assert_eq!(bed.store.orphans().await.unwrap(), []);
    bed.clock.advance(TTL);
    assert_eq!(bed.store.orphans().await.unwrap(), [orphan]);
    drop(lease);
    let bobs = ThreadKey::new("bob", "thread-1");
    bed.claim(&bobs, "run-1").await;
    assert_eq!(bed.store.orphans().await.unwrap().len(), 1);
}
