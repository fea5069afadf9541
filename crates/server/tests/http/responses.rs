//! Turns for clients that speak no AG-UI.

use std::sync::Arc;
use std::time::Duration;

use antiphon_agent::clock::SystemClock;
use antiphon_agent::store::MemoryStore;
use antiphon_agent::{Agent, Approval, History, Limits, OnDisconnect};
use antiphon_server::Server;
use serde_json::{Value, json};

use crate::support::client::kinds;
use crate::support::model::{Parrot, puppet};
use crate::support::script::{Effects, desk};
use crate::support::{Running, agent, input, until};

async fn desk_server() -> Running {
    Running::start(Server::new([desk(
        &Effects::default(),
        Approval::default(),
    )]))
    .await
}

async fn turn(server: &Running, body: Value) -> Value {
    let mut answer = server.post("/responses", &body).await;
    let receipt = answer.json().await;
    assert_eq!(answer.status, 200, "{receipt}");
    receipt
}

async fn shown(server: &Running, receipt: &Value) -> Value {
    let [id, session] = ["id", "sessionId"].map(|member| receipt[member].as_str().unwrap());
    let path = format!("/responses/{id}?sessionId={session}");
    let mut answer = server.get(&path).await;
    assert_eq!(answer.status, 200);
    answer.json().await
}

#[tokio::test]
async fn a_turn_is_answered_whole_and_can_be_asked_for_again() {
    let server = desk_server().await;
    let metadata = json!({ "ticket": 7 });
    let receipt = turn(&server, json!({ "input": "hello", "metadata": metadata })).await;
    assert_eq!(receipt["status"], "completed");
    assert_eq!(receipt["agent"], "desk");
    assert_eq!(receipt["outputText"], "You said hello.");
    let said = json!([{ "type": "output_text", "text": "You said hello." }]);
    assert_eq!(
        receipt["output"],
        json!([{ "type": "message", "role": "assistant", "content": said }])
    );
    assert_eq!(receipt["metadata"], metadata);
    let usage = &receipt["usage"];
    let count = |member: &str| usage[member].as_u64().unwrap();
    assert!(count("outputTokens") > 0);
    assert_eq!(
        count("totalTokens"),
        count("inputTokens") + count("outputTokens")
    );
    assert_eq!(shown(&server, &receipt).await, receipt);
    let path = format!("/sessions/{}", receipt["sessionId"].as_str().unwrap());
    assert_eq!(server.get(&path).await.status, 200);
}

