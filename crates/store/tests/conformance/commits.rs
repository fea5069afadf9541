//! What a commit changes, all of it or nothing.

use std::time::Duration;

use antiphon_agent::Delivery;
use antiphon_agent::store::{
    Answer, CallPhase, Commit, Cut, Early, Entry, Interaction, InteractionStatus, RunStatus,
    StoredMessage, ThreadKey,
};
use antiphon_protocol::{
    AssistantMessage, FunctionCall, Message, ResumeEntry, ResumeStatus, ToolCall, ToolMessage,
};
use serde_json::{Value, json};

use crate::bed::{Bed, call, decision, ids, interaction, key, message, run};

fn messages(messages: impl IntoIterator<Item = StoredMessage>) -> Commit {
    Commit {
        messages: messages.into_iter().collect(),
        ..Commit::default()
    }
}

fn cut(from_place: i64, branch: &str) -> Option<Cut> {
    Some(Cut {
        from_place,
        branch: branch.to_owned(),
    })
}

pub(crate) async fn the_first_commit_stores_the_thread(bed: Bed) {
    let claimed_at = bed.now();
    let lease = bed.claim(&key(), "run-1").await;
    bed.clock.advance(Duration::from_nanos(7));
    let committed_at = bed.now();
    bed.store.commit(&lease, Commit::default()).await.unwrap();
    let thread = bed.read(&key()).await;
    assert!(thread.stored);
    assert_eq!(thread.created_at, claimed_at);
    assert_eq!(thread.updated_at, committed_at);
    assert_eq!((thread.title, thread.state), (None, None));
}

fn all_sorts_of_messages() -> Vec<StoredMessage> {
    let mut spoken = AssistantMessage::new("message-2");
    spoken.content = Some("Soup it is.".into());
    let function = FunctionCall {
        name: "update_recipe".to_owned(),
        arguments: r#"{"recipe":{"title":"Soup"}}"#.to_owned(),
    };
    spoken.tool_calls.push(ToolCall::new("call-1", function));
    let origin = json!({ "signature": "c2ln", "ids": [1, null, { "b": 1, "a": 2 }] });
    vec![
        message("message-1", 10, "Soup, please"),
        StoredMessage {
            place: 20,
            message: Message::Assistant(spoken),
            origin: Some(origin),
        },
        StoredMessage {
            place: 30,
            message: Message::Tool(ToolMessage::new("message-3", "call-1", "done")),
            origin: None,
        },
    ]
}

pub(crate) async fn a_commit_is_read_back_whole(bed: Bed) {
    let lease = bed.claim(&key(), "run-1").await;
    let mut asked = interaction(&key(), "interaction-1", bed.now());
    asked.expires_at = None;
    let mut made = call("call-1", 1, CallPhase::Executing);
    made.journal.decided = Some(json!({ "approved": true }));
    made.journal.entries = vec![
        Entry::Step {
            name: "look".to_owned(),
            result: json!([1]),
        },
        Entry::Asked {
            message: "Which?".to_owned(),
            answer: Some(json!({ "x": "y" })),
        },
    ];
    let mut record = run(&key(), "run-1", 1, bed.now());
    record.status = RunStatus::Failed;
    record.ending = Some(json!({ "type": "RUN_ERROR", "message": "no" }));
    record.ended_at = Some(bed.now());
    let state = json!({ "recipe": { "z": 1, "a": [true, null, "\u{1F600}"] } });
    let commit = Commit {
        cut: None,
        messages: all_sorts_of_messages(),
        state: Some(state.clone()),
        title: Some("Soup".to_owned()),
        run: Some(record.clone()),
        calls: vec![made.clone()],
        interactions: vec![asked.clone()],
        audit: vec![decision("interaction-0", "approved", bed.now())],
        release: true,
    };
    bed.store.commit(&lease, commit).await.unwrap();
    let thread = bed.read(&key()).await;
    assert_eq!(thread.messages, all_sorts_of_messages());
    assert_eq!(
        thread.state.as_ref().map(Value::to_string),
        Some(state.to_string()),
        "members keep their order"
    );
    assert_eq!(thread.title.as_deref(), Some("Soup"));
    assert_eq!(thread.calls, [made]);
    assert_eq!(thread.interactions, [asked]);
    let (_, opened, earlier) = bed.open(&key(), "run-1").await;
    assert_eq!(opened, thread);
    assert_eq!(earlier, Some(record));
}

