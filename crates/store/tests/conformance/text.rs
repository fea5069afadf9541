//! Ids and texts are any Unicode there is.

use antiphon_agent::store::{CallPhase, Commit, Cut, Entry, RunRecord, ThreadKey};
use serde_json::json;

use crate::bed::{Bed, call, decision, interaction, message, run};

const TEXTS: [&str; 8] = [
    "",
    "\0",
    "a\0b\0",
    "\u{1F469}\u{200D}\u{1F52C} \u{10FFFF}",
    "\u{202E}\u{5E9}\u{5DC}\u{5D5}\u{5DD}",
    "'; DROP TABLE threads; -- %_ \"\\",
    "e\u{301} is not \u{E9}",
    "\r\n\t\u{1}\u{7F}\u{2028}\u{FEFF}",
];

pub(crate) async fn any_text_comes_back_as_it_was(bed: Bed) {
    for text in TEXTS {
        let key = ThreadKey::new(text, text);
        let mut made = call(text, 1, CallPhase::Proposed);
        made.run_id = text.to_owned();
        made.message_id = text.to_owned();
        made.tool = text.to_owned();
        made.arguments = text.to_owned();
        made.journal.entries = vec![Entry::Step {
            name: text.to_owned(),
            result: json!(text),
        }];
        let mut asked = interaction(&key, text, bed.now());
        asked.request = json!({ text: [text] });
        asked.call_id = text.to_owned();
        let record = RunRecord {
            agent: text.to_owned(),
            response_id: text.to_owned(),
            ending: Some(json!(text)),
            ..run(&key, text, 1, bed.now())
        };
        let mut decided = decision(text, text, bed.now());
        decided.by = text.to_owned();
        decided.outcome = Some(text.to_owned());
        let mut said = message(text, 1, text);
        said.origin = Some(json!({ text: text }));
        let commit = Commit {
            messages: vec![said.clone()],
            state: Some(json!({ text: text })),
            title: Some(text.to_owned()),
            run: Some(record.clone()),
            calls: vec![made.clone()],
            interactions: vec![asked.clone()],
            audit: vec![decided.clone()],
            ..Commit::default()
        };
        bed.put(&key, commit).await;

        let thread = bed.read(&key).await;
        assert_eq!(thread.key, key);
        assert_eq!(thread.messages, [said]);
        assert_eq!(thread.state, Some(json!({ text: text })));
        assert_eq!(thread.title.as_deref(), Some(text));
        assert_eq!(thread.calls, [made]);
        assert_eq!(thread.interactions, [asked.clone()]);
        let listed = bed.store.threads(text, None, 9).await.unwrap();
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].thread, text);
        let found = bed.store.run(text, text, Some(text)).await.unwrap();
        assert_eq!(found, Some(record.clone()));
        let found = bed.store.response(text, text).await.unwrap();
        assert_eq!(found, Some(record));
        let found = bed.store.interaction(text).await.unwrap();
        assert_eq!(found, Some(asked));
        assert_eq!(bed.store.audit(&key).await.unwrap(), [decided]);
        let cut = Commit {
            cut: Some(Cut {
                from_place: 0,
                branch: text.to_owned(),
            }),
            ..Commit::default()
        };
        bed.put(&key, cut).await;
        assert_eq!(bed.read(&key).await.messages, []);
    }
}

pub(crate) async fn texts_that_differ_after_a_nul_differ(bed: Bed) {
    for thread in ["a", "a\0", "a\0b", "A"] {
        let commit = Commit {
            title: Some(thread.to_owned()),
            messages: vec![message("m", 1, thread), message("m\0", 2, thread)],
            ..Commit::default()
        };
        bed.put(&ThreadKey::new("alice", thread), commit).await;
    }
    let all = bed.store.threads("alice", None, 9).await.unwrap();
    let names: Vec<_> = all.iter().map(|thread| thread.thread.as_str()).collect();
    assert_eq!(names, ["A", "a", "a\0", "a\0b"]);
    let thread = bed.read(&ThreadKey::new("alice", "a\0b")).await;
    assert_eq!(thread.title.as_deref(), Some("a\0b"));
    assert_eq!(thread.messages.len(), 2);
}