#[tokio::test]
async fn reasoning_calls_and_results_are_items_in_order() {
    let server = desk_server().await;
    let receipt = turn(&server, json!({ "input": "look outside" })).await;
    let items = receipt["output"].as_array().unwrap();
    let kinds: Vec<&str> = items
        .iter()
        .map(|item| item["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["thinking", "message", "tool_call", "tool_result", "message"]
    );
    assert_eq!(
        items[2],
        json!({ "type": "tool_call", "id": "l1", "name": "look", "arguments": {} })
    );
    assert_eq!(
        items[3],
        json!({ "type": "tool_result", "callId": "l1", "output": "it rains", "name": "look" })
    );
    assert_eq!(receipt["outputText"], "Let me see.\n\nAll set: it rains");
    assert_eq!(shown(&server, &receipt).await, receipt);
}

#[tokio::test]
async fn a_session_goes_on_and_each_response_keeps_its_own_words() {
    let server = desk_server().await;
    let made = server.post("/sessions", &json!({ "id": "s1" })).await;
    assert_eq!(made.status, 201);
    let body = |text: &str| json!({ "input": text, "sessionId": "s1", "agent": "desk" });
    let first = turn(&server, body("one")).await;
    let parts = json!([{ "type": "text", "text": "two" }]);
    let second = turn(&server, json!({ "input": parts, "sessionId": "s1" })).await;
    assert_eq!(second["outputText"], "You said two.");
    assert_ne!(first["id"], second["id"]);
    assert_eq!(shown(&server, &first).await, first);
    assert_eq!(shown(&server, &second).await, second);
    let mut messages = server.get("/sessions/s1/messages").await;
    assert_eq!(
        messages.json().await["messages"].as_array().unwrap().len(),
        4
    );
}

#[tokio::test]
async fn what_was_said_again_is_not_what_an_earlier_response_said() {
    let server = desk_server().await;
    let first = turn(&server, json!({ "input": "one" })).await;
    let session = first["sessionId"].as_str().unwrap();
    let mut messages = server.get(&format!("/sessions/{session}/messages")).await;
    let asked = messages.json().await["messages"][0].take();
    let mut again = input(session, "again", "");
    again["messages"] = json!([{ "id": asked["id"], "role": "user", "content": "other" }]);
    server.post("/", &again).await.events().await;
    let shown = shown(&server, &first).await;
    assert_eq!(shown["status"], "completed");
    assert_eq!(
        shown["output"],
        json!([]),
        "the thread does not have it any more"
    );
}

#[tokio::test]
async fn a_request_that_is_not_one_is_refused_and_leaves_nothing() {
    let server = desk_server().await;
    for (body, field) in [
        (json!({}), "input"),
        (json!({ "input": "" }), "input"),
        (json!({ "input": "  " }), "input"),
        (json!({ "input": [] }), "input"),
        (json!({ "input": 7 }), "input"),
        (json!({ "input": [{ "type": "text" }] }), "input[0].text"),
        (json!({ "input": "x", "stream": "yes" }), "stream"),
        (json!({ "input": "x", "metadata": [] }), "metadata"),
        (json!({ "input": "x", "agent": 7 }), "agent"),
        (json!({ "input": "x", "sessionId": 7 }), "sessionId"),
        (json!({ "input": "x", "messages": [] }), "messages"),
    ] {
        let mut answer = server.post("/responses", &body).await;
        let error = answer.refusal(400, "invalid_input").await;
        assert_eq!(error["field"], field, "{body}");
    }
    for body in [
        json!({ "input": "x", "sessionId": "nowhere" }),
        json!({ "input": "x", "agent": "nobody" }),
    ] {
        let mut answer = server.post("/responses", &body).await;
        answer.refusal(404, "not_found").await;
    }
    let plain = [("content-type", "text/plain")];
    let mut answer = server
        .post_with("/responses", &json!({ "input": "x" }), &plain)
        .await;
    answer.refusal(415, "unsupported_media_type").await;
    let mut sessions = server.get("/sessions").await;
    assert_eq!(sessions.json().await["sessions"], json!([]));
}

#[tokio::test]
async fn a_response_is_asked_for_within_its_session() {
    let server = desk_server().await;
    let receipt = turn(&server, json!({ "input": "hello" })).await;
    let id = receipt["id"].as_str().unwrap();
    for query in ["", "?sessionId=", "?sessionId=%20"] {
        let mut answer = server.get(&format!("/responses/{id}{query}")).await;
        let error = answer.refusal(400, "invalid_query").await;
        assert_eq!(error["field"], "sessionId");
    }
    let mut elsewhere = server
        .get(&format!("/responses/{id}?sessionId=other"))
        .await;
    let mut unknown = server.get("/responses/resp_0?sessionId=other").await;
    elsewhere.refusal(404, "not_found").await;
    unknown.refusal(404, "not_found").await;
}

#[tokio::test]
async fn a_streamed_turn_tells_itself_in_order() {
    let server = desk_server().await;
    let body = json!({ "input": "look outside", "stream": true });
    let mut answer = server.post("/responses", &body).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), "text/event-stream");
    assert_eq!(answer.header("cache-control"), "no-cache, no-transform");
    assert_eq!(answer.header("x-accel-buffering"), "no");
    let events = answer.events().await;
    let mut told = kinds(&events);
    told.dedup();
    assert_eq!(
        told,
        [
            "response.created",
            "response.thinking.delta",
            "response.text.delta",
            "response.tool_call",
            "response.tool_result",
            "response.text.delta",
            "response.completed",
        ]
    );
    let last = events.last().unwrap();
    for (index, event) in events.iter().enumerate() {
        assert!(event.raw.starts_with(&format!("event: {}\n", event.kind())));
        assert_eq!(event["sequence"], index);
        assert_eq!(event["responseId"], last["id"]);
        assert_eq!(event["sessionId"], last["sessionId"]);
    }
    let said: String = events
        .iter()
        .filter(|event| event.kind() == "response.text.delta")
        .map(|event| event["delta"].as_str().unwrap())
        .collect();
    assert_eq!(said, "Let me see.All set: it rains");
    let call = events
        .iter()
        .find(|event| event.kind() == "response.tool_call")
        .unwrap();
    assert_eq!((&call["id"], &call["name"]), (&json!("l1"), &json!("look")));
    let receipt = shown(&server, &last.data).await;
    for (member, value) in receipt.as_object().unwrap() {
        assert_eq!(&last[member.as_str()], value, "{member}");
    }
}

