//! Answers that come too late: whatever was open has expired, and the thread is free.

use std::time::Duration;

use antiphon_e2e::{
    http::Request,
    json::{list, text as member},
    play::{Play, Step, Stop},
    provider::chunks::Call,
};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::stage::{alice, bearer, calls_for_go, decisions, open_ids, told};

/// The time that each wait of these tests has, and a little more.
const OVER: Duration = Duration::from_millis(1200);

/// Alice's thread with one call that waits for a second, and what came of the first run.
async fn short(tool: Value) -> Step<(Play, Value)> {
    let mut play = alice(json!({"tools": [tool]})).await?;
    play.executions_are_streamed = false;
    calls_for_go(&play, vec![Call::new("c1", "tool", &json!({}))]);
    let body = play.body(&json!({}));
    let run = play.post(&body).await?;
    let interrupt = run.interrupts().first();
    let custom = run.custom("harnest.client_tool");
    let custom = custom.or_else(|| run.custom("harnest.external_wait"));
    let open = interrupt.or(custom).cloned();
    let open = open.ok_or_else(|| Stop::new(format!("nothing is open: {}", run.ending())))?;
    Ok((play, open))
}

/// A late answer is refused by name and executes nothing; then the thread takes new words, and the
/// model hears what became of the call.
async fn too_late(mut play: Play, bodies: Vec<Value>, executed: usize) -> Step {
    sleep(OVER).await;
    for body in bodies {
        let run = play.start(&body).await?;
        let run = play.finish_aside(run).await;
        let code = run.error_code().unwrap_or_default();
        let named = ["interaction_expired", "interaction_settled"].contains(&code.as_str());
        let text = format!("a late answer: HTTP {} {}", run.status, run.text_body());
        play.check(run.status == 409 && named, text);
    }
    play.expect_executions(executed);
    let opened = play.open().await?;
    let nothing = opened.interrupts().is_empty() && open_ids(&play).await?.is_empty();
    play.check(nothing, "something is still open after its time");
    let run = play.say("and now?").await?;
    play.expect_success(&run, "new words", Some("Noted."));
    let told = told(&play, "c1");
    play.check(
        told.contains("in time"),
        format!("the model was told {told:?}"),
    );
    let decided = decisions(&play).await?;
    let words: Vec<_> = decided.iter().map(|(word, _)| word.as_str()).collect();
    play.check(words == ["expired"], format!("the record is {decided:?}"));
    play.expect_executions(executed);
    play.end().await
}

fn resolved(play: &Play, id: &Value, payload: &Value) -> Value {
    let entry = json!({"interruptId": id, "status": "resolved", "payload": payload});
    play.body(&json!({"messages": [], "state": null, "resume": [entry]}))
}

#[tokio::test]
async fn h6_a_late_approval_runs_nothing() -> Step {
    let tool = json!({"name": "tool", "returns": "paid", "approval": {"timeout": "1s"}});
    let (play, open) = short(tool).await?;
    let bodies =
        [true, false].map(|approved| resolved(&play, &open["id"], &json!({"approved": approved})));
    too_late(play, bodies.to_vec(), 0).await
}

#[tokio::test]
async fn h6_the_approval_route_is_as_late() -> Step {
    let tool = json!({"name": "tool", "returns": "paid", "approval": {"timeout": "1s"}});
    let (mut play, open) = short(tool).await?;
    sleep(OVER).await;
    let path = format!("/approvals/{}", member(&open, "id"));
    let answer = play
        .fetch(Request::post(&path, &json!({"decision": "approve"})))
        .await?;
    let code = answer.json()["error"]["code"].clone();
    let text = format!("HTTP {} {}", answer.status, answer.text());
    play.check(answer.status == 409 && code == "interaction_expired", text);
    too_late(play, Vec::new(), 0).await
}

#[tokio::test]
async fn h6_a_late_result_of_the_page_is_not_taken() -> Step {
    let (play, open) = short(json!({"name": "tool", "kind": "client", "timeout": "1s"})).await?;
    let message = json!({"id": "t1", "role": "tool", "toolCallId": "c1", "content": "late"});
    let bodies = vec![
        play.next_body(&[message], &json!({})),
        resolved(&play, &open["id"], &json!("late")),
    ];
    too_late(play, bodies, 0).await
}

#[tokio::test]
async fn h6_a_late_private_value_is_not_delivered() -> Step {
    let form = json!({"type": "object", "properties": {"token": {"type": "string"}}});
    let tool = json!({"name": "tool", "kind": "private_input", "responseSchema": form, "model_sees": "ok", "timeout": "1s"});
    let (play, open) = short(tool).await?;
    let body = resolved(&play, &open["id"], &json!({"token": "late"}));
    too_late(play, vec![body], 0).await
}

#[tokio::test]
async fn h6_a_late_report_of_a_service_is_refused() -> Step {
    let tool = json!({"name": "tool", "kind": "external_wait", "capability": "kyc.verify", "timeout": "1s"});
    let (mut play, open) = short(tool).await?;
    sleep(OVER).await;
    let action = &open["pendingAction"];
    let (name, worker) = bearer("worker-token");
    for (end, body) in [
        ("complete", json!({"result": "late"})),
        ("fail", json!({"code": "late", "message": "late"})),
    ] {
        let path = format!("/external-waits/{}/{end}", member(action, "id"));
        let request = Request::post(&path, &body).header(&name, &worker);
        let answer = play.stage.server.fetch(&request).await?;
        let code = answer.json()["error"]["code"].clone();
        let text = format!("{end}: HTTP {} {}", answer.status, answer.text());
        play.check(answer.status == 409 && code == "interaction_expired", text);
    }
    let path = format!(
        "/responses/{}?sessionId={}",
        member(&open, "responseId"),
        play.thread
    );
    let poll = play.get(&path).await?.json();
    play.check(poll["status"] == "failed", format!("the poll says {poll}"));
    too_late(play, Vec::new(), 1).await
}

#[tokio::test]
async fn an_expiry_is_told_with_the_question_and_kept_by_an_answer_that_is_refused() -> Step {
    let tool = json!({"name": "tool", "returns": "paid", "approval": {"timeout": "15m"}});
    let (mut play, open) = short(tool).await?;
    let body = resolved(&play, &open["id"], &json!({"approved": "true"}));
    let run = play.start(&body).await?;
    play.finish_aside(run).await;
    let opened = play.open().await?;
    let now = opened.interrupts().first().cloned().unwrap_or_default();
    let kept = open["expiresAt"].is_string() && now["expiresAt"] == open["expiresAt"];
    play.check(
        kept,
        format!("{} became {}", open["expiresAt"], now["expiresAt"]),
    );
    let path = format!("/sessions/{}/interactions", play.thread);
    let record = play.get(&path).await?.json();
    let listed = list(&record, "open").first().cloned().unwrap_or_default();
    play.check(
        listed["expiresAt"] == open["expiresAt"],
        format!("listed: {listed}"),
    );
    play.end().await
}
