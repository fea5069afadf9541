//! What an answer leads to: edited arguments, a decline that stops, two resumes for one call,
//! predictions that come true or are taken back, and the record of it all.

use antiphon_e2e::{
    binary::Store,
    http::Request,
    json::{list, text as member},
    play::{Play, Step},
    provider::chunks::Call,
};
use serde_json::{Value, json};

use super::stage::{
    INVALID, PENDING, SETTLED, alice, alice_on, asked, bearer, calls_for_go, decisions, entry,
    open_ids, pay, payment, refused, refused_request, resume, setting, told, waiting,
};

fn yes() -> Value {
    json!({"payload": {"approved": true}})
}

fn no() -> Value {
    json!({"payload": {"approved": false}})
}

/// The decisions of the thread, whole.
async fn record(play: &Play) -> Step<Vec<Value>> {
    let path = format!("/sessions/{}/interactions", play.thread);
    Ok(list(&play.get(&path).await?.json(), "decisions").to_vec())
}

/// A yes with other arguments.
fn edit(play: &Play, edits: &Value) -> Value {
    let payload = json!({"approved": true, "editedArgs": edits});
    resume(play, &[entry(play, 0, &json!({ "payload": payload }))])
}

/// Alice's thread with a payment that may be edited.
async fn editable() -> Step<Play> {
    let mut tool = pay();
    tool["approval"] = json!({"edits": true});
    tool["parameters"]["additionalProperties"] = json!(false);
    let mut play = alice(json!({"tools": [tool]})).await?;
    // What runs is not what the model streamed; the record says so.
    play.executions_are_streamed = false;
    calls_for_go(&play, vec![payment("c1", 5)]);
    asked(&mut play).await?;
    let schema = play
        .open
        .first()
        .map(|i| i["responseSchema"].clone())
        .unwrap_or_default();
    let offered = schema["properties"]["editedArgs"]["properties"]["eur"].is_object();
    play.check(offered, format!("the question offers no edits: {schema}"));
    Ok(play)
}

#[tokio::test]
async fn edited_arguments_replace_the_models_whole_and_are_recorded() -> Step {
    let mut play = editable().await?;
    for edits in [
        json!({"eur": "7"}),
        json!({}),
        json!({"eur": 7, "to": "me"}),
        json!("{\"eur\":7}x"),
        json!([7]),
        json!(null),
    ] {
        let body = edit(&play, &edits);
        refused(&mut play, &format!("the edits {edits}"), &body, INVALID).await?;
    }
    let body = edit(&play, &json!({"eur": 7}));
    let run = play.post(&body).await?;
    play.expect_success(&run, "the edited answer", Some("All set."));
    let executions = play.stage.provider.executions();
    let ran: Vec<_> = executions.iter().map(|e| e.args.clone()).collect();
    play.check(ran == [json!({"eur": 7})], format!("{ran:?} ran"));
    let record = record(&play).await?;
    let approved = record.iter().find(|d| d["decision"] == "approved").cloned();
    let approved = approved.unwrap_or_default();
    let kept = approved["editedArguments"] == json!({"eur": 7})
        && approved["by"] == "alice"
        && member(&approved, "argumentsHash").len() == 64
        && approved["at"].is_string();
    play.check(kept, format!("the record: {record:?}"));
    let executed = record.iter().find(|d| d["decision"] == "executed");
    play.check(
        executed.is_some_and(|d| d["outcome"] == "done"),
        format!("the record: {record:?}"),
    );
    let body = edit(&play, &json!({"eur": 8}));
    refused(&mut play, "other edits later", &body, SETTLED).await?;
    play.end().await
}