#[tokio::test]
async fn a_stream_begins_before_the_model_says_anything_and_shows_signs_of_life() {
    let (model, strings) = puppet();
    let server = Server::new([agent(model)]).heartbeat(Duration::from_millis(20));
    let server = Running::start(server).await;
    let body = json!({ "input": "hi", "stream": true });
    let mut answer = server.post("/responses", &body).await;
    let created = answer.next().await.unwrap();
    assert_eq!(created.kind(), "response.created");
    assert_eq!(created["status"], "in_progress");
    assert_eq!(answer.block().await.unwrap(), ": keep-alive\n\n");
    let path = format!(
        "/responses/{}?sessionId={}",
        created["responseId"].as_str().unwrap(),
        created["sessionId"].as_str().unwrap()
    );
    let meanwhile = server.get(&path).await.json().await;
    assert_eq!(meanwhile["status"], "in_progress");
    assert_eq!(
        (&meanwhile["output"], &meanwhile["outputText"]),
        (&json!([]), &json!(""))
    );
    let call = strings.call().await;
    call.say("Hello");
    call.finish();
    assert_eq!(
        answer.events().await.last().unwrap().kind(),
        "response.completed"
    );
}

#[tokio::test]
async fn a_busy_session_takes_no_second_turn() {
    let (model, strings) = puppet();
    let server = Running::start(Server::new([agent(model)])).await;
    let body = json!({ "input": "hi", "stream": true });
    let mut first = server.post("/responses", &body).await;
    let created = first.next().await.unwrap();
    let body = json!({ "input": "and?", "sessionId": created["sessionId"] });
    let mut second = server.post("/responses", &body).await;
    let error = second.refusal(409, "thread_busy").await;
    assert!(error["runId"].is_string());
    strings.call().await.finish();
    first.events().await;
}

#[tokio::test]
async fn a_failure_has_a_status_a_code_and_a_response() {
    let server = desk_server().await;
    let mut answer = server
        .post("/responses", &json!({ "input": "break it" }))
        .await;
    let failed = answer.json().await;
    assert_eq!(answer.status, 502, "{failed}");
    assert_eq!(failed["status"], "failed");
    assert_eq!(failed["error"]["code"], "upstream_unavailable");
    assert_eq!(failed["detail"], failed["error"]["message"]);
    let shown = shown(&server, &failed).await;
    assert_eq!(shown["status"], "failed");
    assert_eq!(shown["error"], failed["error"]);

    let body = json!({ "input": "break it", "stream": true });
    let events = server.post("/responses", &body).await.events().await;
    let last = events.last().unwrap();
    assert_eq!(last.kind(), "error");
    assert_eq!(last["error"]["code"], "upstream_unavailable");
    assert_eq!(last["response"]["status"], "failed");
}