pub(crate) async fn what_a_commit_leaves_out_stays(bed: Bed) {
    let first = Commit {
        title: Some("Soup".to_owned()),
        state: Some(json!({ "recipe": 1 })),
        ..messages([message("message-1", 1, "a")])
    };
    bed.put(&key(), first).await;
    bed.clock.advance(Duration::from_secs(1));
    bed.put(&key(), messages([message("message-2", 2, "b")]))
        .await;
    let thread = bed.read(&key()).await;
    assert_eq!(thread.title.as_deref(), Some("Soup"));
    assert_eq!(thread.state, Some(json!({ "recipe": 1 })));
    assert_eq!(ids(&thread), ["message-1", "message-2"]);
    assert_eq!(thread.updated_at, bed.now());
}

pub(crate) async fn rows_are_replaced_by_their_ids(bed: Bed) {
    let first = Commit {
        state: Some(json!(1)),
        title: Some("One".to_owned()),
        run: Some(run(&key(), "run-1", 1, bed.now())),
        calls: vec![call("call-1", 1, CallPhase::Proposed)],
        interactions: vec![interaction(&key(), "interaction-1", bed.now())],
        ..messages([message("message-1", 5, "a"), message("message-2", 6, "b")])
    };
    bed.put(&key(), first).await;
    let mut entry = ResumeEntry::new("interaction-1", ResumeStatus::Resolved);
    entry.payload = Some(json!({ "approved": true }));
    let mut answered = interaction(&key(), "interaction-1", bed.now());
    answered.status = InteractionStatus::Answered;
    answered.answer = Some(Answer {
        hash: "aa".to_owned(),
        entry: Some(entry),
        at: bed.now(),
        by: "alice".to_owned(),
    });
    let mut finished = run(&key(), "run-1", 1, bed.now());
    finished.status = RunStatus::Finished;
    let second = Commit {
        state: Some(json!(2)),
        title: Some("Two".to_owned()),
        run: Some(finished.clone()),
        calls: vec![call("call-1", 1, CallPhase::Executing)],
        interactions: vec![answered.clone()],
        ..messages([message("message-1", 7, "c")])
    };
    bed.put(&key(), second).await;
    let thread = bed.read(&key()).await;
    let expected = [message("message-2", 6, "b"), message("message-1", 7, "c")];
    assert_eq!(thread.messages, expected);
    assert_eq!(thread.state, Some(json!(2)));
    assert_eq!(thread.title.as_deref(), Some("Two"));
    assert_eq!(thread.calls, [call("call-1", 1, CallPhase::Executing)]);
    let found = bed.store.run("alice", "run-1", None).await.unwrap();
    assert_eq!(found, Some(finished));
    let found = bed.store.interaction("interaction-1").await.unwrap();
    assert_eq!(found, Some(answered));
}

