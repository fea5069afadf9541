//! What other people's user interface kits, and their runtimes, need of a run.
#![expect(clippy::unwrap_used, reason = "a test ends where it is surprised")]

mod common;

use std::time::Duration;

use antiphon_agent::store::{Store, ThreadKey};
use antiphon_agent::{Accepted, Agent, Approval, Handler, RunContext, Tool, ToolError, ToolOutput};
use antiphon_protocol::{Event, Outcome, Replica};
use common::{Stage, calls, says};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

fn draws(id: &str, title: &str) -> common::Turn {
    calls(&[(id, "draw", json!({ "plan": { "title": title } }))])
}

#[tokio::test]
async fn the_events_of_each_run_lead_to_its_state_without_what_came_before() {
    let tool = Tool::fixed("draw", json!("Drawn."))
        .parameters(json!({ "type": "object", "properties": { "plan": { "type": "object" } } }));
    let argument = tool.argument("plan");
    let turns = vec![
        draws("c1", "One"),
        says("Done."),
        draws("c2", "Two"),
        says("Done again."),
    ];
    let mut stage = Stage::new(|a| a.tools(tool).predict("plan", argument), turns);
    for (words, title) in [("draw", "One"), ("again", "Two")] {
        let mut input = stage.user(words);
        input.state = Some(stage.held.state().clone());
        let played = stage.play(input).await.unwrap();
        assert!(played.deltas() > 0);
        let mut fresh = Replica::new(Vec::new(), json!({}));
        for event in &played.events {
            assert_eq!(fresh.apply(event), [], "{event:?}");
        }
        assert_eq!(*fresh.state(), json!({ "plan": { "title": title } }));
    }
    stage.assert_in_step().await;
}

#[tokio::test]
async fn an_answer_in_forwarded_props_asks_for_a_run_without_a_new_message() {
    let mut stage = Stage::new(|a| a, vec![says("May I?"), says("Thank you.")]);
    let input = stage.user("begin");
    stage.play(input).await.unwrap();

    let mut again = stage.input();
    again.messages = stage.held.messages().to_vec();
    again.forwarded_props = Some(json!({ "command": { "resume": null } }));
    let refusal = stage.play(again.clone()).await.unwrap_err();
    assert_eq!(refusal.code, "no_input");

    again.forwarded_props = Some(json!({ "command": { "resume": { "approved": true } } }));
    let played = stage.play(again).await.unwrap();
    assert!(played.shape().ends_with("TEXT_MESSAGE_END RUN_FINISHED"));
    assert_eq!(stage.asked(1), ["user: begin", "assistant: May I? "]);
    stage.assert_in_step().await;
}

#[tokio::test]
async fn looking_at_a_thread_shows_what_is_open_and_changes_nothing() {
    let approval = Approval::default().timeout(Duration::from_secs(60));
    let tool = Tool::fixed("pay", json!("Paid.")).approval(approval);
    let turns = vec![calls(&[("c1", "pay", json!({}))])];
    let mut stage = Stage::new(|a| a.tools(tool), turns);
    let unknown = stage.look().await;
    assert_eq!(
        unknown.shape(),
        "RUN_STARTED STATE_SNAPSHOT MESSAGES_SNAPSHOT RUN_FINISHED"
    );
    let key = ThreadKey::new("alice", "t1");
    assert_eq!(stage.store.thread(&key).await.unwrap(), None);

    let input = stage.user("pay");
    let asked = stage.play(input).await.unwrap().interrupts();
    assert_eq!(stage.look().await.interrupts(), asked);

    let before = stage.thread().await;
    stage.clock.advance(61);
    assert_eq!(stage.look().await.interrupts(), []);
    assert_eq!(stage.thread().await, before);
}

struct Started;

impl Handler for Started {
    fn call<'a>(
        &'a self,
        _: Value,
        _: RunContext<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        async { Ok(ToolOutput::new(json!("started"))) }.boxed()
    }
}

/// Asks for `f`, and gives the endings that a recorded and a repeated run are shown with a minute later.
async fn endings_after_a_minute(tool: Tool) -> [Vec<Event>; 2] {
    let argument = tool.argument("plan");
    let describe = |a: Agent| a.tools(tool).predict("plan", argument);
    let turns = vec![calls(&[("c1", "f", json!({ "plan": 1 }))])];
    let mut stage = Stage::new(describe, turns);
    let input = stage.user("go");
    stage.play(input.clone()).await.unwrap();
    let before = stage.thread().await;
    stage.clock.advance(61);
    let run = stage.store.run("alice", "r1", None).await.unwrap().unwrap();
    let recorded = stage.runtime.recorded(Some(&stage.agent), &run).await;
    let recorded = common::read(&recorded.unwrap().unwrap()).await;
    let agent = std::sync::Arc::clone(&stage.agent);
    let repeated = match stage.runtime.accept(agent, "alice", input).await.unwrap() {
        Accepted::Replay(log) => common::read(&log).await,
        Accepted::Run(_) => panic!("the request says nothing new"),
    };
    assert_eq!(stage.thread().await, before, "looking changes nothing");
    [recorded, repeated]
}

#[tokio::test]
async fn a_run_that_is_shown_again_waits_for_nothing_that_has_expired() {
    let schema = json!({ "type": "object", "properties": { "plan": {} } });
    let minute = Duration::from_secs(60);
    let gated = Tool::fixed("f", json!("Done.")).approval(Approval::default().timeout(minute));
    let of_page = Tool::client("f").timeout(minute);
    let elsewhere = Tool::external_wait("f", "kyc", Started).timeout(minute);
    for tool in [gated, of_page, elsewhere] {
        for events in endings_after_a_minute(tool.parameters(schema.clone())).await {
            let kinds: Vec<&str> = events.iter().map(|event| event.kind().as_str()).collect();
            assert_eq!(
                kinds.join(" "),
                "RUN_STARTED STATE_SNAPSHOT MESSAGES_SNAPSHOT RUN_FINISHED"
            );
            let Some(Event::StateSnapshot(shown)) = events.get(1) else {
                panic!("{events:?}")
            };
            assert_eq!(shown.snapshot, json!({}), "its prediction is taken back");
            let Some(Event::RunFinished(end)) = events.last() else {
                panic!("{events:?}")
            };
            let nothing = Outcome::Success {
                pending_tool_call_ids: None,
            };
            assert_eq!(end.outcome, Some(nothing));
            assert_eq!(end.result, None);
        }
    }
}