#[tokio::test]
async fn a_turn_that_takes_too_long_is_a_timeout() {
    let (model, _strings) = puppet();
    let limits = Limits {
        time: Duration::from_millis(50),
        ..Limits::default()
    };
    let server = Running::start(Server::new([agent(model).limits(limits)])).await;
    let mut answer = server.post("/responses", &json!({ "input": "hi" })).await;
    let failed = answer.json().await;
    assert_eq!(answer.status, 504, "{failed}");
    assert_eq!(failed["error"]["code"], "timeout");
}

#[tokio::test]
async fn a_client_that_leaves_cancels_its_turn_or_lets_it_go_on() {
    for (leaving, status) in [
        (OnDisconnect::Cancel, "cancelled"),
        (OnDisconnect::Detach, "completed"),
    ] {
        let (model, strings) = puppet();
        let agent = agent(model).on_disconnect(leaving);
        let server = Running::start(Server::new([agent])).await;
        let body = json!({ "input": "hi", "stream": true });
        let mut answer = server.post("/responses", &body).await;
        let created = answer.next().await.unwrap();
        let receipt = json!({ "id": created["responseId"], "sessionId": created["sessionId"] });
        let call = strings.call().await;
        call.say("Hel");
        answer.next().await.unwrap();
        drop(answer);
        match leaving {
            OnDisconnect::Cancel => call.dropped().await,
            OnDisconnect::Detach => call.finish(),
        }
        until(status, async || {
            shown(&server, &receipt).await["status"] == status
        })
        .await;
        assert_eq!(shown(&server, &receipt).await["outputText"], "Hel");
    }
}

#[tokio::test]
async fn a_client_that_waits_for_the_whole_answer_can_leave_too() {
    let (model, strings) = puppet();
    let server = Running::start(Server::new([agent(model)])).await;
    let body = json!({ "input": "hi" });
    let waiting = server.post("/responses", &body);
    let call = tokio::select! {
        _ = waiting => panic!("there is no answer yet"),
        call = strings.call() => call,
    };
    call.dropped().await;
}

#[tokio::test]
async fn another_server_on_the_same_store_knows_the_response() {
    let store = Arc::new(MemoryStore::new(Arc::new(SystemClock)));
    let server = || {
        let agent = desk(&Effects::default(), Approval::default());
        Running::start(Server::new([agent]).shared_store(store.clone()))
    };
    let first = server().await;
    let receipt = turn(&first, json!({ "input": "hello", "metadata": { "a": 1 } })).await;
    first.stopped().await;
    let second = server().await;
    assert_eq!(shown(&second, &receipt).await, receipt);
}

#[tokio::test]
async fn a_turn_of_an_agent_without_stored_threads_is_answered_from_its_events() {
    let stateless = Agent::new("stateless")
        .model(Parrot::new("Nothing is kept"))
        .history(History::Client);
    let server = Running::start(Server::new([stateless])).await;
    let receipt = turn(&server, json!({ "input": "hi" })).await;
    assert_eq!(receipt["outputText"], "Nothing is kept");
    let events = server
        .post("/responses", &json!({ "input": "hi", "stream": true }))
        .await
        .events()
        .await;
    assert_eq!(events.last().unwrap()["outputText"], "Nothing is kept");
}

#[tokio::test]
async fn a_run_over_ag_ui_is_a_response_too() {
    let server = desk_server().await;
    server
        .post("/", &input("t1", "r1", "pay"))
        .await
        .events()
        .await;
    let mut interactions = server.get("/sessions/t1/interactions").await;
    let open = interactions.json().await["open"][0].take();
    let receipt = json!({ "id": open["responseId"], "sessionId": "t1" });
    let shown = shown(&server, &receipt).await;
    assert_eq!(shown["status"], "requires_action");
    assert_eq!(shown["requiredAction"]["id"], open["id"]);
}
