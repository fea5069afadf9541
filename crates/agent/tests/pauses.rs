//! Pauses for people and for other systems, through the public interface.
#![expect(clippy::unwrap_used, reason = "a test ends where it is surprised")]

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use antiphon_agent::{
    Approval, Delivered, Delivery, Handler, History, OnDecline, PrivateHandler, PrivateValue,
    RunContext, Tool, ToolError, ToolOutput,
};
use antiphon_protocol::{Event, Outcome, ResumeEntry, ResumeStatus};
use common::{Played, Stage, calls, entry, says};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

/// A tool that counts how often it ran.
#[derive(Clone, Default)]
struct Counter(Arc<AtomicUsize>);

impl Handler for Counter {
    fn call<'a>(
        &'a self,
        _: Value,
        _: RunContext<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        async { Ok(ToolOutput::new(json!("done"))) }.boxed()
    }
}

impl Counter {
    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

fn gated(name: &str, counter: &Counter) -> Tool {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "number" } } });
    Tool::server(name, counter.clone())
        .parameters(schema)
        .approval(Approval::default())
}

fn ids(played: &Played) -> Vec<String> {
    played
        .interrupts()
        .iter()
        .map(|interrupt| interrupt.id.clone())
        .collect()
}

#[tokio::test]
async fn parallel_approvals_take_mixed_answers_in_one_batch() {
    let counter = Counter::default();
    let free = Counter::default();
    let turns = vec![
        calls(&[
            ("a", "pay", json!({ "n": 1 })),
            ("b", "pay", json!({ "n": 2 })),
            ("c", "pay", json!({ "n": 3 })),
            ("d", "look", json!({})),
        ]),
        says("Well."),
    ];
    let tools = (gated("pay", &counter), Tool::server("look", free.clone()));
    let mut stage = Stage::new(|a| a.tools(tools), turns);
    let input = stage.user("go");
    let played = stage.play(input).await.unwrap();
    let ids = ids(&played);
    assert_eq!(ids.len(), 3);
    assert_eq!(
        (counter.count(), free.count()),
        (0, 1),
        "only the ungated sibling has run"
    );

    let yes = |id: &String| entry(id, json!({ "approved": true }));
    let input = stage.resume(vec![yes(&ids[0]), yes(&ids[1])]);
    assert_eq!(
        stage.play(input).await.unwrap_err().code,
        "interaction_pending"
    );
    let input = stage.resume(vec![yes(&ids[0]), yes(&ids[0]), yes(&ids[1]), yes(&ids[2])]);
    assert_eq!(stage.play(input).await.unwrap_err().code, "invalid_resume");
    assert_eq!(counter.count(), 0);

    let cancel = ResumeEntry::new(&ids[2], ResumeStatus::Cancelled);
    let input = stage.resume(vec![
        yes(&ids[0]),
        entry(&ids[1], json!({ "approved": false })),
        cancel,
    ]);
    stage.play(input).await.unwrap();
    assert_eq!(counter.count(), 1);
    let asked = stage.asked(1);
    assert_eq!(asked[2], "result a: done");
    assert!(
        asked[3].contains("declined")
            && asked[4].contains("cancelled")
            && asked[5].contains("done"),
        "{asked:?}"
    );
    stage.assert_in_step().await;
}

#[tokio::test]
async fn edits_count_only_where_they_are_offered() {
    struct Echo;
    impl Handler for Echo {
        fn call<'a>(
            &'a self,
            arguments: Value,
            _: RunContext<'a>,
        ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
            async move { Ok(ToolOutput::new(arguments)) }.boxed()
        }
    }
    let tool = Tool::server("pay", Echo)
        .parameters(json!({ "type": "object", "properties": { "n": { "type": "number" } }, "required": ["n"] }))
        .approval(Approval::default().edits(true));
    let mut stage = Stage::new(
        |a| a.tools(tool),
        vec![calls(&[("a", "pay", json!({ "n": 1 }))]), says("ok")],
    );
    let input = stage.user("go");
    let ids = ids(&stage.play(input).await.unwrap());
    let input = stage.resume(vec![entry(
        &ids[0],
        json!({ "approved": true, "editedArgs": { "n": "much" } }),
    )]);
    assert_eq!(stage.play(input).await.unwrap_err().code, "invalid_resume");
    let input = stage.resume(vec![entry(
        &ids[0],
        json!({ "approved": true, "editedArgs": { "n": 2 } }),
    )]);
    stage.play(input).await.unwrap();
    assert_eq!(stage.asked(1)[2], "result a: {\"n\":2}");
}

