//! How a request is taken into its thread, through the public interface.
#![expect(clippy::unwrap_used, reason = "a test ends where it is surprised")]

mod common;

use std::sync::Arc;
use std::time::Duration;

use antiphon_agent::store::Interaction;
use antiphon_agent::{
    Agent, Approval, Delivered, Delivery, RunContext, Tool, ToolError, ToolOutput,
};
use antiphon_protocol::{
    Content, ContentPart, Event, Message, ResumeEntry, ResumeStatus, RunAgentInput, TextPart,
    ToolMessage, UserMessage,
};
use common::{Stage, calls, entry, says, user};
use serde_json::{Value, json};

/// A tool that writes the document, which shows while the model writes it.
fn write(tool: Tool) -> impl FnOnce(Agent) -> Agent {
    let text = json!({ "type": "object", "properties": { "doc": {} }, "required": ["doc"] });
    let tool = tool.parameters(text);
    let argument = tool.argument("doc");
    |agent: Agent| agent.tools(tool).predict("doc", argument)
}

fn written() -> Vec<common::Turn> {
    let call = calls(&[("c1", "write", json!({ "doc": "UNAPPROVED" }))]);
    vec![call, says("Well."), says("Well."), says("Well.")]
}

/// The page's first request, with the state that the person made.
async fn ask(stage: &mut Stage, state: Value) {
    let mut input = stage.user("write");
    input.state = Some(state);
    stage.play(input).await.unwrap();
}

/// Takes the result of the thread's open external wait, as the other system gives it, while no page looks.
async fn deliver(stage: &Stage, delivery: Delivery) {
    let open = stage.thread().await.interactions;
    let id = &open.last().unwrap().id;
    let agent = |_: &str| Some(Arc::clone(&stage.agent));
    let delivered = stage.runtime.deliver(agent, id, delivery, "worker").await;
    let Delivered::Continues(run) = delivered.unwrap() else {
        panic!("it is delivered the first time")
    };
    run.play().await;
}

async fn begins(_: Value, _: RunContext<'_>) -> Result<ToolOutput, ToolError> {
    Ok(ToolOutput::new(json!("begun")))
}

fn failed() -> Delivery {
    Delivery::Fail {
        code: "no".into(),
        message: "not today".into(),
    }
}

#[tokio::test]
async fn what_expired_before_anybody_approved_it_is_taken_back_and_never_becomes_state() {
    let approved = write(Tool::fixed("write", json!("written")));
    let gated = |a: Agent| approved(a).require_confirmation(true);
    let mut stage = Stage::new(gated, written());
    ask(&mut stage, json!({ "doc": "old", "mode": "dark" })).await;
    assert_eq!(stage.held.state()["doc"], "UNAPPROVED");
    stage.clock.advance(16 * 60);
    let input = stage.user("hello?");
    let played = stage.play(input).await.unwrap();
    assert!(played.types().contains(&"STATE_SNAPSHOT"));
    let before = json!({ "doc": "old", "mode": "dark" });
    assert_eq!(*stage.held.state(), before);
    stage.assert_in_step().await;
}

#[tokio::test]
async fn a_page_that_sends_only_what_is_new_gets_back_what_expired_too() {
    let mut stage = Stage::new(write(Tool::client("write")), written());
    ask(&mut stage, json!({ "doc": "old" })).await;
    assert_eq!(stage.held.state()["doc"], "UNAPPROVED");
    stage.clock.advance(16 * 60);
    let mut input = stage.user("hello?");
    input.messages.drain(..input.messages.len() - 1);
    stage.play(input).await.unwrap();
    assert_eq!(*stage.held.state(), json!({ "doc": "old" }));
    assert_eq!(stage.thread().await.state, Some(json!({ "doc": "old" })));
}

#[tokio::test]
async fn what_a_person_changed_after_a_call_expired_is_taken() {
    let mut stage = Stage::new(write(Tool::client("write")), written());
    ask(&mut stage, json!({ "doc": "old", "mode": "dark" })).await;
    stage.clock.advance(16 * 60);
    let mut input = stage.user("hello?");
    let mine = json!({ "doc": "mine", "mode": "light" });
    input.state = Some(mine.clone());
    stage.play(input).await.unwrap();
    assert_eq!(*stage.held.state(), mine);
    // And now that the page knows, the same words are a person's own.
    let mut input = stage.user("as you had it");
    input.state = Some(json!({ "doc": "UNAPPROVED", "mode": "light" }));
    stage.play(input).await.unwrap();
    assert_eq!(stage.held.state()["doc"], "UNAPPROVED");
    stage.assert_in_step().await;
}

