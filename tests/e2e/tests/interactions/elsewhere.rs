//! External waits: only the service settles them, whoever else tries, and once.

use antiphon_e2e::{
    http::Request,
    json::text as member,
    play::{Play, Step, Stop},
    provider::chunks::Call,
};
use serde_json::{Value, json};

use super::stage::{
    FORBIDDEN, NO_WAIT, NOBODY, NOT_FOUND, PENDING, SETTLED, alice, bearer, calls_for_go, pay,
    refused, refused_request, waiting,
};

/// Alice's thread that waits for another system, and what it says of the wait.
async fn waits() -> Step<(Play, Value)> {
    let tool = json!({"name": "verify", "kind": "external_wait", "capability": "kyc.verify"});
    let mut play = alice(json!({"tools": [tool, pay()]})).await?;
    calls_for_go(&play, vec![Call::new("c1", "verify", &json!({}))]);
    let body = play.body(&json!({}));
    let run = play.post(&body).await?;
    let wait = run.custom("harnest.external_wait").cloned();
    let wait = wait.ok_or_else(|| Stop::new(format!("no wait: {}", run.ending())))?;
    Ok((play, wait))
}

fn route(wait: &Value, end: &str) -> String {
    format!(
        "/external-waits/{}/{end}",
        member(&wait["pendingAction"], "id")
    )
}

fn by(token: &str, path: &str, body: &Value) -> Request {
    let (name, value) = bearer(token);
    Request::post(path, body).header(&name, &value)
}

#[tokio::test]
async fn the_routes_that_settle_take_no_users_token() -> Step {
    let (mut play, wait) = waits().await?;
    let (done, failed) = (
        json!({"result": "forged"}),
        json!({"code": "x", "message": "forged"}),
    );
    for (end, body) in [("complete", &done), ("fail", &failed)] {
        let path = route(&wait, end);
        for token in ["alice-token", "bob-token"] {
            let what = format!("{end} by {token}");
            let request = by(token, &path, body);
            refused_request(&mut play, &what, &request, FORBIDDEN).await?;
        }
        let request = Request::post(&path, body);
        refused_request(&mut play, end, &request, NOBODY).await?;
        let request = by("no-such-token", &path, body);
        refused_request(&mut play, end, &request, NOBODY).await?;
    }
    for (path, body) in [
        (route(&wait, "complete"), json!({})),
        (route(&wait, "complete"), json!([])),
        (route(&wait, "fail"), json!({"code": "x"})),
        (route(&wait, "fail"), json!({"code": 1, "message": "x"})),
    ] {
        let request = by("worker-token", &path, &body);
        let answer = play.stage.server.fetch(&request).await?;
        play.check(
            answer.status == 400,
            format!("{body}: HTTP {}", answer.status),
        );
    }
    let path = "/external-waits/wait_unknown/complete";
    let request = by("worker-token", path, &done);
    refused_request(&mut play, "an unknown wait", &request, NO_WAIT).await?;
    completes(play, &wait).await
}

/// The right report still counts.
async fn completes(mut play: Play, wait: &Value) -> Step {
    let request = by(
        "worker-token",
        &route(wait, "complete"),
        &json!({"result": {"level": 7}}),
    );
    let answer = play.stage.server.fetch(&request).await?;
    play.check(
        answer.status == 200,
        format!("the report: {}", answer.text()),
    );
    let path = format!(
        "/responses/{}?sessionId={}",
        member(wait, "responseId"),
        play.thread
    );
    let end = play
        .until(&path, "its end", |a| a.json()["status"] != "in_progress")
        .await?;
    play.check(end.json()["status"] == "completed", end.text());
    play.expect_executions(1);
    play.expect_model_requests(2);
    play.open().await?;
    play.end().await
}