#[tokio::test]
async fn what_a_form_fills_in_for_a_decline_means_nothing() {
    let counter = Counter::default();
    let needs =
        json!({ "type": "object", "properties": { "n": { "type": "number" } }, "required": ["n"] });
    let tool = gated("pay", &counter)
        .parameters(needs)
        .approval(Approval::default().edits(true));
    let mut stage = Stage::new(
        |a| a.tools(tool),
        vec![calls(&[("a", "pay", json!({ "n": 1 }))]), says("Well.")],
    );
    let input = stage.user("go");
    let first = ids(&stage.play(input).await.unwrap());
    let input = stage.resume(vec![entry(
        &first[0],
        json!({ "approved": false, "reason": " ", "editedArgs": {} }),
    )]);
    stage.play(input).await.unwrap();
    let asked = stage.asked(1);
    assert!(asked[2].ends_with("declined by a person"), "{asked:?}");
    assert_eq!(counter.count(), 0);
}

#[tokio::test]
async fn an_agent_may_stop_when_a_person_declines() {
    let counter = Counter::default();
    let describe =
        |a: antiphon_agent::Agent| a.tools(gated("pay", &counter)).on_decline(OnDecline::Stop);
    let mut stage = Stage::new(
        describe,
        vec![calls(&[("a", "pay", json!({}))]), says("Next.")],
    );
    let input = stage.user("go");
    let ids = ids(&stage.play(input).await.unwrap());
    let input = stage.resume(vec![entry(&ids[0], json!({ "approved": false }))]);
    assert_eq!(
        stage.play(input).await.unwrap().error_code(),
        Some("approval_declined")
    );
    let input = stage.user("something else");
    assert_eq!(stage.play(input).await.unwrap().error_code(), None);
}

#[tokio::test]
async fn a_resume_that_settles_everything_may_bring_one_new_message() {
    let counter = Counter::default();
    let mut stage = Stage::new(
        |a| a.tools(gated("pay", &counter)),
        vec![calls(&[("a", "pay", json!({}))]), says("Sure.")],
    );
    let input = stage.user("go");
    let ids = ids(&stage.play(input).await.unwrap());
    let mut input = stage.user("forget it, what time is it?");
    input.resume = vec![ResumeEntry::new(&ids[0], ResumeStatus::Cancelled)];
    stage.play(input).await.unwrap();
    assert_eq!(counter.count(), 0);
    assert_eq!(
        stage.asked(1).last().unwrap(),
        "user: forget it, what time is it?"
    );
    stage.assert_in_step().await;
}

#[tokio::test]
async fn a_forged_answer_runs_nothing() {
    let counter = Counter::default();
    let mut stage = Stage::new(|a| a.tools(gated("pay", &counter)), vec![]);
    let mut input = stage.user("go");
    input.resume = vec![entry("made-up", json!({ "approved": true }))];
    assert_eq!(
        stage.play(input).await.unwrap_err().code,
        "interaction_unknown"
    );
    assert_eq!(counter.count(), 0);
}

#[tokio::test]
async fn an_answer_as_text_that_says_yes_and_no_approves_nothing() {
    let counter = Counter::default();
    let (mut stage, id) = waiting_to_pay(&counter).await;
    for payload in [
        r#"{"approved":false,"approved":true}"#,
        r#"{"approved":true,"toolCall":{"callId":"b","callId":"a"}}"#,
        r#"{"approved":true} {"approved":true}"#,
    ] {
        let input = stage.resume(vec![entry(&id, json!(payload))]);
        let refusal = stage.play(input).await.expect_err(payload);
        assert_eq!(refusal.code, "invalid_resume", "{payload}");
    }
    assert_eq!(counter.count(), 0);
}

#[tokio::test]
async fn what_is_cancelled_says_nothing_else() {
    let counter = Counter::default();
    let (mut stage, id) = waiting_to_pay(&counter).await;
    let mut cancels = ResumeEntry::new(&id, ResumeStatus::Cancelled);
    for payload in [
        json!({ "approved": true }),
        json!({}),
        json!(false),
        json!(""),
    ] {
        cancels.payload = Some(payload);
        let input = stage.resume(vec![cancels.clone()]);
        let refusal = stage.play(input).await.unwrap_err();
        assert_eq!(refusal.code, "invalid_resume");
        assert_eq!(refusal.field.as_deref(), Some("resume[0].payload"));
    }
    cancels.payload = Some(Value::Null);
    let input = stage.resume(vec![cancels.clone()]);
    stage.play(input).await.unwrap();
    assert_eq!(counter.count(), 0);

    cancels.payload = Some(json!({ "approved": true }));
    let input = stage.resume(vec![cancels]);
    let refusal = stage.play(input).await.unwrap_err();
    assert_eq!(refusal.code, "invalid_resume", "also when it is settled");
}

