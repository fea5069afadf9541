//! What a crash leaves behind, and what becomes of it.
#![expect(clippy::unwrap_used, reason = "a test ends where it is surprised")]

mod common;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use antiphon_agent::store::{CallPhase, Store};
use antiphon_agent::{
    Accepted, Delivered, Delivery, Handler, RunContext, Tool, ToolError, ToolOutput,
};
use common::{Fake, Stage, calls, entry, says};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

/// A tool that never comes back the first time.
#[derive(Clone, Default)]
struct Stuck(Arc<AtomicUsize>);

impl Handler for Stuck {
    fn call<'a>(
        &'a self,
        _: Value,
        _: RunContext<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        let first = self.0.fetch_add(1, Ordering::SeqCst) == 0;
        async move {
            if first {
                std::future::pending::<()>().await;
            }
            Ok(ToolOutput::new(json!("paid")))
        }
        .boxed()
    }
}

/// Plays a run until its tool is at work, then forgets it, as a killed process does.
async fn crash_in_the_tool(idempotent: bool) -> (Stage, Arc<AtomicUsize>) {
    let stuck = Stuck::default();
    let count = Arc::clone(&stuck.0);
    let tool = Tool::server("pay", stuck).idempotent(idempotent);
    let mut stage = Stage::new(
        |a| a.tools(tool),
        vec![calls(&[("a", "pay", json!({}))]), says("Noted.")],
    );
    let input = stage.user("pay");
    let Accepted::Run(run) = stage
        .runtime
        .accept(Arc::clone(&stage.agent), "alice", input)
        .await
        .unwrap()
    else {
        panic!()
    };
    let playing = tokio::spawn(run.play());
    while count.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    playing.abort();
    assert_eq!(stage.thread().await.calls[0].phase, CallPhase::Executing);
    stage.clock.advance(60);
    (stage, count)
}

fn agents(stage: &Stage) -> HashMap<String, Arc<antiphon_agent::BuiltAgent>> {
    HashMap::from([("test".to_owned(), Arc::clone(&stage.agent))])
}

#[tokio::test]
async fn a_call_whose_outcome_is_unknown_becomes_a_question() {
    let (mut stage, count) = crash_in_the_tool(false).await;
    assert!(
        stage
            .runtime
            .recover(&agents(&stage))
            .await
            .unwrap()
            .is_empty()
    );
    let mut input = stage.input();
    input.messages.clear();
    let opened = stage.play(input).await.unwrap();
    let interrupts = opened.interrupts();
    assert_eq!(interrupts[0].reason, "harnest:outcome_unknown");
    assert_eq!(
        count.load(Ordering::SeqCst),
        1,
        "nothing ran before the answer"
    );
    for (payload, member) in [
        (
            json!({ "outcome": "retry", "outcomes": "done" }),
            "outcomes",
        ),
        (json!({ "outcome": "retry", "approved": true }), "approved"),
        (json!({ "outcome": "maybe" }), "outcome"),
        (json!("retry"), "outcome"),
    ] {
        let input = stage.resume(vec![entry(&interrupts[0].id, payload)]);
        let refusal = stage.play(input).await.unwrap_err();
        assert_eq!(refusal.code, "invalid_resume");
        let place = format!("resume[0].payload.{member}");
        assert_eq!(refusal.field.as_deref(), Some(place.as_str()));
    }
    let input = stage.resume(vec![entry(&interrupts[0].id, json!({ "outcome": "done" }))]);
    stage.play(input).await.unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 1);
    stage.assert_in_step().await;
}

#[tokio::test]
async fn a_person_may_have_an_unknown_call_made_again() {
    let (mut stage, count) = crash_in_the_tool(false).await;
    stage.runtime.recover(&agents(&stage)).await.unwrap();
    let mut input = stage.input();
    input.messages.clear();
    let interrupts = stage.play(input).await.unwrap().interrupts();
    let input = stage.resume(vec![entry(
        &interrupts[0].id,
        json!({ "outcome": "retry" }),
    )]);
    stage.play(input).await.unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 2);
    assert_eq!(stage.asked(1)[2], "result a: paid");
}

