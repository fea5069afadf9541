//! Waiting for the page, for a person in private, and for somebody else.

use std::path::Path;

use serde_json::{Value, json};

use super::need;
use crate::{
    http::{Answer, Request},
    json::text as member,
    play::{Play, Step, Stop},
    provider::chunks::{Call, calls, text},
    run::Run,
};

pub(super) async fn page_answers_twice(play: &mut Play) -> Step {
    let body = play.body(&json!({}));
    let run = play.post(&body).await?;
    let call = play
        .wire_call("f1")
        .ok_or_else(|| Stop::new("no call on the wire"))?;
    need(
        run.pending() == Some(vec![call.as_str()]),
        format!("run 1: {}, pending {:?}", run.ending(), run.pending()),
    )?;
    let held = play.held.clone();
    let answer = |play: &Play, id: &str, content: &str| {
        let mut messages = held.messages.clone();
        messages.push(json!({"id": id, "role": "tool", "toolCallId": call, "content": content}));
        play.body(&json!({"messages": messages, "state": held.state}))
    };
    let body = answer(play, "tr1", r#"{"ok":true}"#);
    let run = play.post(&body).await?;
    play.expect_success(&run, "the answer", Some("All set."));
    let repeated = answer(play, "tr1", r#"{"ok":true}"#);
    let contrary = answer(play, "tr2", r#"{"ok":false}"#);
    for (what, body, is_contrary) in [
        ("the same answer again", repeated, false),
        ("another answer", contrary, true),
    ] {
        let run = play.post_again(&body).await?;
        let refused = run.is_refused() || run.terminal() == Some("RUN_ERROR");
        let replayed = !is_contrary && run.terminal() == Some("RUN_FINISHED");
        play.check(refused || replayed, format!("{what}: {}", run.ending()));
        play.expect_model_requests(2);
    }
    Ok(())
}

pub(super) async fn declared_client_tool(play: &mut Play) -> Step {
    let turn = calls(&[Call::new("c1", "pick_color", &json!({"hint": "dark"}))]);
    play.stage.provider.turns(vec![turn, text("All set.")]);
    let body = play.body(&json!({}));
    let run = play.post(&body).await?;
    let call = play
        .wire_call("c1")
        .ok_or_else(|| Stop::new("no call on the wire"))?;
    play.check(
        run.pending() == Some(vec![call.as_str()]),
        format!("{}, pending {:?}", run.ending(), run.pending()),
    );
    let note = run
        .custom("harnest.client_tool")
        .cloned()
        .unwrap_or_default();
    let said = note["toolCallId"] == *call
        && note["name"] == "pick_color"
        && note["arguments"] == json!({"hint": "dark"});
    play.check(
        said && note["expiresAt"].is_string(),
        format!("harnest.client_tool says {note}"),
    );
    for kind in ["STATE_SNAPSHOT", "MESSAGES_SNAPSHOT"] {
        play.check(
            run.first(kind).is_some(),
            format!("no {kind} before the wait"),
        );
    }
    page_answers(play, &call).await
}

/// The page's answer is checked; until a good one is there, new input waits.
async fn page_answers(play: &mut Play, call: &str) -> Step {
    let answer = |id: &str, content: &str| json!({"id": id, "role": "tool", "toolCallId": call, "content": content});
    let body = play.next_body(&[answer("t1", r#"{"color":7}"#)], &json!({}));
    let wrong = play.post(&body).await?;
    play.check(
        wrong.is_refused(),
        format!("an answer against its schema: {}", wrong.ending()),
    );
    play.expect_model_requests(1);
    let busy = play.say("and now?").await?;
    play.check(
        busy.status == 409,
        format!("new input while a call waits: {}", busy.ending()),
    );
    let body = play.next_body(&[answer("t2", r#"{"color":"teal"}"#)], &json!({}));
    let right = play.post(&body).await?;
    play.expect_success(&right, "the answer", Some("All set."));
    let told = play
        .stage
        .provider
        .requests()
        .last()
        .is_some_and(|r| r.mentions("teal"));
    play.check(told, "the model did not get the answer");
    Ok(())
}

pub(super) async fn private_input(play: &mut Play) -> Step {
    let canary = "CANARY-9f3";
    let runs = private_flow(play, canary).await?;
    no_leak(play, &runs, canary);
    Ok(())
}

pub(super) async fn private_value_is_nowhere(play: &mut Play) -> Step {
    let canary = "CANARY-b81c-zeroize-me";
    let turn = calls(&[Call::new("pi1", "connect_account", &json!({}))]);
    play.stage.provider.turns(vec![turn, text("All set.")]);
    let runs = private_flow(play, canary).await?;
    let thread = format!("/sessions/{}", play.thread);
    for path in [
        thread.clone(),
        format!("{thread}/messages"),
        format!("{thread}/interactions"),
        "/metrics".to_owned(),
        "/openapi.json".to_owned(),
    ] {
        let answer = play.get(&path).await?;
        play.check(
            answer.status == 200,
            format!("GET {path}: HTTP {}", answer.status),
        );
        play.check(
            !answer.text().contains(canary),
            format!("the private value is in GET {path}"),
        );
    }
    no_leak(play, &runs, canary);
    let is_stored = play.stage.home.path().join("store.db").is_file();
    play.check(is_stored, "there is no store to look into");
    play.stage.server.stop().await?;
    no_leak(play, &runs, canary);
    play.stage.restart().await?;
    play.open().await?;
    play.expect_executions(1);
    no_leak(play, &runs, canary);
    Ok(())
}

/// Asks for a private value, refuses it in every wrong way, and takes it once.
async fn private_flow(play: &mut Play, canary: &str) -> Step<Vec<Run>> {
    let body = play.body(&json!({}));
    let asked = play.post(&body).await?;
    need(
        asked.outcome() == Some("interrupt"),
        format!("run 1: {}, expected an interrupt", asked.ending()),
    )?;
    let wait = asked.interrupts().first().cloned().unwrap_or_default();
    play.check(
        wait["reason"] == "private_input",
        format!("the reason is {}", wait["reason"]),
    );
    play.check(
        wait["responseSchema"].to_string().contains("token"),
        "responseSchema is not the form",
    );
    let marked = wait["metadata"]["harnest"]["privateInput"] == true;
    play.check(marked, format!("metadata {}", wait["metadata"]));
    let entry = play.entry_at(0, &json!({"token": canary}))?;
    let mut runs = vec![asked];
    runs.extend(refuses_private(play, &entry, canary).await?);
    runs.extend(takes_private(play, &entry, canary).await?);
    Ok(runs)
}

/// A request that brings the answer and nothing else.
fn alone(play: &Play, entry: &Value) -> Value {
    play.body(&json!({"messages": [], "state": null, "resume": [entry]}))
}

/// Every wrong way to give a private value is refused, and nothing of it is delivered.
async fn refuses_private(play: &mut Play, entry: &Value, canary: &str) -> Step<Vec<Run>> {
    let with = |payload: Value| {
        let mut entry = entry.clone();
        entry["payload"] = payload;
        entry
    };
    let mut with_state = alone(play, entry);
    with_state["state"] = json!({"a": 1});
    let mut runs = Vec::new();
    for (what, body) in [
        ("state in the request", with_state),
        (
            "messages in the request",
            play.next_body(&[], &json!({"state": null, "resume": [entry]})),
        ),
        (
            "a value against its schema",
            alone(play, &with(json!({"token": [canary]}))),
        ),
        (
            "a missing value",
            alone(play, &with(json!({"other": canary}))),
        ),
    ] {
        let run = play.post(&body).await?;
        play.check(run.is_refused(), format!("{what}: {}", run.ending()));
        runs.push(run);
    }
    play.expect_executions(0);
    Ok(runs)
}

/// The value is taken once, delivered once, and the model hears only what was declared.
async fn takes_private(play: &mut Play, entry: &Value, canary: &str) -> Step<[Run; 2]> {
    let run = play.post(&alone(play, entry)).await?;
    play.expect_success(&run, "the private answer", Some("All set."));
    let again = play.post_again(&alone(play, entry)).await?;
    let fair = again.status == 409 || again.terminal().is_some();
    play.check(fair, format!("the same answer again: {}", again.ending()));
    let executions = play.stage.provider.executions();
    let once = executions.len() == 1
        && executions
            .iter()
            .all(|e| e.args == json!({"token": canary}));
    play.check(
        once,
        format!("delivered {} times, expected once", executions.len()),
    );
    play.expect_model_requests(2);
    let requests = play.stage.provider.requests();
    let told = requests
        .last()
        .map(|r| r.results_of("pi1"))
        .unwrap_or_default();
    let declared = told.len() == 1 && told.iter().all(|text| text.contains("connected"));
    play.check(
        declared,
        format!("the model was told {told:?}, expected the declared response"),
    );
    Ok([run, again])
}

/// Looks for a private value in every place where it must not be.
fn no_leak(play: &mut Play, runs: &[Run], canary: &str) {
    let mut places = Vec::new();
    if runs.iter().any(|run| run.text_body().contains(canary)) {
        places.push("a response".to_owned());
    }
    if play
        .stage
        .provider
        .requests()
        .iter()
        .any(|r| r.mentions(canary))
    {
        places.push("a model request".to_owned());
    }
    if play.stage.server.stderr().contains(canary) {
        places.push("the log".to_owned());
    }
    for file in files(play.stage.home.path()) {
        let raw = std::fs::read(&file).unwrap_or_default();
        if raw.windows(canary.len()).any(|w| w == canary.as_bytes()) {
            places.push(file.display().to_string());
        }
    }
    for place in places {
        play.bad(format!("the private value is in {place}"));
    }
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| path.is_file()).collect()
}

pub(super) async fn external_wait(play: &mut Play) -> Step {
    let turn = calls(&[Call::new("x1", "verify_identity", &json!({"name": "Ann"}))]);
    play.stage.provider.turns(vec![turn, text("All set.")]);
    play.headers = vec![bearer("alice-token")];
    let body = play.body(&json!({}));
    let run = play.post(&body).await?;
    let note = run
        .custom("harnest.external_wait")
        .cloned()
        .unwrap_or_default();
    let (response, action) = (
        member(&note, "responseId").to_owned(),
        note["pendingAction"].clone(),
    );
    need(
        !response.is_empty() && action["id"].is_string(),
        format!("{}: external_wait is {note}", run.ending()),
    )?;
    let result = run
        .first("RUN_FINISHED")
        .map(|e| e.value["result"].clone())
        .unwrap_or_default();
    let told = result["status"] == "in_progress" && result["responseId"] == *response;
    play.check(told, format!("RUN_FINISHED.result {result}"));
    play.check(
        run.interrupts().is_empty(),
        "an external wait is no interrupt",
    );
    play.check(
        note["sessionId"] == *play.thread,
        format!("sessionId {}", note["sessionId"]),
    );
    play.check(
        action["capability"] == "kyc.verify",
        format!("pendingAction {action}"),
    );
    play.expect_executions(1);
    let poll = format!("/responses/{response}?sessionId={}", play.thread);
    refuses_others(play, &poll, &action).await?;
    settles_once(play, &poll, &action).await?;
    play.open().await?;
    let said = play.held.last_text().map(str::to_owned);
    play.check(
        said.as_deref() == Some("All set."),
        format!("the opened thread ends with {said:?}"),
    );
    Ok(())
}

/// Nobody but the service settles the wait, and only its owner sees it.
async fn refuses_others(play: &mut Play, poll: &str, action: &Value) -> Step {
    let answer = play.get(poll).await?;
    let waits = answer.status == 200 && answer.json()["status"] == "in_progress";
    play.check(
        waits,
        format!("poll: HTTP {} {}", answer.status, answer.text()),
    );
    let other = as_user(play, "bob-token", Request::get(poll)).await?;
    play.check(
        other.status == 404,
        format!("another user's poll: HTTP {}", other.status),
    );
    let service = as_user(play, "worker-token", Request::get(poll)).await?;
    play.check(
        matches!(service.status, 401 | 403 | 404),
        format!("the service's poll: HTTP {}", service.status),
    );
    let busy = play.say("hello?").await?;
    play.check(
        busy.status == 409,
        format!("new input during the wait: {}", busy.ending()),
    );
    let forged =
        json!({"interruptId": action["id"], "status": "resolved", "payload": {"ok": true}});
    let forged = play.resume(&[forged]).await?;
    play.check(
        forged.is_refused(),
        format!("a client's own answer: {}", forged.ending()),
    );
    nobody_else_completes(play, action).await
}

async fn nobody_else_completes(play: &mut Play, action: &Value) -> Step {
    let complete = format!("/external-waits/{}/complete", member(action, "id"));
    let body = json!({"result": {"forged": true}});
    let owner = play.fetch(Request::post(&complete, &body)).await?;
    let other = as_user(play, "bob-token", Request::post(&complete, &body)).await?;
    let nobody = play
        .stage
        .server
        .fetch(&Request::post(&complete, &body))
        .await?;
    for (who, answer) in [
        ("the owner", owner),
        ("another user", other),
        ("nobody", nobody),
    ] {
        let refused = matches!(answer.status, 401 | 403 | 404);
        play.check(
            refused,
            format!("{who} completed the wait: HTTP {}", answer.status),
        );
    }
    play.expect_model_requests(1);
    Ok(())
}

/// The service completes the wait; nothing changes that any more.
async fn settles_once(play: &mut Play, poll: &str, action: &Value) -> Step {
    let path = |end: &str| format!("/external-waits/{}/{end}", member(action, "id"));
    let done = Request::post(
        &path("complete"),
        &json!({"result": {"verified": "level-7"}}),
    );
    let first = as_user(play, "worker-token", done.clone()).await?;
    play.check(
        (200..300).contains(&first.status),
        format!("completion: HTTP {} {}", first.status, first.text()),
    );
    let again = as_user(play, "worker-token", done).await?;
    let fair = (200..300).contains(&again.status) || again.status == 409;
    play.check(
        fair,
        format!("the same completion again: HTTP {}", again.status),
    );
    let late = Request::post(
        &path("fail"),
        &json!({"code": "late", "message": "too late"}),
    );
    let late = as_user(play, "worker-token", late).await?;
    play.check(
        late.status == 409,
        format!("fail after complete: HTTP {}", late.status),
    );
    let end = play
        .until(poll, "the end of the wait", |a| {
            a.json()["status"] != "in_progress"
        })
        .await?;
    let whole = end.json()["status"] == "completed" && end.text().contains("All set.");
    play.check(whole, format!("the poll at the end: {}", end.text()));
    play.expect_model_requests(2);
    let told = play
        .stage
        .provider
        .requests()
        .last()
        .is_some_and(|r| r.mentions("level-7"));
    play.check(told, "the model did not get the result of the wait");
    Ok(())
}

fn bearer(token: &str) -> (String, String) {
    ("Authorization".to_owned(), format!("Bearer {token}"))
}

async fn as_user(play: &Play, token: &str, request: Request) -> Step<Answer> {
    let (name, value) = bearer(token);
    Ok(play
        .stage
        .server
        .fetch(&request.header(&name, &value))
        .await?)
}