#[tokio::test]
async fn a_client_cannot_settle_what_another_system_does() -> Step {
    let (mut play, wait) = waits().await?;
    let id = &wait["pendingAction"]["id"];
    for change in [
        json!({"status": "resolved", "payload": {"level": 9}}),
        json!({"status": "resolved", "payload": {"approved": true}}),
        json!({"status": "cancelled"}),
    ] {
        let mut entry = json!({ "interruptId": id });
        for (key, value) in change.as_object().into_iter().flatten() {
            entry[key] = value.clone();
        }
        let body = play.next_body(&[], &json!({"resume": [entry]}));
        let what = format!("a resume with {change}");
        refused(&mut play, &what, &body, PENDING).await?;
    }
    let result =
        json!({"id": "t1", "role": "tool", "toolCallId": "c1", "content": "{\"level\":9}"});
    let body = play.next_body(&[result], &json!({}));
    refused(&mut play, "a tool message", &body, PENDING).await?;
    let body = play.next_body(&[play.user("and now?")], &json!({}));
    refused(&mut play, "new words", &body, PENDING).await?;
    for (path, body) in [
        (
            format!("/approvals/{}", member(&wait["pendingAction"], "id")),
            json!({"decision": "approve"}),
        ),
        (
            format!("/client-tools/{}", member(&wait["pendingAction"], "id")),
            json!({"output": 1}),
        ),
    ] {
        let request = by("alice-token", &path, &body);
        refused_request(&mut play, &path, &request, NOT_FOUND).await?;
    }
    completes(play, &wait).await
}

#[tokio::test]
async fn a_service_settles_waits_and_does_nothing_else() -> Step {
    let mut play = waiting().await?;
    let interrupt = play.open.first().cloned().unwrap_or_default();
    let id = member(&interrupt, "id");
    // Not even an approval, by the routes that it may use.
    let path = format!("/external-waits/{id}/complete");
    let request = by(
        "worker-token",
        &path,
        &json!({"result": {"approved": true}}),
    );
    refused_request(&mut play, "an approval as a wait", &request, NO_WAIT).await?;
    let body = play.next_body(&[], &json!({"resume": [{"interruptId": id, "status": "resolved", "payload": {"approved": true}}]}));
    let (name, worker) = bearer("worker-token");
    for (what, request) in [
        ("a run", play.request(&body).header(&name, &worker)),
        (
            "an approval",
            by(
                "worker-token",
                &format!("/approvals/{id}"),
                &json!({"decision": "approve"}),
            ),
        ),
        (
            "a client tool",
            by(
                "worker-token",
                &format!("/client-tools/{id}"),
                &json!({"output": 1}),
            ),
        ),
        (
            "the threads",
            Request::get("/sessions").header(&name, &worker),
        ),
        (
            "a thread",
            Request::get("/sessions/thread-1").header(&name, &worker),
        ),
        ("the agents", Request::get("/agents").header(&name, &worker)),
    ] {
        refused_request(&mut play, what, &request, FORBIDDEN).await?;
    }
    play.expect_executions(0);
    play.end().await
}

#[tokio::test]
async fn a_failed_wait_is_told_to_the_model_and_settled_once() -> Step {
    let (mut play, wait) = waits().await?;
    let failure = json!({"code": "not_found", "message": "nobody of that name"});
    let request = by("worker-token", &route(&wait, "fail"), &failure);
    for what in ["the failure", "the failure again"] {
        let answer = play.stage.server.fetch(&request).await?;
        play.check(answer.status == 200, format!("{what}: {}", answer.text()));
        let path = format!(
            "/responses/{}?sessionId={}",
            member(&wait, "responseId"),
            play.thread
        );
        play.until(&path, "its end", |a| a.json()["status"] == "completed")
            .await?;
    }
    for (end, body) in [
        ("complete", json!({"result": 1})),
        ("fail", json!({"code": "other", "message": "x"})),
    ] {
        let request = by("worker-token", &route(&wait, end), &body);
        refused_request(&mut play, end, &request, SETTLED).await?;
    }
    play.open().await?;
    let told = super::stage::told(&play, "c1");
    play.check(
        told.contains("nobody of that name"),
        format!("the model was told {told:?}"),
    );
    play.expect_model_requests(2);
    play.end().await
}
