//! Several things open at once, and answers that do not fit them; answers that were given before.

use antiphon_e2e::{
    binary::Store,
    json::list,
    play::{Play, Step},
    provider::{ModelRequest, chunks::Call},
    run::Run,
};
use serde_json::{Value, json};

use super::stage::{
    BAD_INPUT, INVALID, NO_CALL, NOT_ALONE, PENDING, SETTLED, UNFIT, alice, alice_on, approve_all,
    asked, calls_for_go, decisions, entry, pay, payment, refused, resume, setting, told, waiting,
};

fn yes() -> Value {
    json!({"payload": {"approved": true}})
}

/// Alice's thread with three payments and an ungated look-up in one turn.
async fn three() -> Step<Play> {
    let look_up = json!({"name": "look_up", "returns": "seen"});
    let mut play = alice(json!({"tools": [pay(), look_up]})).await?;
    let made = vec![
        payment("c1", 1),
        Call::new("c2", "look_up", &json!({})),
        payment("c3", 3),
        payment("c4", 4),
    ];
    calls_for_go(&play, made);
    asked(&mut play).await?;
    play.expect_executions(1);
    Ok(play)
}

/// The refusal names everything that is open.
fn names_open(play: &mut Play, run: &Run) {
    let named = run.json()["error"]["open"].clone();
    let open: Vec<_> = play.open.iter().map(|i| i["id"].clone()).collect();
    play.check(
        named == json!(open),
        format!("the open ids: {named}, expected {open:?}"),
    );
}

#[tokio::test]
async fn c7_a_resume_names_everything_that_is_open_exactly_once() -> Step {
    let mut play = three().await?;
    let [one, two, three] = [0, 1, 2].map(|at| entry(&play, at, &yes()));
    let mut unknown = one.clone();
    unknown["interruptId"] = json!("approval_unknown");
    for (what, entries) in [
        ("one of three", vec![one.clone()]),
        ("two of three", vec![three.clone(), one.clone()]),
        ("an unknown one", vec![unknown.clone()]),
        (
            "one too many",
            vec![one.clone(), two.clone(), three.clone(), unknown.clone()],
        ),
        (
            "an unknown one first",
            vec![unknown, one.clone(), two.clone(), three.clone()],
        ),
    ] {
        let body = resume(&play, &entries);
        let run = refused(&mut play, what, &body, PENDING).await?;
        names_open(&mut play, &run);
    }
    let declined = entry(&play, 0, &json!({"payload": {"approved": false}}));
    for (what, entries) in [
        (
            "one twice",
            vec![one.clone(), one.clone(), two.clone(), three.clone()],
        ),
        (
            "one both ways",
            vec![one.clone(), declined, two.clone(), three.clone()],
        ),
        (
            "one that is wrong",
            vec![
                one,
                two,
                entry(&play, 2, &json!({"payload": {"approved": 1}})),
            ],
        ),
    ] {
        let body = resume(&play, &entries);
        refused(&mut play, what, &body, INVALID).await?;
    }
    play.expect_executions(1);
    approve_all(&mut play).await?;
    play.expect_executions(4);
    play.end().await
}

#[tokio::test]
async fn c7_a_request_that_answers_nothing_leaves_everything_open() -> Step {
    let mut play = three().await?;
    let empty = json!([]);
    for (what, change) in [
        ("an empty resume", json!({ "resume": empty })),
        ("the history alone", json!({})),
    ] {
        let body = play.next_body(&[], &change);
        let codes = ["interaction_pending", "no_input"];
        let run = play.start(&body).await?;
        let run = play.finish_aside(run).await;
        let code = run.error_code().unwrap_or_default();
        let fair = run.is_refused() && codes.contains(&code.as_str());
        play.check(fair, format!("{what}: {}", run.ending()));
    }
    play.expect_executions(1);
    approve_all(&mut play).await?;
    play.expect_executions(4);
    play.end().await
}