#[tokio::test]
async fn what_another_system_refused_while_the_page_was_away_does_not_become_state() {
    let tool = Tool::external_wait("write", "pen", begins);
    let mut stage = Stage::new(write(tool), written());
    ask(&mut stage, json!({ "doc": "old" })).await;
    assert_eq!(stage.held.state()["doc"], "UNAPPROVED");
    deliver(&stage, failed()).await;
    let input = stage.user("and?");
    stage.play(input).await.unwrap();
    assert_eq!(*stage.held.state(), json!({ "doc": "old" }));
    assert_eq!(stage.thread().await.state, Some(json!({ "doc": "old" })));
}

#[tokio::test]
async fn what_expired_while_another_result_came_does_not_become_state() {
    let gate = Approval::default().timeout(Duration::from_secs(1));
    let gated = write(Tool::fixed("write", json!("written")).approval(gate));
    let describe = |a: Agent| gated(a).tools(Tool::external_wait("verify", "kyc", begins));
    let both = calls(&[
        ("c1", "write", json!({ "doc": "UNAPPROVED" })),
        ("c2", "verify", json!({})),
    ]);
    let mut stage = Stage::new(describe, vec![both, says("Well."), says("Well.")]);
    ask(&mut stage, json!({ "doc": "old" })).await;
    stage.clock.advance(2);
    deliver(&stage, Delivery::Complete(json!("verified"))).await;
    let input = stage.user("and?");
    stage.play(input).await.unwrap();
    assert_eq!(*stage.held.state(), json!({ "doc": "old" }));
}

#[tokio::test]
async fn what_a_page_shows_of_an_unsettled_call_is_no_change_of_its_state() {
    let text = json!({ "type": "object", "properties": { "doc": {} }, "required": ["doc"] });
    let tool = Tool::client("write").parameters(text);
    let argument = tool.argument("doc");
    let mapped = |a: Agent| a.tools(tool).call_as_state("doc", argument);
    let mut stage = Stage::new(mapped, written());
    ask(&mut stage, json!({ "doc": "old" })).await;
    assert_eq!(stage.held.state()["doc"], "UNAPPROVED");
    let shown = stage.look().await;
    assert!(format!("{:?}", shown.events).contains("UNAPPROVED"));
    let mut input = stage.input();
    let content = Content::Text("no pen".into());
    let mut result = ToolMessage::new("t1", "c1", content);
    result.error = Some("no pen".into());
    input.messages.push(result.into());
    stage.play(input).await.unwrap();
    assert_eq!(*stage.held.state(), json!({ "doc": "old" }));
    assert_eq!(stage.thread().await.state, Some(json!({ "doc": "old" })));
}

/// A page's answer to a call of its tool.
fn result(id: &str, call: &str, content: &str) -> ToolMessage {
    ToolMessage::new(id, call, Content::Text(content.into()))
}

/// A stage on which the page was asked to run its tools `paint` and `count`, as `c1` and `c2`.
async fn painting(turns: Vec<common::Turn>) -> Stage {
    let both = calls(&[("c1", "paint", json!({})), ("c2", "count", json!({}))]);
    let turns = [both].into_iter().chain(turns).collect();
    let tools = (Tool::client("paint"), Tool::client("count"));
    let mut stage = Stage::new(|a| a.tools(tools), turns);
    let input = stage.user("paint and count");
    stage.play(input).await.unwrap();
    stage
}

/// The page's list with these results at its end.
fn with(stage: &mut Stage, results: impl IntoIterator<Item = ToolMessage>) -> RunAgentInput {
    let mut input = stage.input();
    input
        .messages
        .extend(results.into_iter().map(Message::Tool));
    input
}

async fn refused(stage: &mut Stage, input: RunAgentInput) -> &'static str {
    stage.play(input).await.unwrap_err().code
}