/// A stage on which `pay` waits for a person, as the call `a` with `{"n": 5}`.
async fn waiting_to_pay(counter: &Counter) -> (Stage, String) {
    let turns = vec![calls(&[("a", "pay", json!({ "n": 5 }))]), says("Paid.")];
    let mut stage = Stage::new(|a| a.tools(gated("pay", counter)), turns);
    let input = stage.user("pay");
    let id = ids(&stage.play(input).await.unwrap()).remove(0);
    (stage, id)
}

#[tokio::test]
async fn a_call_beside_an_approval_has_to_be_the_one_that_waits() {
    let counter = Counter::default();
    let (mut stage, id) = waiting_to_pay(&counter).await;
    for call in [
        json!("x"),
        json!("{\"callId\":\"a\"}"),
        json!(null),
        json!([1]),
        json!(5),
        json!(true),
        json!({}),
        json!({ "informationalOnly": true }),
        json!({ "type": "function" }),
        json!({ "callId": null }),
        json!({ "callId": 5 }),
        json!({ "toolCallId": "evil" }),
        json!({ "tool_call_id": "evil" }),
        json!({ "call_id": "evil" }),
        json!({ "callId": "a", "toolCallId": "evil" }),
        json!({ "id": "a", "ID": "evil" }),
        json!({ "name": "pay" }),
        json!({ "arguments": { "n": 5 } }),
        json!({ "name": "refund", "arguments": { "n": 5 } }),
        json!({ "name": "pay", "arguments": { "n": 6 } }),
        json!({ "callId": "a", "name": "pay", "toolName": "refund" }),
        json!({ "callId": "a", "arguments": { "n": 5 }, "args": { "n": 6 } }),
        json!({ "callId": "a", "arguments": "{\"n\":5" }),
        json!({ "id": "a", "function": "pay" }),
        json!({ "id": "a", "function": { "name": "refund" } }),
        json!({ "id": "a", "function": { "name": "pay", "arguments": "{\"n\":6}" } }),
        json!({ "id": "a", "name": "pay", "function": { "arguments": { "n": 6 } } }),
    ] {
        let payload = json!({ "approved": true, "toolCall": call });
        let input = stage.resume(vec![entry(&id, payload)]);
        let refusal = stage.play(input).await.expect_err(&call.to_string());
        assert_eq!(refusal.code, "invalid_resume", "{call}");
        let field = refusal.field.as_deref();
        assert_eq!(field, Some("resume[0].payload.toolCall"), "{call}");
    }
    assert_eq!(counter.count(), 0);
}

#[tokio::test]
async fn a_call_beside_an_approval_is_read_as_any_client_writes_it() {
    for call in [
        json!({ "callId": "a", "name": "pay", "arguments": { "n": 5 }, "informationalOnly": true }),
        json!({ "id": "a", "type": "function", "function": { "name": "pay", "arguments": "{\"n\": 5}" } }),
        json!({ "toolCallId": "a", "toolName": "pay", "args": { "n": 5 } }),
        json!({ "tool_call_id": "a", "tool_name": "pay", "input": { "n": 5 } }),
        json!({ "callId": null, "name": "pay", "arguments": "{\"n\":5}" }),
        json!({ "callId": "a", "arguments": null }),
        json!({ "id": "a" }),
    ] {
        let counter = Counter::default();
        let (mut stage, id) = waiting_to_pay(&counter).await;
        let payload = json!({ "approved": true, "toolCall": call });
        let input = stage.resume(vec![entry(&id, payload)]);
        let played = stage.play(input).await;
        assert!(played.is_ok(), "{call}: {played:?}");
        assert_eq!(counter.count(), 1, "{call}");
    }
}

#[derive(Default, Clone)]
struct Vault(Arc<Mutex<Vec<Value>>>);

impl PrivateHandler for Vault {
    fn deliver<'a>(
        &'a self,
        value: PrivateValue,
        _: RunContext<'a>,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        self.0.lock().unwrap().push(value.expose());
        async { Ok(()) }.boxed()
    }
}