pub(crate) async fn what_came_too_soon_is_kept_once_whoever_writes_the_thread(bed: Bed) {
    let wait = interaction(&key(), "interaction-1", bed.now());
    let asked = Commit {
        interactions: vec![wait.clone()],
        ..Commit::default()
    };
    bed.put(&key(), asked).await;
    let early = |result: i32| Early {
        delivery: Delivery::Complete(json!(result)),
        by: "worker".to_owned(),
    };
    let lease = bed.claim(&key(), "run-1").await;
    for result in [1, 2] {
        let kept = bed.store.keep_early("interaction-1", early(result));
        assert_eq!(kept.await.unwrap().unwrap().early, Some(early(1)));
    }
    let unknown = bed.store.keep_early("interaction-2", early(1)).await;
    assert_eq!(unknown.unwrap(), None);
    let again = Commit {
        interactions: vec![wait.clone()],
        ..Commit::default()
    };
    bed.store.commit(&lease, again).await.unwrap();
    let kept = Interaction {
        early: Some(early(1)),
        ..wait.clone()
    };
    assert_eq!(bed.store.kept_early().await.unwrap(), [kept]);
    let settled = Commit {
        interactions: vec![Interaction {
            status: InteractionStatus::Answered,
            ..wait
        }],
        release: true,
        ..Commit::default()
    };
    bed.store.commit(&lease, settled).await.unwrap();
    assert_eq!(bed.store.kept_early().await.unwrap(), []);
    let late = bed.store.keep_early("interaction-1", early(3)).await;
    assert_eq!(late.unwrap().unwrap().early, Some(early(1)));
}

pub(crate) async fn messages_come_in_the_order_of_their_places(bed: Bed) {
    let scattered = [("c", 30), ("a", -10), ("e", i64::MAX), ("b", 20)];
    let scattered = scattered.map(|(id, place)| message(id, place, id));
    bed.put(&key(), messages(scattered)).await;
    bed.put(&key(), messages([message("d", 30, "after c")]))
        .await;
    assert_eq!(ids(&bed.read(&key()).await), ["a", "b", "c", "d", "e"]);
}

pub(crate) async fn a_cut_branch_is_never_loaded_again(bed: Bed) {
    let three = ["a", "b", "c"].into_iter().zip(1..);
    bed.put(&key(), messages(three.map(|(id, at)| message(id, at, id))))
        .await;
    let edit = Commit {
        cut: cut(2, "run-2"),
        ..messages([message("b", 2, "edited"), message("d", 3, "d")])
    };
    bed.put(&key(), edit).await;
    let expected = [
        message("a", 1, "a"),
        message("b", 2, "edited"),
        message("d", 3, "d"),
    ];
    assert_eq!(bed.read(&key()).await.messages, expected);
    let (lease, opened, _) = bed.open(&key(), "run-3").await;
    assert_eq!(opened.messages, expected);
    let rewrite = messages([message("c", 4, "another c")]);
    bed.store.commit(&lease, rewrite).await.unwrap();
    assert_eq!(ids(&bed.read(&key()).await), ["a", "b", "d", "c"]);
}

pub(crate) async fn a_run_can_cut_twice(bed: Bed) {
    bed.put(&key(), messages([message("a", 1, "1")])).await;
    for text in ["2", "3"] {
        let again = Commit {
            cut: cut(1, "run-1"),
            ..messages([message("a", 1, text)])
        };
        bed.put(&key(), again).await;
        assert_eq!(bed.read(&key()).await.messages, [message("a", 1, text)]);
    }
    let all = Commit {
        cut: cut(i64::MIN, "run-2"),
        ..Commit::default()
    };
    bed.put(&key(), all).await;
    assert!(bed.read(&key()).await.messages.is_empty());
}

pub(crate) async fn only_calls_that_are_not_settled_are_loaded(bed: Bed) {
    let calls = Commit {
        calls: vec![
            call("call-3", 3, CallPhase::Executing),
            call("call-2", 2, CallPhase::Settled),
            call("call-1", 1, CallPhase::Proposed),
        ],
        ..Commit::default()
    };
    bed.put(&key(), calls).await;
    let open = [
        call("call-1", 1, CallPhase::Proposed),
        call("call-3", 3, CallPhase::Executing),
    ];
    assert_eq!(bed.read(&key()).await.calls, open);
    let settled = Commit {
        calls: open
            .into_iter()
            .map(|call| antiphon_agent::store::Call {
                phase: CallPhase::Settled,
                ..call
            })
            .collect(),
        ..Commit::default()
    };
    bed.put(&key(), settled).await;
    assert_eq!(bed.read(&key()).await.calls, []);
}