const REPLAYED: &str = "RUN_STARTED STATE_SNAPSHOT MESSAGES_SNAPSHOT RUN_FINISHED";

#[tokio::test]
async fn the_same_results_again_are_answered_with_what_was_recorded() {
    let mut stage = painting(vec![says("Done.")]).await;
    let answers = || [result("t1", "c1", "{\"ok\":true}"), result("t2", "c2", "1")];
    let answer = with(&mut stage, answers());
    let asked = stage.held.messages().to_vec();
    stage.play(answer.clone()).await.unwrap();
    let done = stage.held.messages().to_vec();
    // As a page sends it whose connection broke: with all that it holds, or with the answers only.
    for history in [Vec::new(), asked] {
        let mut again = stage.input();
        again.messages = history;
        again.messages.extend(answers().map(Message::Tool));
        let played = stage.play(again).await.unwrap();
        assert_eq!(played.shape(), REPLAYED);
    }
    assert_eq!(stage.held.messages(), done);
    assert_eq!(stage.model.asked.lock().unwrap().len(), 2);
    stage.assert_in_step().await;
}

#[tokio::test]
async fn another_result_under_the_same_message_id_contradicts_the_first() {
    let mut stage = painting(vec![says("Done.")]).await;
    let answers = [result("t1", "c1", "{\"ok\":true}"), result("t2", "c2", "1")];
    let answer = with(&mut stage, answers);
    stage.play(answer).await.unwrap();
    for other in [
        result("t2", "c2", "2"),
        ToolMessage {
            error: Some("no".into()),
            ..result("t2", "c2", "1")
        },
    ] {
        let mut again = stage.input();
        again.messages = vec![Message::Tool(other)];
        assert_eq!(refused(&mut stage, again).await, "interaction_settled");
    }
}

#[tokio::test]
async fn a_result_that_the_server_made_asks_for_nothing_when_it_comes_back() {
    let tool = Tool::fixed("look", json!("it rains"));
    let turns = vec![calls(&[("c1", "look", json!({}))]), says("Rain.")];
    let mut stage = Stage::new(|a| a.tools(tool), turns);
    let input = stage.user("look");
    stage.play(input).await.unwrap();
    let mut input = stage.input();
    input.messages.truncate(3);
    assert_eq!(refused(&mut stage, input).await, "no_input");
}

#[tokio::test]
async fn a_failure_that_a_page_reported_may_be_reported_again() {
    let mut stage = painting(vec![says("Oh.")]).await;
    let answers = || {
        let mut broken = result("t1", "c1", "");
        broken.error = Some("no paint".into());
        [result("t2", "c2", "1"), broken]
    };
    let answer = with(&mut stage, answers());
    stage.play(answer).await.unwrap();
    let mut again = stage.input();
    again.messages = answers().map(Message::Tool).to_vec();
    assert_eq!(stage.play(again).await.unwrap().shape(), REPLAYED);
    // The thread has it in its own words, which the page may have taken over.
    let mut again = stage.input();
    again.messages = vec![Message::Tool(result("t1", "c1", "Error: no paint"))];
    assert_eq!(stage.play(again).await.unwrap().shape(), REPLAYED);
}

#[tokio::test]
async fn each_result_at_the_end_of_a_list_is_held_against_what_was_recorded() {
    let mut stage = painting(vec![says("Done.")]).await;
    let answers = |paint: &str, id: [&str; 2]| {
        [result(id[0], "c1", paint), result(id[1], "c2", "1")].map(Message::Tool)
    };
    let mut answer = stage.input();
    answer
        .messages
        .extend(answers("{\"ok\":true}", ["t1", "t2"]));
    stage.play(answer).await.unwrap();
    for ids in [["t1", "t2"], ["x1", "x2"]] {
        let mut again = stage.input();
        again.messages = answers("{\"ok\":false}", ids).to_vec();
        assert_eq!(refused(&mut stage, again).await, "interaction_settled");
        let mut again = stage.input();
        again.messages = answers("{\"ok\":true}", ids).to_vec();
        assert_eq!(stage.play(again).await.unwrap().shape(), REPLAYED);
    }
    let mut again = stage.input();
    again.messages = answers("{\"ok\":true}", ["y1", "y2"]).to_vec();
    let foreign = Message::Tool(result("y0", "c0", "1"));
    again.messages.insert(0, foreign);
    assert_eq!(refused(&mut stage, again).await, "tool_call_unknown");
}