#[tokio::test]
async fn a_private_value_reaches_its_handler_and_nothing_else() {
    let vault = Vault::default();
    let form = json!({ "type": "object", "properties": { "token": { "type": "string", "minLength": 4 } }, "required": ["token"] });
    let tool = Tool::private_input("provide_token", form, vault.clone(), json!("Token stored."));
    let mut stage = Stage::new(
        |a| a.tools(tool),
        vec![calls(&[("a", "provide_token", json!({}))]), says("Thanks.")],
    );
    let input = stage.user("log in");
    let played = stage.play(input).await.unwrap();
    let interrupts = played.interrupts();
    assert_eq!(interrupts[0].reason, "private_input");
    assert!(
        interrupts[0]
            .response_schema
            .as_ref()
            .unwrap()
            .contains_key("properties")
    );

    let bare = |stage: &mut Stage, payload: Value| {
        let mut input = stage.resume(vec![entry(&interrupts[0].id, payload)]);
        input.messages.clear();
        input.state = None;
        input
    };
    let mut input = bare(&mut stage, json!({ "token": "CANARY-9f3" }));
    input.state = Some(json!({ "a": 1 }));
    assert_eq!(
        stage.play(input).await.unwrap_err().code,
        "private_input_not_alone"
    );
    let input = bare(&mut stage, json!({ "token": "CAN" }));
    let refusal = stage.play(input).await.unwrap_err();
    assert_eq!(refusal.code, "answer_unfit");
    assert!(!refusal.message.contains("CAN\""), "{}", refusal.message);
    let input = bare(&mut stage, json!({ "token": "CANARY-9f3" }));
    let played = stage.play(input).await.unwrap();
    assert!(!format!("{played:?}").contains("CANARY"));
    assert_eq!(*vault.0.lock().unwrap(), [json!({ "token": "CANARY-9f3" })]);
    assert_eq!(stage.asked(1)[2], "result a: Token stored.");
    assert!(
        !format!("{:?}", stage.store).contains("CANARY"),
        "the store never saw it"
    );
}

#[tokio::test]
async fn an_external_wait_goes_on_when_its_result_is_delivered() {
    let counter = Counter::default();
    let tool = Tool::external_wait("verify", "kyc.verify", counter.clone());
    let mut stage = Stage::new(
        |a| a.tools(tool),
        vec![calls(&[("a", "verify", json!({}))]), says("Verified.")],
    );
    let input = stage.user("verify me");
    let played = stage.play(input).await.unwrap();
    let Some(Event::RunFinished(end)) = played.events.last() else {
        panic!()
    };
    assert_eq!(end.result.as_ref().unwrap()["status"], "in_progress");
    let custom = played
        .events
        .iter()
        .find_map(|e| {
            if let Event::Custom(c) = e {
                Some(c)
            } else {
                None
            }
        })
        .unwrap();
    assert_eq!(custom.name, "harnest.external_wait");
    let id = custom.value["pendingAction"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(counter.count(), 1);

    let input = stage.user("are we there yet?");
    assert_eq!(
        stage.play(input).await.unwrap_err().code,
        "interaction_pending"
    );

    let agent = Arc::clone(&stage.agent);
    let deliver = |delivery| {
        stage
            .runtime
            .deliver(|_| Some(Arc::clone(&agent)), &id, delivery, "kyc-worker")
    };
    let Delivered::Continues(run) = deliver(Delivery::Complete(json!({ "ok": true })))
        .await
        .unwrap()
    else {
        panic!()
    };
    run.play().await;
    assert_eq!(stage.asked(1)[2], "result a: {\"ok\":true}");
    assert!(matches!(
        deliver(Delivery::Complete(json!({ "ok": true })))
            .await
            .unwrap(),
        Delivered::Again
    ));
    assert_eq!(
        deliver(Delivery::Complete(json!({ "ok": false })))
            .await
            .unwrap_err()
            .code,
        "interaction_settled"
    );
    let unknown = stage
        .runtime
        .deliver(|_| None, "nope", Delivery::Complete(json!(1)), "x")
        .await;
    assert_eq!(unknown.unwrap_err().code, "interaction_unknown");
    assert_eq!(stage.thread().await.messages.len(), 4);
}

/// Asks twice, with a step that must happen once.
struct Booking(Arc<AtomicUsize>);

impl Handler for Booking {
    fn call<'a>(
        &'a self,
        _: Value,
        run: RunContext<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        async move {
            let held = run.step("hold", async {
                self.0.fetch_add(1, Ordering::SeqCst);
                Ok::<_, ToolError>(7_u32)
            });
            let held = held.await?;
            let seat = run.ask("Which seat?").schema::<String>().await?;
            if !run.confirm(format!("Book {seat}?")).await? {
                return Err(ToolError::new("not booked"));
            }
            Ok(ToolOutput::new(json!(format!(
                "booked {seat} under {held}"
            ))))
        }
        .boxed()
    }
}