#[tokio::test]
async fn c10_of_parallel_calls_exactly_the_approved_ones_run() -> Step {
    let mut play = three().await?;
    let no = entry(
        &play,
        1,
        &json!({"payload": {"approved": false, "reason": "too much"}}),
    );
    let gone = entry(&play, 2, &json!({"status": "cancelled"}));
    // The order of the entries is nothing.
    let entries = [gone, entry(&play, 0, &yes()), no];
    let body = resume(&play, &entries);
    let run = play.post(&body).await?;
    play.expect_success(&run, "the mixed answers", Some("All set."));
    let executions = play.stage.provider.executions();
    let ran: Vec<_> = executions
        .iter()
        .map(|e| (e.name.as_str(), &e.args["eur"]))
        .collect();
    let expected = [("look_up", &Value::Null), ("pay", &json!(1))];
    play.check(ran == expected, format!("{ran:?} ran"));
    let heard = play.stage.provider.requests();
    let heard = heard.last().map(ModelRequest::messages).unwrap_or_default();
    let order = heard.iter().flat_map(|m| &m.results);
    let order: Vec<_> = order.filter_map(|r| r.id.as_deref()).collect();
    let text = format!("the model heard results in the order {order:?}");
    play.check(order == ["c1", "c2", "c3", "c4"], text);
    for (call, says) in [
        ("c1", "paid"),
        ("c2", "seen"),
        ("c3", "too much"),
        ("c4", "cancelled"),
    ] {
        let told = told(&play, call);
        play.check(
            told.contains(says),
            format!("the model was told {told:?} about {call}"),
        );
    }
    let who = decisions(&play).await?;
    for word in ["approved", "declined", "cancelled"] {
        let count = who
            .iter()
            .filter(|(d, by)| d == word && by == "alice")
            .count();
        play.check(count == 1, format!("{word} in the record {who:?}"));
    }
    play.end().await
}

#[tokio::test]
async fn c9_new_words_wait_for_what_is_open() -> Step {
    let mut play = waiting().await?;
    let words = play.user("what time is it?");
    let body = play.next_body(std::slice::from_ref(&words), &json!({}));
    let run = refused(&mut play, "new words", &body, PENDING).await?;
    names_open(&mut play, &run);
    let only_new = play.body(&json!({"messages": [words], "state": null}));
    refused(&mut play, "new words alone", &only_new, PENDING).await?;
    let mut edited = play.next_body(&[], &json!({}));
    edited["messages"][0]["content"] = json!("stop");
    refused(&mut play, "an edited message", &edited, PENDING).await?;
    let two = [play.user("one"), play.user("two")];
    let cancelled = entry(&play, 0, &json!({"status": "cancelled"}));
    let body = play.next_body(&two, &json!({"resume": [cancelled]}));
    refused(&mut play, "two messages", &body, BAD_INPUT).await?;
    // Cancelled, then something else, in one request.
    let body = play.next_body(&[words], &json!({"resume": [cancelled]}));
    let run = play.post(&body).await?;
    play.expect_success(&run, "steering away", Some("Noted."));
    let heard = play.stage.provider.requests();
    let heard = heard.last().map(|r| (r.last_user(), r.ends_with_result()));
    let fair = heard == Some(("what time is it?".to_owned(), false));
    play.check(fair, format!("the model heard {heard:?} last"));
    play.expect_executions(0);
    play.end().await
}

#[tokio::test]
async fn c1_double_click_approve() -> Step {
    let mut play = alice_on(
        json!({"tools": [pay()]}),
        setting(Store::Sqlite, &json!({})),
    )
    .await?;
    calls_for_go(&play, vec![payment("c1", 5)]);
    asked(&mut play).await?;
    let answer = resume(&play, &[entry(&play, 0, &yes())]);
    let no = resume(
        &play,
        &[entry(&play, 0, &json!({"payload": {"approved": false}}))],
    );
    let gone = resume(&play, &[entry(&play, 0, &json!({"status": "cancelled"}))]);
    let run = play.post(&answer).await?;
    play.expect_success(&run, "the answer", Some("All set."));
    for restarted in [false, true] {
        if restarted {
            play.stage.kill_and_restart().await?;
        }
        let same = play.post_again(&answer).await?;
        play.expect_success(&same, "the same again", None);
        let mut other_id = answer.clone();
        other_id["runId"] = json!(play.new_run_id());
        let same = play.post_again(&other_id).await?;
        play.expect_success(&same, "the same under another run id", None);
        let shown = same
            .first("MESSAGES_SNAPSHOT")
            .map(|e| list(&e.value, "messages").len());
        let text = format!("the recorded outcome has {shown:?} messages");
        play.check(shown == Some(play.held.messages.len()), text);
        for (what, body) in [("no after yes", &no), ("cancelled after yes", &gone)] {
            let mut body = body.clone();
            body["runId"] = json!(play.new_run_id());
            refused(&mut play, what, &body, SETTLED).await?;
        }
    }
    play.expect_executions(1);
    play.expect_model_requests(2);
    play.end().await
}