#[tokio::test]
async fn what_the_servers_tool_found_is_the_servers_word_beside_a_result_of_the_page() {
    let both = calls(&[("c1", "look", json!({})), ("c2", "paint", json!({}))]);
    let tools = (
        Tool::fixed("look", json!("it rains")),
        Tool::client("paint"),
    );
    let mut stage = Stage::new(|a| a.tools(tools), vec![both, says("Done.")]);
    let input = stage.user("look and paint");
    stage.play(input).await.unwrap();
    let mut answer = stage.input();
    answer.messages.pop();
    answer.messages.extend([
        Message::Tool(result("theirs", "c1", "\"it rains\"")),
        Message::Tool(result("t2", "c2", "blue")),
    ]);
    let log = stage.accept(answer).await.unwrap();
    common::read(&log).await;
    assert_eq!(
        stage.asked(1)[2..],
        ["result c1: it rains", "result c2: blue"]
    );
}

/// What the thread's messages say, with the answers of the model left out.
async fn said(stage: &Stage) -> Vec<String> {
    let messages = stage.thread().await.messages.into_iter();
    let line = |message: Message| match message {
        Message::User(message) => Some(format!("{}: {}", message.id, message.content.text())),
        _ => None,
    };
    messages.filter_map(|stored| line(stored.message)).collect()
}

/// A stage whose thread has `u1` "first" and `u2` "second", each answered.
async fn talked() -> Stage {
    let turns = ["One.", "Two.", "Three.", "Four."].map(says).to_vec();
    let mut stage = Stage::new(|a| a, turns);
    for text in ["first", "second"] {
        let input = stage.user(text);
        stage.play(input).await.unwrap();
    }
    stage
}

#[tokio::test]
async fn what_stands_behind_an_edited_message_is_said_again_in_its_order() {
    let first = || user("u1", "other");
    for (list, stays) in [
        (
            vec![first(), user("u2", "second"), user("u3", "third")],
            vec!["u1: other", "u2: second", "u3: third"],
        ),
        (
            vec![first(), user("u2", "second")],
            vec!["u1: other", "u2: second"],
        ),
        (
            vec![first(), user("u2", "changed"), user("u3", "third")],
            vec!["u1: other", "u2: changed", "u3: third"],
        ),
        (
            vec![user("u0", "before"), first(), user("u2", "second")],
            vec!["u0: before", "u1: other", "u2: second"],
        ),
    ] {
        let mut stage = talked().await;
        let mut input = stage.input();
        input.messages = list;
        stage.play(input).await.unwrap();
        assert_eq!(said(&stage).await, stays);
        let messages = stage.thread().await.messages;
        assert_eq!(messages.len(), stays.len() + 1, "{messages:?}");
        stage.assert_in_step().await;
    }
}

#[tokio::test]
async fn an_edit_in_a_whole_list_says_again_what_was_said_behind_it_under_any_id() {
    for id in ["u2", "renamed"] {
        let mut stage = talked().await;
        let mut input = stage.user("third");
        for message in &mut input.messages {
            match message {
                Message::User(message) if message.id == "u1" => message.content = "other".into(),
                Message::User(message) if message.id == "u2" => message.id = id.to_owned(),
                _ => {}
            }
        }
        let log = stage.accept(input).await.unwrap();
        common::read(&log).await;
        let again = format!("{id}: second");
        assert_eq!(said(&stage).await, ["u1: other", &again, "u3: third"]);
    }
}