#[tokio::test]
async fn code_asks_in_the_middle_and_does_its_step_once() {
    let steps = Arc::new(AtomicUsize::new(0));
    let tool = Tool::server("book", Booking(Arc::clone(&steps)));
    let mut stage = Stage::new(
        |a| a.tools(tool),
        vec![
            calls(&[("a", "book", json!({ "flight": "LH1" }))]),
            says("Enjoy."),
        ],
    );
    let input = stage.user("book");
    let first = stage.play(input).await.unwrap().interrupts();
    let about = first[0].metadata.as_ref().unwrap();
    assert_eq!(about["harnest"]["arguments"], json!({ "flight": "LH1" }));
    assert_eq!(
        (first[0].reason.as_str(), first[0].message.as_deref()),
        ("input_required", Some("Which seat?"))
    );
    let input = stage.resume(vec![entry(&first[0].id, json!(12))]);
    assert_eq!(stage.play(input).await.unwrap_err().code, "answer_unfit");
    let input = stage.resume(vec![entry(&first[0].id, json!("12A"))]);
    let second = stage.play(input).await.unwrap().interrupts();
    assert_eq!(
        (second[0].reason.as_str(), second[0].message.as_deref()),
        ("confirmation", Some("Book 12A?"))
    );
    for (approved, accepted) in [(true, false), (false, true)] {
        let both = json!({ "approved": approved, "accepted": accepted });
        let input = stage.resume(vec![entry(&second[0].id, both)]);
        assert_eq!(stage.play(input).await.unwrap_err().code, "answer_unfit");
    }
    let both = json!({ "approved": true, "accepted": true });
    let input = stage.resume(vec![entry(&second[0].id, both)]);
    stage.play(input).await.unwrap();
    assert_eq!(stage.asked(1)[2], "result a: booked 12A under 7");
    assert_eq!(steps.load(Ordering::SeqCst), 1);
    stage.assert_in_step().await;
}

#[tokio::test]
async fn a_client_that_keeps_the_history_is_asked_and_answers_all_the_same() {
    let counter = Counter::default();
    let describe =
        |a: antiphon_agent::Agent| a.tools(gated("pay", &counter)).history(History::Client);
    let mut stage = Stage::new(
        describe,
        vec![calls(&[("a", "pay", json!({}))]), says("Paid.")],
    );
    let input = stage.user("pay");
    let ids = ids(&stage.play(input).await.unwrap());
    let input = stage.resume(vec![entry(&ids[0], json!({ "approved": true }))]);
    let played = stage.play(input).await.unwrap();
    let Some(Event::RunFinished(end)) = played.events.last() else {
        panic!()
    };
    assert_eq!(
        end.outcome,
        Some(Outcome::Success {
            pending_tool_call_ids: None
        })
    );
    assert_eq!(counter.count(), 1);
    assert!(
        stage.thread().await.messages.is_empty(),
        "nothing of the conversation is stored"
    );
}

#[tokio::test]
async fn twenty_answers_at_once_have_one_effect() {
    for _ in 0..20 {
        let counter = Counter::default();
        let mut stage = Stage::new(
            |a| a.tools(gated("pay", &counter)),
            vec![calls(&[("a", "pay", json!({}))]), says("Paid.")],
        );
        let input = stage.user("pay");
        let ids = ids(&stage.play(input).await.unwrap());
        let inputs: Vec<_> = (0..20)
            .map(|_| stage.resume(vec![entry(&ids[0], json!({ "approved": true }))]))
            .collect();
        let stage = Arc::new(stage);
        let posts = inputs.into_iter().map(|input| {
            let stage = Arc::clone(&stage);
            tokio::spawn(async move {
                if let Ok(log) = stage.accept(input).await {
                    common::read(&log).await;
                }
            })
        });
        for post in posts.collect::<Vec<_>>() {
            post.await.unwrap();
        }
        assert_eq!(counter.count(), 1);
    }
}