#[tokio::test]
async fn c1_a_server_may_reject_what_is_said_twice() -> Step {
    let strict = setting(Store::Memory, &json!({"repeated_answers": "reject"}));
    let mut play = alice_on(json!({"tools": [pay()]}), strict).await?;
    calls_for_go(&play, vec![payment("c1", 5)]);
    asked(&mut play).await?;
    let body = resume(&play, &[entry(&play, 0, &yes())]);
    let run = play.post(&body).await?;
    play.expect_success(&run, "the answer", Some("All set."));
    refused(&mut play, "the same again", &body, SETTLED).await?;
    play.expect_executions(1);
    play.end().await
}

#[tokio::test]
async fn c11_a_page_cannot_answer_for_the_server() -> Step {
    let mut play = waiting().await?;
    let result = |id: &str, call: &str, content: &str| json!({"id": id, "role": "tool", "toolCallId": call, "content": content});
    let body = play.next_body(&[result("t1", "c1", "paid")], &json!({}));
    refused(&mut play, "a result for a gated call", &body, PENDING).await?;
    let body = play.next_body(&[result("t2", "c9", "paid")], &json!({}));
    let unknown = ["tool_call_unknown", "interaction_pending"];
    let run = play.start(&body).await?;
    let run = play.finish_aside(run).await;
    let code = run.error_code().unwrap_or_default();
    play.check(
        run.is_refused() && unknown.contains(&code.as_str()),
        run.text_body(),
    );
    approve_all(&mut play).await?;
    let body = play.next_body(&[result("t3", "c1", "not paid")], &json!({}));
    refused(
        &mut play,
        "another result for a call that is done",
        &body,
        SETTLED,
    )
    .await?;
    let body = play.next_body(&[result("t4", "c9", "paid")], &json!({}));
    let run = refused(&mut play, "a result for no call", &body, NO_CALL).await?;
    let hint = run.text_body().contains("history: client");
    play.check(
        hint,
        format!("the likely cause is not named: {}", run.text_body()),
    );
    play.expect_executions(1);
    play.end().await
}

/// Alice's thread that waits for the page's `pick`, and the request's own id.
async fn picking() -> Step<(Play, Value)> {
    let page = json!({"name": "pick", "kind": "client", "result": {"type": "object", "properties": {"color": {"type": "string"}}, "required": ["color"]}});
    let mut play = alice(json!({"tools": [page]})).await?;
    calls_for_go(&play, vec![Call::new("c1", "pick", &json!({}))]);
    let body = play.body(&json!({}));
    let run = play.post(&body).await?;
    let id = run.custom("harnest.client_tool").map(|c| c["id"].clone());
    Ok((play, id.unwrap_or_default()))
}

/// The page's answer as a tool message.
fn picked(play: &Play, content: &Value) -> Value {
    let id = format!("t-{}", play.new_run_id());
    let answer =
        json!({"id": id, "role": "tool", "toolCallId": "c1", "content": content.to_string()});
    play.next_body(&[answer], &json!({}))
}

/// The page's answer as a resume.
fn picked_by_id(play: &Play, id: &Value, payload: &Value) -> Value {
    resume(
        play,
        &[json!({"interruptId": id, "status": "resolved", "payload": payload})],
    )
}

