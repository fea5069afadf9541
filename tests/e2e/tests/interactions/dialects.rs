//! The ways in which clients of other makers answer.

use antiphon_e2e::{
    binary::Store,
    play::{Play, Step},
    provider::chunks::Call,
    run::Run,
};
use serde_json::{Value, json};

use super::stage::{
    INVALID, alice, alice_on, asked, calls_for_go, entry, pay, payment, refused, resume, setting,
    told, waiting,
};

/// The pending call as clients repeat it.
fn tool_calls() -> [Value; 4] {
    [
        json!({"callId": "c1", "name": "pay", "arguments": {"eur": 5}}),
        json!({"id": "c1", "name": "pay", "arguments": "{\"eur\":5}"}),
        json!({"id": "c1", "type": "function", "function": {"name": "pay", "arguments": "{\"eur\": 5}"}}),
        json!({"callId": "c1", "name": "pay", "arguments": {"eur": 5}, "informationalOnly": true}),
    ]
}

#[tokio::test]
async fn every_dialect_of_yes_approves_once() -> Step {
    let mut payloads = vec![
        json!({"approved": true}),
        json!({"accepted": true}),
        json!({"approved": true, "accepted": true}),
        json!({"approved": true, "reason": null}),
        json!("{\"approved\": true}"),
        json!("{\"accepted\": true}"),
    ];
    payloads.extend(tool_calls().map(|call| json!({"approved": true, "toolCall": call})));
    let mut play = alice(json!({"tools": [pay()]})).await?;
    calls_for_go(&play, vec![payment("c1", 5)]);
    for (round, payload) in payloads.iter().enumerate() {
        play.turn_to(&format!("round-{round}"));
        asked(&mut play).await?;
        let body = resume(&play, &[entry(&play, 0, &json!({ "payload": payload }))]);
        let run = play.post(&body).await?;
        play.expect_success(&run, &payload.to_string(), Some("All set."));
        play.expect_executions(round + 1);
    }
    play.end().await
}

#[tokio::test]
async fn every_dialect_of_no_declines() -> Step {
    let mut play = alice(json!({"tools": [pay()]})).await?;
    calls_for_go(&play, vec![payment("c1", 5)]);
    for (round, (change, says)) in [
        (json!({"payload": {"approved": false}}), "declined"),
        (json!({"payload": {"accepted": false}}), "declined"),
        (json!({"payload": "{\"approved\": false}"}), "declined"),
        (
            json!({"payload": {"approved": false, "reason": "too much"}}),
            "too much",
        ),
        (
            json!({"payload": {"approved": false, "toolCall": tool_calls()[0]}}),
            "declined",
        ),
        (json!({"status": "cancelled"}), "cancelled"),
        (json!({"status": "cancelled", "payload": null}), "cancelled"),
    ]
    .iter()
    .enumerate()
    {
        play.turn_to(&format!("round-{round}"));
        asked(&mut play).await?;
        let body = resume(&play, &[entry(&play, 0, change)]);
        let run = play.post(&body).await?;
        play.expect_success(&run, &change.to_string(), Some("All set."));
        let told = told(&play, "c1");
        play.check(
            told.contains(says),
            format!("{change}: the model was told {told:?}"),
        );
    }
    play.expect_executions(0);
    play.end().await
}

#[tokio::test]
async fn a_repeated_call_must_be_the_one_that_waits() -> Step {
    let mut play = waiting().await?;
    for call in [
        json!({"callId": "c2", "name": "pay", "arguments": {"eur": 5}}),
        json!({"callId": "c1", "name": "refund", "arguments": {"eur": 5}}),
        json!({"callId": "c1", "name": "pay", "arguments": {"eur": 6}}),
        json!({"callId": "c1", "name": "pay", "arguments": "{\"eur\":6}"}),
        json!({"callId": "c1", "name": "pay", "arguments": "{\"eur\":5"}),
        json!({"id": "c1", "function": {"name": "pay", "arguments": "{\"eur\":6}"}}),
        json!({"toolCallId": "c2"}),
        json!({"name": "pay"}),
        json!({}),
        json!("pay"),
        json!(null),
    ] {
        let payload = json!({"approved": true, "toolCall": call});
        let body = resume(&play, &[entry(&play, 0, &json!({ "payload": payload }))]);
        refused(&mut play, &call.to_string(), &body, INVALID).await?;
    }
    play.expect_executions(0);
    play.end().await
}

/// As the .NET client answers: its own words once more, and the call in the payload.
#[tokio::test]
async fn the_dotnet_client_resumes() -> Step {
    let mut play = alice(json!({"tools": [pay()]})).await?;
    calls_for_go(&play, vec![payment("c1", 5)]);
    asked(&mut play).await?;
    let payload = json!({"approved": true, "toolCall": tool_calls()[0]});
    let body = play.body(&json!({
        "messages": [{"id": "u1", "role": "user", "content": "go"}],
        "state": null, "protocolVersion": null, "tools": null, "context": null, "forwardedProps": null,
        "resume": [entry(&play, 0, &json!({ "payload": payload }))],
    }));
    let mut run = play.start(&body).await?;
    run.base.clone_from(&play.held);
    let run = play.finish(run).await;
    play.expect_success(&run, "the answer", Some("All set."));
    play.expect_executions(1);
    play.expect_model_requests(2);
    play.end().await
}