pub(crate) async fn only_open_interactions_are_loaded(bed: Bed) {
    let statuses = [
        InteractionStatus::Answered,
        InteractionStatus::Open,
        InteractionStatus::Cancelled,
        InteractionStatus::Expired,
        InteractionStatus::Open,
    ];
    let all: Vec<_> = statuses
        .into_iter()
        .enumerate()
        .map(|(n, status)| antiphon_agent::store::Interaction {
            status,
            ..interaction(&key(), &format!("interaction-{n}"), bed.now())
        })
        .collect();
    let commit = Commit {
        interactions: all.clone(),
        ..Commit::default()
    };
    bed.put(&key(), commit).await;
    let open = bed.read(&key()).await.interactions;
    assert_eq!(open, [all[1].clone(), all[4].clone()]);
}

pub(crate) async fn a_commit_that_fails_leaves_nothing(bed: Bed) {
    let bobs = ThreadKey::new("bob", "thread-1");
    let asked = Commit {
        interactions: vec![interaction(&bobs, "interaction-1", bed.now())],
        ..Commit::default()
    };
    bed.put(&bobs, asked).await;
    bed.put(&key(), messages([message("a", 1, "a")])).await;
    let (lease, before, _) = bed.open(&key(), "run-1").await;
    bed.clock.advance(Duration::from_secs(1));
    let taken = Commit {
        cut: cut(1, "run-1"),
        messages: vec![message("b", 2, "b")],
        state: Some(json!(1)),
        title: Some("Taken".to_owned()),
        run: Some(run(&key(), "run-1", 1, bed.now())),
        calls: vec![call("call-1", 1, CallPhase::Proposed)],
        interactions: vec![interaction(&key(), "interaction-1", bed.now())],
        audit: vec![decision("interaction-1", "approved", bed.now())],
        release: true,
    };
    let refused = bed.store.commit(&lease, taken).await;
    assert!(refused.is_err(), "the id belongs to another thread");
    assert_eq!(bed.read(&key()).await, before);
    let found = bed.store.interaction("interaction-1").await.unwrap();
    assert_eq!(found.map(|i| i.key), Some(bobs));
    assert_eq!(bed.store.audit(&key()).await.unwrap(), []);
    let none = bed.store.run("alice", "run-1", None).await.unwrap();
    assert_eq!(none, None);
    let next = messages([message("b", 2, "b")]);
    bed.store
        .commit(&lease, next)
        .await
        .expect("the lease was not given back");
}

pub(crate) async fn null_is_a_state(bed: Bed) {
    let commit = Commit {
        state: Some(Value::Null),
        ..Commit::default()
    };
    bed.put(&key(), commit).await;
    assert_eq!(bed.read(&key()).await.state, Some(Value::Null));
}

pub(crate) async fn numbers_come_back_to_the_bit(bed: Bed) {
    let numbers = json!([
        0.1 + 0.2,
        1.0 / 3.0,
        5e-324,
        1.797_693_134_862_315_7e308,
        -0.0,
        123_456_789.123_456_79,
        0.000_001_234_567_890_123_45,
        u64::MAX,
        i64::MIN,
    ]);
    let commit = Commit {
        state: Some(numbers.clone()),
        ..Commit::default()
    };
    bed.put(&key(), commit).await;
    let state = bed.read(&key()).await.state.unwrap();
    assert_eq!(state.to_string(), numbers.to_string());
    let bits = |value: &Value| -> Vec<_> {
        let numbers = value.as_array().unwrap().iter();
        numbers
            .map(|number| number.as_f64().map(f64::to_bits))
            .collect()
    };
    assert_eq!(bits(&state), bits(&numbers));
}

pub(crate) async fn hundreds_of_messages_are_one_commit(bed: Bed) {
    let many = (0..500).map(|n| message(&format!("message-{n}"), n, "text"));
    let many: Vec<_> = many.collect();
    bed.put(&key(), messages(many.clone())).await;
    assert_eq!(bed.read(&key()).await.messages, many);
}