#[tokio::test]
async fn a_decline_stops_the_run_where_the_agent_says_so() -> Step {
    let mut play = alice(json!({"on_decline": "stop", "tools": [pay()]})).await?;
    calls_for_go(&play, vec![payment("c1", 5), payment("c2", 6)]);
    asked(&mut play).await?;
    let body = resume(&play, &[entry(&play, 0, &no()), entry(&play, 1, &no())]);
    let run = play.post(&body).await?;
    let code = run.error_code();
    play.check(code.as_deref() == Some("approval_declined"), run.ending());
    play.expect_executions(0);
    play.expect_model_requests(1);
    let run = play.say("something else").await?;
    play.expect_success(&run, "new words", Some("Noted."));
    let told = told(&play, "c1");
    play.check(
        told.contains("declined"),
        format!("the model was told {told:?}"),
    );
    play.turn_to("thread-2");
    asked(&mut play).await?;
    let body = resume(&play, &[entry(&play, 0, &yes()), entry(&play, 1, &yes())]);
    let run = play.post(&body).await?;
    play.expect_success(&run, "the approved calls", Some("All set."));
    play.expect_executions(2);
    play.end().await
}

#[tokio::test]
async fn an_approval_of_a_pages_tool_takes_two_resumes() -> Step {
    let tool = json!({"name": "print", "kind": "client", "approval": true});
    let mut play = alice(json!({"tools": [tool]})).await?;
    calls_for_go(&play, vec![Call::new("c1", "print", &json!({}))]);
    let body = play.body(&json!({}));
    let first = play.post(&body).await?;
    play.check(first.outcome() == Some("interrupt"), first.ending());
    let early = first.custom("harnest.client_tool").is_some();
    play.check(!early, "the page is asked before the person");
    let result = json!({"id": "t1", "role": "tool", "toolCallId": "c1", "content": "printed"});
    let body = play.next_body(std::slice::from_ref(&result), &json!({}));
    refused(&mut play, "a result before its approval", &body, PENDING).await?;
    let body = resume(&play, &[entry(&play, 0, &yes())]);
    let second = play.post(&body).await?;
    let asks = second
        .custom("harnest.client_tool")
        .cloned()
        .unwrap_or_default();
    let fair = second.interrupts().is_empty() && asks["toolCallId"] == "c1";
    play.check(
        fair,
        format!("{}, the page is asked {asks}", second.ending()),
    );
    play.expect_model_requests(1);
    let body = play.next_body(&[result], &json!({}));
    let third = play.post(&body).await?;
    play.expect_success(&third, "the result", Some("All set."));
    // A decline ends it without the page.
    play.turn_to("thread-2");
    asked(&mut play).await?;
    let body = resume(&play, &[entry(&play, 0, &no())]);
    let run = play.post(&body).await?;
    play.expect_success(&run, "the decline", Some("All set."));
    let asks = run.custom("harnest.client_tool").is_some();
    play.check(!asks, "the page is asked for a declined call");
    play.end().await
}

/// An agent whose two tools write one key of the state each, once a person agrees.
fn predicting() -> Value {
    let string = json!({"type": "string"});
    let tool = |name: &str| json!({"name": name, "returns": "written", "parameters": {"type": "object", "properties": {"text": string}}});
    json!({
        "tools": [tool("write_title"), tool("write_body")],
        "state": {
            "schema": {"title": string, "body": string},
            "initial": {"title": "old title", "body": "old body"},
            "inject": false,
            "require_confirmation": true,
            "predict": [
                {"state_key": "title", "tool": "write_title", "tool_argument": "text"},
                {"state_key": "body", "tool": "write_body", "tool_argument": "text"},
            ],
        },
    })
}

/// A turn with two predicting calls, answered with yes and no in this order.
async fn confirmed(first: bool, same_key: bool) -> Step {
    let (second, key) = if same_key {
        ("write_title", "title")
    } else {
        ("write_body", "body")
    };
    let mut play = alice(predicting()).await?;
    let made = vec![
        Call::new("c1", "write_title", &json!({"text": "one"})),
        Call::new("c2", second, &json!({"text": "two"})),
    ];
    calls_for_go(&play, made);
    let before = json!({"title": "old title", "body": "old body"});
    let body = play.body(&json!({"state": before}));
    let run = play.post(&body).await?;
    play.check(
        run.interrupts().len() == 2,
        format!("asked: {}", run.ending()),
    );
    play.check(
        play.held.state[key] == "two",
        format!("predicted: {}", play.held.state),
    );
    play.expect_executions(0);
    let word = |approved: bool| json!({"payload": {"approved": approved}});
    let answers = [
        entry(&play, 0, &word(first)),
        entry(&play, 1, &word(!first)),
    ];
    let body = resume(&play, &answers);
    let run = play.post(&body).await?;
    play.expect_success(&run, "the answers", Some("All set."));
    let mut expected = before;
    expected[if first { "title" } else { key }] = json!(if first { "one" } else { "two" });
    let text = format!(
        "first approved {first}, same key {same_key}: {} instead of {expected}",
        play.held.state
    );
    play.check(play.held.state == expected, text);
    play.expect_executions(1);
    play.end().await
}