#[tokio::test]
async fn c11_a_wrong_answer_of_the_page_leaves_its_call_open() -> Step {
    let (mut play, id) = picking().await?;
    for payload in [
        json!({"color": 7}),
        json!({"approved": true}),
        json!("teal"),
        json!(null),
    ] {
        let body = picked(&play, &payload);
        refused(&mut play, &format!("the result {payload}"), &body, UNFIT).await?;
        let body = picked_by_id(&play, &id, &payload);
        let codes = ["answer_unfit", "invalid_resume"];
        refused(
            &mut play,
            &format!("the payload {payload}"),
            &body,
            (400, &codes),
        )
        .await?;
    }
    let mut twice = picked(&play, &json!({"color": "red"}));
    let mut messages = list(&twice, "messages").to_vec();
    let mut again = messages.last().cloned().unwrap_or_default();
    again["id"] = json!("t-again");
    messages.push(again);
    twice["messages"] = json!(messages);
    refused(&mut play, "two results at once", &twice, BAD_INPUT).await?;
    let body = picked(&play, &json!({"color": "teal"}));
    let run = play.post(&body).await?;
    play.expect_success(&run, "the right answer", Some("All set."));
    play.expect_model_requests(2);
    play.end().await
}

#[tokio::test]
async fn c11_the_page_answers_its_own_call_once() -> Step {
    let (mut play, id) = picking().await?;
    let teal = picked_by_id(&play, &id, &json!({"color": "teal"}));
    let run = play.post(&teal).await?;
    play.expect_success(&run, "the answer", Some("All set."));
    let told = told(&play, "c1");
    play.check(
        told.contains("teal"),
        format!("the model was told {told:?}"),
    );
    let again = play.post_again(&teal).await?;
    play.expect_success(&again, "the same again", None);
    let body = picked(&play, &json!({"color": "red"}));
    refused(&mut play, "another result", &body, SETTLED).await?;
    let body = picked_by_id(&play, &id, &json!({"color": "red"}));
    refused(&mut play, "another by its id", &body, SETTLED).await?;
    play.expect_model_requests(2);
    play.end().await
}

/// Alice's thread that waits for a private token.
async fn logging_in() -> Step<Play> {
    let form = json!({"type": "object", "properties": {"token": {"type": "string"}}, "required": ["token"]});
    let tool = json!({"name": "log_in", "kind": "private_input", "responseSchema": form, "model_sees": "Logged in."});
    let mut play = alice(json!({"tools": [tool]})).await?;
    play.executions_are_streamed = false;
    calls_for_go(&play, vec![Call::new("c1", "log_in", &json!({}))]);
    asked(&mut play).await?;
    Ok(play)
}

#[tokio::test]
async fn v2_a_private_answer_comes_alone() -> Step {
    let mut play = logging_in().await?;
    let good = entry(&play, 0, &json!({"payload": {"token": "abc"}}));
    let alone = play.body(&json!({"messages": [], "state": null, "resume": [good]}));
    let mut state = alone.clone();
    state["state"] = json!({"a": 1});
    let full = resume(&play, &[good]);
    let mut full_with_words = full.clone();
    full_with_words["messages"] = json!([play.user("here")]);
    for (what, body) in [
        ("messages", &full),
        ("new words", &full_with_words),
        ("state", &state),
    ] {
        refused(&mut play, what, body, NOT_ALONE).await?;
    }
    for payload in [
        json!({"token": 1}),
        json!({}),
        json!("abc"),
        json!(null),
        json!([]),
    ] {
        let mut body = alone.clone();
        body["resume"][0]["payload"] = payload.clone();
        let codes = ["answer_unfit", "invalid_resume"];
        refused(&mut play, &payload.to_string(), &body, (400, &codes)).await?;
    }
    let answer =
        json!({"id": "t", "role": "tool", "toolCallId": "c1", "content": "{\"token\":\"abc\"}"});
    let body = play.next_body(&[answer], &json!({}));
    refused(&mut play, "a tool message", &body, PENDING).await?;
    play.expect_executions(0);
    // An empty state is none.
    let mut body = alone;
    body["state"] = json!({});
    let mut run = play.start(&body).await?;
    run.base.clone_from(&play.held);
    let run = play.finish(run).await;
    play.expect_success(&run, "the answer", Some("All set."));
    play.expect_executions(1);
    play.end().await
}