#[tokio::test]
async fn the_same_words_in_another_form_are_no_edit() {
    let mut stage = talked().await;
    let mut input = stage.user("third");
    let parts = |texts: &[&str]| {
        let part = |text: &&str| ContentPart::Text(TextPart::new(*text));
        let content = Content::Parts(texts.iter().map(part).collect());
        Message::User(UserMessage::new("u1", content))
    };
    input.messages[0] = parts(&["first"]);
    stage.play(input).await.unwrap();
    assert_eq!(said(&stage).await, ["u1: first", "u2: second", "u3: third"]);
    assert_eq!(stage.thread().await.messages.len(), 6);
    let mut input = stage.input();
    input.messages = vec![parts(&["fir", "st"]), user("u4", "fourth")];
    let log = stage.accept(input).await.unwrap();
    common::read(&log).await;
    assert_eq!(stage.thread().await.messages.len(), 8);
}

#[tokio::test]
async fn an_edit_that_leaves_nothing_to_say_is_refused() {
    let mut stage = talked().await;
    let mut input = stage.input();
    input.messages = vec![user("u1", "")];
    assert_eq!(refused(&mut stage, input).await, "invalid_input");
    assert_eq!(stage.thread().await.messages.len(), 4);
}

/// A stage on which `pay` waits for a person under the given id.
async fn paying(edits: bool) -> (Stage, String) {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "number" } } });
    let tool = Tool::fixed("pay", json!("paid"))
        .parameters(schema)
        .approval(Approval::default().edits(edits));
    let turns = vec![
        calls(&[("c1", "pay", json!({ "n": 1 }))]),
        says("So be it."),
    ];
    let mut stage = Stage::new(|a| a.tools(tool), turns);
    let input = stage.user("pay");
    let id = stage.play(input).await.unwrap().interrupts()[0].id.clone();
    (stage, id)
}

#[tokio::test]
async fn answers_that_mean_the_same_are_the_same_answer() {
    let yes = [
        json!({ "approved": true }),
        json!({ "accepted": true }),
        json!("{\"accepted\": true}"),
        json!({ "approved": true, "reason": " " }),
    ];
    let no = [
        json!({ "approved": false }),
        json!({ "accepted": false, "reason": "" }),
    ];
    let edited = [
        json!({ "approved": true, "editedArgs": { "n": 2 } }),
        json!({ "accepted": true, "editedArgs": { "n": 2.0 } }),
    ];
    let unedited = [
        json!({ "approved": true }),
        json!({ "approved": true, "editedArgs": { "n": 1 } }),
    ];
    for (edits, same, other) in [
        (false, &yes[..], &no[0]),
        (false, &no[..], &yes[1]),
        (true, &edited[..], &yes[0]),
        (true, &unedited[..], &edited[0]),
    ] {
        for first in same {
            let (mut stage, id) = paying(edits).await;
            let input = stage.resume(vec![entry(&id, first.clone())]);
            stage.play(input).await.unwrap();
            for again in same {
                let input = stage.resume(vec![entry(&id, again.clone())]);
                let played = stage.play(input).await;
                assert_eq!(played.unwrap().shape(), REPLAYED, "{first}, {again}");
            }
            let input = stage.resume(vec![entry(&id, other.clone())]);
            assert_eq!(refused(&mut stage, input).await, "interaction_settled");
        }
    }
}

#[tokio::test]
async fn what_a_page_found_is_the_same_in_a_message_and_in_a_resume() {
    let mut stage = painting(vec![says("Done.")]).await;
    let open = stage.thread().await.interactions;
    let ids = ["c1", "c2"].map(|call| open.iter().find(|i| i.call_id == call).unwrap().id.clone());
    let answers = [
        result("t1", "c1", "{\"ok\":true,\"n\":1}"),
        result("t2", "c2", "1"),
    ];
    let answer = with(&mut stage, answers);
    stage.play(answer).await.unwrap();

    let spaced = [
        result("x1", "c1", " { \"n\": 1.0, \"ok\": true }"),
        result("x2", "c2", "1\n"),
    ];
    let mut again = stage.input();
    again.messages = spaced.map(Message::Tool).to_vec();
    assert_eq!(stage.play(again).await.unwrap().shape(), REPLAYED);
    for (payload, replays) in [
        (json!({ "n": 1, "ok": true }), true),
        (json!("{\"ok\": true, \"n\": 1}"), true),
        (json!({ "n": 1, "ok": false }), false),
    ] {
        let entries = vec![entry(&ids[0], payload.clone()), entry(&ids[1], json!(1))];
        let input = stage.resume(entries);
        match stage.play(input).await {
            Ok(played) => assert!(replays && played.shape() == REPLAYED, "{payload}"),
            Err(refusal) => {
                assert_eq!(
                    (replays, refusal.code),
                    (false, "interaction_settled"),
                    "{payload}"
                );
            }
        }
    }
}