#[tokio::test]
async fn of_two_confirmed_predictions_exactly_the_approved_one_comes_true() -> Step {
    for first in [true, false] {
        for same_key in [false, true] {
            confirmed(first, same_key).await?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn the_approval_route_answers_like_a_resume() -> Step {
    for (word, contrary, executed) in [("approve", "deny", 1), ("deny", "approve", 0)] {
        let mut play = waiting().await?;
        play.executions_are_streamed = false;
        let id = open_ids(&play).await?.concat();
        let request =
            |word: &str| Request::post(&format!("/approvals/{id}"), &json!({"decision": word}));
        let receipt = play.fetch(request(word)).await?;
        play.check(receipt.status == 200, format!("{word}: {}", receipt.text()));
        play.expect_executions(executed);
        let again = play.fetch(request(word)).await?;
        play.check(
            again.status == 200,
            format!("{word} again: {}", again.text()),
        );
        let (name, alice) = bearer("alice-token");
        let other = request(contrary).header(&name, &alice);
        refused_request(&mut play, contrary, &other, SETTLED).await?;
        // The same by AG-UI is the same answer.
        let answer = if word == "approve" { yes() } else { no() };
        let body = resume(&play, &[entry(&play, 0, &answer)]);
        let run = play.post_again(&body).await?;
        play.expect_success(&run, "the same by AG-UI", None);
        play.expect_executions(executed);
        play.open().await?;
        play.end().await?;
    }
    Ok(())
}

#[tokio::test]
async fn routes_answer_several_one_after_the_other() -> Step {
    let mut play = alice(json!({"tools": [pay()]})).await?;
    calls_for_go(&play, vec![payment("c1", 1), payment("c2", 2)]);
    asked(&mut play).await?;
    let (name, alice) = bearer("alice-token");
    for (decision, status, left) in [("approve", "requires_action", 1), ("deny", "denied", 0)] {
        let id = open_ids(&play).await?.first().cloned().unwrap_or_default();
        let body = json!({"decision": decision});
        let request = Request::post(&format!("/approvals/{id}"), &body).header(&name, &alice);
        let answer = play.stage.server.fetch(&request).await?;
        let told = answer.json();
        play.check(
            answer.status == 200 && told["status"] == status,
            format!("{decision}: HTTP {} {told}", answer.status),
        );
        let open = open_ids(&play).await?;
        play.check(
            open.len() == left,
            format!("after {decision} {open:?} is open"),
        );
    }
    play.expect_executions(1);
    play.end().await
}

#[tokio::test]
async fn a11_the_record_of_decisions_outlives_a_restart() -> Step {
    let mut play = alice_on(
        json!({"tools": [pay()]}),
        setting(Store::Sqlite, &json!({})),
    )
    .await?;
    calls_for_go(&play, vec![payment("c1", 1), payment("c2", 2)]);
    asked(&mut play).await?;
    let body = resume(&play, &[entry(&play, 0, &yes()), entry(&play, 1, &no())]);
    let run = play.post(&body).await?;
    play.expect_success(&run, "the answers", Some("All set."));
    let before = record(&play).await?;
    let mut words = decisions(&play).await?;
    words.sort();
    let expected = [
        ("approved", "alice"),
        ("declined", "alice"),
        ("executed", ""),
    ];
    let expected = expected.map(|(word, by)| (word.to_owned(), by.to_owned()));
    play.check(words == expected, format!("the record is {words:?}"));
    play.stage.kill_and_restart().await?;
    let after = record(&play).await?;
    play.check(before == after, format!("{before:?} became {after:?}"));
    play.end().await
}