#[tokio::test]
async fn going_on_without_a_word_leaves_an_unknown_call_unknown() {
    let (mut stage, count) = crash_in_the_tool(false).await;
    stage.runtime.recover(&agents(&stage)).await.unwrap();
    let input = stage.user("did it work?");
    stage.play(input).await.unwrap();
    assert!(
        stage.asked(1)[2].contains("its outcome is unknown"),
        "{:?}",
        stage.asked(1)
    );
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn an_idempotent_call_is_made_again() {
    let (stage, count) = crash_in_the_tool(true).await;
    let runs = stage.runtime.recover(&agents(&stage)).await.unwrap();
    for run in runs {
        run.play().await;
    }
    assert_eq!(count.load(Ordering::SeqCst), 2);
    assert_eq!(stage.asked(1)[2], "result a: paid");
    assert!(stage.store.orphans().await.unwrap().is_empty());
}

#[tokio::test]
async fn nobody_knows_what_became_of_a_call_that_was_cancelled_at_work() {
    let stuck = Stuck::default();
    let count = Arc::clone(&stuck.0);
    let tool = Tool::server("pay", stuck).approval(antiphon_agent::Approval::default());
    let mut stage = Stage::new(
        |a| a.tools(tool),
        vec![calls(&[("a", "pay", json!({}))]), says("Noted.")],
    );
    let input = stage.user("pay");
    let interrupts = stage.play(input).await.unwrap().interrupts();
    let input = stage.resume(vec![entry(&interrupts[0].id, json!({ "approved": true }))]);
    let accepted = stage
        .runtime
        .accept(Arc::clone(&stage.agent), "alice", input)
        .await;
    let Accepted::Run(run) = accepted.unwrap() else {
        panic!()
    };
    let cancel = run.cancel_token();
    let playing = tokio::spawn(run.play());
    while count.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    cancel.cancel();
    playing.await.unwrap();
    let thread = stage.thread().await;
    let told = format!("{:?}", thread.messages.last().unwrap().message);
    assert!(told.contains("nobody knows what became of it"), "{told}");
    let audit = stage.store.audit(&thread.key).await.unwrap();
    let outcomes: Vec<_> = audit.iter().map(|a| a.outcome.as_deref()).collect();
    assert_eq!(outcomes, [None, Some("unknown")]);
}

#[tokio::test]
async fn a_run_that_was_cut_while_the_model_spoke_ends_and_frees_its_thread() {
    let mut stage = Stage::with_model(|a| a, Fake::hanging(vec![vec![], says("Back.")]));
    let input = stage.user("hi");
    let Accepted::Run(run) = stage
        .runtime
        .accept(Arc::clone(&stage.agent), "alice", input)
        .await
        .unwrap()
    else {
        panic!()
    };
    drop(run);
    stage.clock.advance(60);
    stage.runtime.recover(&agents(&stage)).await.unwrap();
    assert!(stage.store.orphans().await.unwrap().is_empty());
    let record = stage.store.run("alice", "r1", None).await.unwrap().unwrap();
    assert_eq!(record.ending.unwrap()["code"], "interrupted");
}

/// Accepts a request and forgets the run before it is played, as a process does that dies then.
async fn accept_and_die(stage: &Stage, input: antiphon_protocol::RunAgentInput) {
    let accepted = stage
        .runtime
        .accept(Arc::clone(&stage.agent), "alice", input)
        .await
        .unwrap();
    assert!(matches!(accepted, Accepted::Run(_)));
    stage.clock.advance(60);
}

async fn recover_and_play(stage: &Stage) {
    for run in stage.runtime.recover(&agents(stage)).await.unwrap() {
        run.play().await;
    }
    assert!(stage.store.orphans().await.unwrap().is_empty());
}

#[tokio::test]
async fn an_approval_that_was_taken_is_acted_on_after_a_crash() {
    let tool = Tool::fixed("pay", json!("paid")).approval(antiphon_agent::Approval::default());
    let mut stage = Stage::new(
        |a| a.tools(tool),
        vec![calls(&[("a", "pay", json!({}))]), says("ok")],
    );
    let input = stage.user("pay");
    let interrupts = stage.play(input).await.unwrap().interrupts();
    let input = stage.resume(vec![entry(&interrupts[0].id, json!({ "approved": true }))]);
    accept_and_die(&stage, input).await;
    recover_and_play(&stage).await;
    assert_eq!(stage.asked(1)[2], "result a: paid");
}

/// Delivers the result that a wait is for.
async fn deliver(stage: &Stage, id: &str) -> Delivered {
    let agent = Arc::clone(&stage.agent);
    let delivery = Delivery::Complete(json!("verified"));
    let delivered = stage
        .runtime
        .deliver(|_| Some(Arc::clone(&agent)), id, delivery, "worker")
        .await;
    delivered.unwrap()
}

#[tokio::test]
async fn a_result_that_was_taken_is_kept_after_a_crash() {
    let tool = Tool::external_wait("verify", "kyc", Stuck(Arc::new(AtomicUsize::new(1))));
    let mut stage = Stage::new(
        |a| a.tools(tool),
        vec![calls(&[("a", "verify", json!({}))]), says("ok")],
    );
    let input = stage.user("verify");
    stage.play(input).await.unwrap();
    let id = stage.thread().await.interactions[0].id.clone();
    drop(deliver(&stage, &id).await);
    stage.clock.advance(60);
    recover_and_play(&stage).await;
    assert_eq!(stage.asked(1)[2], "result a: verified");
}

#[tokio::test]
async fn what_another_system_delivered_is_answered_although_a_crash_cut_the_answer() {
    let tool = Tool::external_wait("verify", "kyc", Stuck(Arc::new(AtomicUsize::new(1))));
    let turns = vec![calls(&[("a", "verify", json!({}))]), vec![]];
    let mut stage = Stage::with_model(|a| a.tools(tool), Fake::hanging(turns));
    let input = stage.user("verify");
    stage.play(input).await.unwrap();
    let id = stage.thread().await.interactions[0].id.clone();
    let Delivered::Continues(run) = deliver(&stage, &id).await else {
        panic!()
    };
    let playing = tokio::spawn(run.play());
    while stage.model.asked.lock().unwrap().len() < 2 {
        tokio::task::yield_now().await;
    }
    playing.abort();
    stage.clock.advance(60);
    stage.model.then(vec![says("You are verified."), says("")]);
    recover_and_play(&stage).await;
    assert_eq!(stage.asked(2)[2], "result a: verified");
    let record = stage.store.run("alice", "r1", None).await.unwrap();
    assert_eq!(record.unwrap().ending.unwrap()["type"], "RUN_FINISHED");
}

#[tokio::test]
async fn a_run_that_brings_the_server_down_does_so_only_a_few_times() {
    let (stage, count) = crash_in_the_tool(true).await;
    for _ in 0..5 {
        stage.clock.advance(60);
        drop(stage.runtime.recover(&agents(&stage)).await.unwrap());
    }
    stage.clock.advance(60);
    let recovered = stage.runtime.recover(&agents(&stage)).await.unwrap();
    assert!(recovered.is_empty());
    assert!(stage.store.orphans().await.unwrap().is_empty());
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn work_of_another_system_that_a_crash_cut_is_asked_about_and_its_result_still_counts() {
    let stuck = Stuck::default();
    let count = Arc::clone(&stuck.0);
    let tool = Tool::external_wait("verify", "kyc", stuck);
    let mut stage = Stage::new(
        |a| a.tools(tool),
        vec![calls(&[("a", "verify", json!({}))]), says("ok")],
    );
    let input = stage.user("verify");
    let Accepted::Run(run) = stage
        .runtime
        .accept(Arc::clone(&stage.agent), "alice", input)
        .await
        .unwrap()
    else {
        panic!()
    };
    let playing = tokio::spawn(run.play());
    while count.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    playing.abort();
    stage.clock.advance(60);
    recover_and_play(&stage).await;
    let mut input = stage.input();
    input.messages.clear();
    let interrupts = stage.play(input).await.unwrap().interrupts();
    assert_eq!(interrupts[0].reason, "harnest:outcome_unknown");
    let input = stage.resume(vec![entry(&interrupts[0].id, json!({ "outcome": "done" }))]);
    stage.play(input).await.unwrap();
    let thread = stage.thread().await;
    assert_eq!(thread.interactions.len(), 1, "the wait is still open");
    let Delivered::Continues(run) = deliver(&stage, &thread.interactions[0].id).await else {
        panic!()
    };
    run.play().await;
    assert_eq!(stage.asked(1)[2], "result a: verified");
}

/// Takes private values, and never comes back from the first.
#[derive(Clone, Default)]
struct StuckVault(Arc<AtomicUsize>);

impl antiphon_agent::PrivateHandler for StuckVault {
    fn deliver<'a>(
        &'a self,
        _: antiphon_agent::PrivateValue,
        _: RunContext<'a>,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        std::future::pending().boxed()
    }
}

#[tokio::test]
async fn private_input_that_a_crash_cut_begins_anew_and_is_never_delivered_twice() {
    let vault = StuckVault::default();
    let count = Arc::clone(&vault.0);
    let tool = Tool::private_input("token", json!({ "type": "object" }), vault, json!("stored"));
    let turns = vec![calls(&[("a", "token", json!({}))]), says("Again?")];
    let mut stage = Stage::new(|a| a.tools(tool), turns);
    let input = stage.user("log in");
    let first = stage.play(input).await.unwrap().interrupts();
    let answer = |stage: &mut Stage, id: &str| {
        let mut input = stage.resume(vec![entry(id, json!({ "token": "x" }))]);
        input.messages.clear();
        input.state = None;
        input
    };
    // The answer was taken and its delivery had not begun: the form is shown anew.
    let input = answer(&mut stage, &first[0].id);
    accept_and_die(&stage, input).await;
    recover_and_play(&stage).await;
    let open = stage.thread().await.interactions;
    assert_eq!(open.len(), 1);
    assert_ne!(open[0].id, first[0].id);
    // The delivery had begun: it counts as failed, and the model is told.
    let input = answer(&mut stage, &open[0].id);
    let accepted = stage
        .runtime
        .accept(Arc::clone(&stage.agent), "alice", input)
        .await
        .unwrap();
    let Accepted::Run(run) = accepted else {
        panic!("an answer is a run")
    };
    let playing = tokio::spawn(run.play());
    while count.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    playing.abort();
    stage.clock.advance(60);
    recover_and_play(&stage).await;
    assert!(
        stage.asked(1)[2].contains("the delivery was cut off"),
        "{:?}",
        stage.asked(1)
    );
    assert_eq!(count.load(Ordering::SeqCst), 1);
}