/// CopilotKit resumes under the interrupted run's id and sends a tool message of its own making.
#[tokio::test]
async fn the_copilotkit_client_resumes() -> Step {
    let mut play = alice(json!({"tools": [pay()]})).await?;
    calls_for_go(&play, vec![payment("c1", 5)]);
    let first = play.body(&json!({"protocolVersion": null}));
    let run = play.post(&first).await?;
    play.check(run.outcome() == Some("interrupt"), run.ending());
    let answer = entry(&play, 0, &json!({"payload": {"approved": true}}));
    let made_up =
        json!({"id": "ck-1", "role": "tool", "toolCallId": "c1", "content": "{\"approved\":true}"});
    let change = json!({"runId": first["runId"], "protocolVersion": null, "resume": [answer]});
    let body = play.next_body(&[made_up], &change);
    let run = play.start(&body).await?.again();
    let run = play.finish_aside(run).await;
    play.expect_success(&run, "the answer", Some("All set."));
    play.expect_executions(1);
    // The message is the page's invention: the thread has the real result, once.
    play.open().await?;
    let results: Vec<_> = play
        .held
        .messages
        .iter()
        .filter(|m| m["role"] == "tool")
        .collect();
    let real = results.len() == 1
        && results
            .iter()
            .all(|m| m["content"] == "paid" && m["id"] != "ck-1");
    let text = format!("the thread has the results {results:?}");
    play.check(real, text);
    play.end().await
}

/// The Python client writes members in snake case.
#[tokio::test]
async fn the_python_client_resumes() -> Step {
    let mut play = alice(json!({"tools": [pay()]})).await?;
    calls_for_go(&play, vec![payment("c1", 5)]);
    asked(&mut play).await?;
    let open = play.open.first().cloned().unwrap_or_default();
    let body = json!({
        "thread_id": play.thread, "run_id": play.new_run_id(), "protocol_version": "1.0",
        "messages": play.held.messages, "state": play.held.state, "tools": [], "context": [], "forwarded_props": {},
        "resume": [{"interrupt_id": open["id"], "status": "resolved", "payload": {"approved": true}}],
    });
    let run = play.post(&body).await?;
    play.expect_success(&run, "the answer", Some("All set."));
    play.expect_executions(1);
    play.end().await
}

#[tokio::test]
async fn a_member_in_both_spellings_must_mean_one_thing() -> Step {
    let mut play = waiting().await?;
    let mut both = entry(&play, 0, &json!({"payload": {"approved": true}}));
    both["interrupt_id"] = json!("approval_unknown");
    let body = resume(&play, &[both]);
    let codes = ["invalid_input", "invalid_resume"];
    refused(&mut play, "two ids in one entry", &body, (400, &codes)).await?;
    play.expect_executions(0);
    play.end().await
}

/// The kinds of events that an answer leads to.
fn shape(run: &Run) -> Vec<String> {
    run.kinds().into_iter().map(str::to_owned).collect()
}

/// Plays a wait and its answer, with or without a restart between them.
async fn answered(tool: Value, payload: Value, restarts: bool) -> Step<Vec<String>> {
    let agent = json!({"tools": [tool]});
    let mut play = alice_on(agent, setting(Store::Sqlite, &json!({}))).await?;
    play.executions_are_streamed = false;
    calls_for_go(&play, vec![Call::new("c1", "tool", &json!({"n": 1}))]);
    let body = play.body(&json!({}));
    let first = play.post(&body).await?;
    if restarts {
        play.stage.kill_and_restart().await?;
    }
    let body = answer_to(&play, &first, &payload);
    let mut run = play.start(&body).await?;
    run.base.clone_from(&play.held);
    let run = play.finish(run).await;
    play.expect_success(&run, "the answer", Some("All set."));
    let shape = shape(&run);
    play.end().await?;
    Ok(shape)
}

fn answer_to(play: &Play, first: &Run, payload: &Value) -> Value {
    let by_id = |id: &Value| json!({"interruptId": id, "status": "resolved", "payload": payload});
    let open = first.interrupts().first().map(|i| i["id"].clone());
    let open = open.or_else(|| Some(first.custom("harnest.client_tool")?["id"].clone()));
    let entry = by_id(&open.unwrap_or_default());
    play.body(&json!({"messages": [], "state": null, "resume": [entry]}))
}

#[tokio::test]
async fn d1_a_restart_between_question_and_answer_is_invisible() -> Step {
    let form = json!({"type": "object", "properties": {"token": {"type": "string"}}});
    for (tool, payload) in [
        (
            json!({"name": "tool", "returns": "paid", "approval": true}),
            json!({"approved": true}),
        ),
        (
            json!({"name": "tool", "returns": "paid", "approval": true}),
            json!({"approved": false}),
        ),
        (
            json!({"name": "tool", "kind": "client"}),
            json!("from the page"),
        ),
        (
            json!({"name": "tool", "kind": "private_input", "responseSchema": form, "model_sees": "ok"}),
            json!({"token": "abc"}),
        ),
    ] {
        let plain = answered(tool.clone(), payload.clone(), false).await?;
        let restarted = answered(tool, payload, true).await?;
        if plain != restarted {
            let text = format!("without a restart {plain:?}, with one {restarted:?}");
            return Err(antiphon_e2e::play::Stop::new(text));
        }
    }
    Ok(())
}