#[tokio::test]
async fn what_a_page_found_is_told_when_it_came_in_a_resume() {
    let mut stage = painting(vec![says("Done.")]).await;
    let open = stage.thread().await.interactions;
    let entries = open.iter().map(|i| entry(&i.id, json!("found"))).collect();
    let input = stage.resume(entries);
    let played = stage.play(input).await.unwrap();
    let told = |t: &&&str| **t == "TOOL_CALL_RESULT";
    assert_eq!(played.types().iter().filter(told).count(), 2);
    stage.assert_in_step().await;
}

#[tokio::test]
async fn a_result_that_came_in_a_resume_and_as_a_message_too_is_told_once() {
    let mut stage = painting(vec![says("Done.")]).await;
    let open = stage.thread().await.interactions;
    let answers = [
        result("t1", "c1", "{ \"a\": 1 }"),
        result("t2", "c2", "other"),
    ];
    let mut input = with(&mut stage, answers);
    input.resume = open
        .iter()
        .map(|i| entry(&i.id, json!({ "a": 1 })))
        .collect();
    let log = stage.accept(input).await.unwrap();
    let events = common::read(&log).await;
    let told: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            Event::ToolCallResult(result) => Some(result.tool_call_id.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(told, ["c2"], "the page has the first already");
    let stored = stage.thread().await.messages;
    assert_eq!(stored[2].message.id(), "t1");
    assert_eq!(stage.asked(1)[3], "result c2: {\"a\":1}");
}

#[tokio::test]
async fn a_result_that_comes_too_late_is_refused_as_expired() {
    for noticed in [false, true] {
        let turns = vec![says("Never mind."), says("Never mind.")];
        let mut stage = painting(turns).await;
        let late = [result("t1", "c1", "red"), result("t2", "c2", "1")];
        let late = with(&mut stage, late);
        stage.clock.advance(16 * 60);
        if noticed {
            let input = stage.user("hello?");
            stage.play(input).await.unwrap();
        }
        assert_eq!(refused(&mut stage, late).await, "interaction_expired");
        let input = stage.user("go on");
        stage.play(input).await.unwrap();
        assert!(stage.asked(1)[2].contains("nobody answered in time"));
    }
}

#[tokio::test]
async fn a_result_of_a_call_that_a_person_cancelled_contradicts_that() {
    let mut stage = painting(vec![says("Fine.")]).await;
    let open = stage.thread().await.interactions;
    let cancel = |i: &Interaction| ResumeEntry::new(&i.id, ResumeStatus::Cancelled);
    let input = stage.resume(open.iter().map(cancel).collect());
    stage.play(input).await.unwrap();
    let mut input = stage.input();
    input.messages = vec![Message::Tool(result("t1", "c1", "red"))];
    assert_eq!(refused(&mut stage, input).await, "interaction_settled");
}

#[tokio::test]
async fn an_answer_at_another_agents_address_is_sent_to_the_agent_that_asked() {
    let (mut stage, id) = paying(false).await;
    let asker = Arc::clone(&stage.agent);
    let turns = common::Fake::hanging(vec![says("Hello.")]);
    let other = Agent::new("other").model(turns).build().unwrap();
    stage.agent = Arc::new(other);
    let answer = vec![entry(&id, json!({ "approved": true }))];
    let resumes = stage.resume(answer.clone());
    let mut says_no = stage.user("no, thanks");
    says_no.resume.clear();
    for input in [resumes, says_no] {
        let refusal = stage.play(input).await.unwrap_err();
        assert_eq!(refusal.code, "interaction_pending");
        assert!(refusal.message.contains("the agent \"test\""), "{refusal}");
        let extra = json!({ "open": [id], "agent": "test" });
        assert_eq!(refusal.extra.map(|extra| *extra), Some(extra));
    }
    stage.agent = asker;
    let input = stage.resume(answer);
    stage.play(input).await.unwrap();
    stage.assert_in_step().await;
}
