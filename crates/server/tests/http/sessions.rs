//! Threads by their other name.

use std::sync::Arc;
use std::time::Duration;

use antiphon_agent::clock::SystemClock;
use antiphon_agent::store::MemoryStore;
use antiphon_agent::{
    Agent, Approval, BoxFuture, Handler, Limits, OnDisconnect, RunContext, Tool, ToolError,
    ToolOutput,
};
use antiphon_server::Server;
use http::Method;
use serde_json::{Value, json};

use crate::support::model::{Parrot, puppet};
use crate::support::{Running, agent, input, until};

async fn server() -> Running {
    Running::start(Server::new([agent(Parrot::new("Hello."))])).await
}

async fn send(
    server: &Running,
    method: Method,
    path: &str,
    body: Value,
) -> crate::support::client::Answer {
    let body = Some(body.to_string().into_bytes());
    server.send(method, path, &[], body).await
}

#[tokio::test]
async fn a_thread_that_ran_is_a_session_with_its_state_and_messages() {
    let server = server().await;
    let mut body = input("t1", "r1", "Tell me a story");
    body["state"] = json!({ "mood": "calm" });
    server.post("/", &body).await.events().await;

    let session = server.get("/sessions/t1").await.json().await;
    assert_eq!(session["id"], "t1");
    assert_eq!(session["userId"], "local");
    assert_eq!(session["state"], json!({ "mood": "calm" }));
    assert_eq!(session["applicationData"], json!({}));
    assert_eq!(session["metadata"]["title"], "Tell me a story");
    for member in ["createdAt", "updatedAt"] {
        let at: jiff::Timestamp = session[member].as_str().unwrap().parse().unwrap();
        assert!(at <= jiff::Timestamp::now());
    }
    let messages = server.get("/sessions/t1/messages").await.json().await;
    assert_eq!(
        (&messages["sessionId"], &messages["userId"]),
        (&json!("t1"), &json!("local"))
    );
    let said: Vec<_> = messages["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| {
            (
                message["role"].as_str().unwrap(),
                message["content"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(said, [("user", "Tell me a story"), ("assistant", "Hello.")]);
    let interactions = server.get("/sessions/t1/interactions").await.json().await;
    assert_eq!(
        interactions,
        json!({ "sessionId": "t1", "open": [], "decisions": [] })
    );
    for path in [
        "/sessions/zz",
        "/sessions/zz/messages",
        "/sessions/zz/interactions",
    ] {
        server.get(path).await.refusal(404, "not_found").await;
    }
}

#[tokio::test]
async fn sessions_and_messages_are_listed_in_pages() {
    let server = server().await;
    for n in 1..=5 {
        let body = input(&format!("t{n}"), "r1", "hi");
        server.post("/", &body).await.events().await;
    }
    let mut path = "/sessions?limit=2".to_owned();
    let mut seen = Vec::new();
    loop {
        let page = server.get(&path).await.json().await;
        let sessions = page["sessions"].as_array().unwrap().clone();
        assert!(sessions.len() <= 2);
        seen.extend(
            sessions
                .iter()
                .map(|session| session["id"].as_str().unwrap().to_owned()),
        );
        match page["nextCursor"].as_str() {
            Some(cursor) => path = format!("/sessions?limit=2&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(
        seen,
        ["t5", "t4", "t3", "t2", "t1"],
        "the one changed last comes first"
    );

    let page = server
        .get("/sessions/t1/messages?limit=1")
        .await
        .json()
        .await;
    assert_eq!(page["messages"][0]["role"], "user");
    let cursor = page["nextCursor"].as_str().unwrap();
    let path = format!("/sessions/t1/messages?limit=1&cursor={cursor}");
    let page = server.get(&path).await.json().await;
    assert_eq!(page["messages"][0]["role"], "assistant");
    assert_eq!(page["nextCursor"], Value::Null);

    let between = "limit must be between 1 and 100";
    let foreign = "the cursor does not belong to this list";
    for (query, field, message) in [
        ("limit=0", "limit", between),
        ("limit=101", "limit", between),
        ("limit=x", "limit", between),
        ("limit=", "limit", between),
        ("limit=-1", "limit", between),
        ("limit=99999999999999999999", "limit", between),
        ("cursor=nonsense", "cursor", foreign),
        (&format!("cursor={cursor}"), "cursor", foreign),
        ("a=1&a=2&limit=1&limi%74=2", "limit", "limit is given twice"),
        ("cursor=x&cursor=x", "cursor", "cursor is given twice"),
    ] {
        for path in ["/sessions", "/sessions/t1/messages", "/copilotkit/threads"] {
            if path != "/sessions" && message == foreign {
                continue;
            }
            let mut answer = server.get(&format!("{path}?{query}")).await;
            let error = answer.refusal(400, "invalid_query").await;
            assert_eq!(error["field"], field, "{path}?{query}");
            assert_eq!(error["message"], message, "{path}?{query}");
        }
    }
    for path in [
        "/sessions?limit=2&a=1&a=2",
        "/sessions?",
        "/sessions?&&%ff=%ff",
    ] {
        assert_eq!(server.get(path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn a_session_is_made_changed_used_and_deleted() {
    let server = server().await;
    let mut made = send(
        &server,
        Method::POST,
        "/sessions",
        json!({ "id": "s1", "state": { "a": 1, "b": 1 } }),
    )
    .await;
    assert_eq!(made.status, 201);
    assert_eq!(made.json().await["state"], json!({ "a": 1, "b": 1 }));
    let mut again = send(&server, Method::POST, "/sessions", json!({ "id": "s1" })).await;
    again.refusal(409, "session_exists").await;
    let mut changed = send(
        &server,
        Method::PATCH,
        "/sessions/s1",
        json!({ "stateDelta": { "b": { "c": 2 } } }),
    )
    .await;
    assert_eq!(
        changed.json().await["state"],
        json!({ "a": 1, "b": { "c": 2 } })
    );

    let mut body = input("s1", "r1", "hi");
    body["state"] = json!({ "d": 3 });
    let events = server.post("/", &body).await.events().await;
    let snapshot = events
        .iter()
        .find(|event| event.kind() == "STATE_SNAPSHOT")
        .unwrap();
    let whole = json!({ "a": 1, "b": { "c": 2 }, "d": 3 });
    assert_eq!(snapshot["snapshot"], whole);
    assert_eq!(
        server.get("/sessions/s1").await.json().await["state"],
        whole
    );

    let deleted = server.send(Method::DELETE, "/sessions/s1", &[], None).await;
    assert_eq!(deleted.status, 204);
    for path in ["/sessions/s1", "/runs/r1/events"] {
        server.get(path).await.refusal(404, "not_found").await;
    }
    let mut gone = server.send(Method::DELETE, "/sessions/s1", &[], None).await;
    gone.refusal(404, "not_found").await;

    let named = send(&server, Method::POST, "/sessions", json!({}))
        .await
        .json()
        .await;
    assert!(named["id"].as_str().unwrap().len() >= 32, "{named}");
}

#[tokio::test]
async fn malformed_changes_are_refused_and_change_nothing() {
    let server = server().await;
    send(
        &server,
        Method::POST,
        "/sessions",
        json!({ "id": "s1", "state": { "a": 1 } }),
    )
    .await;
    for (method, path, body, code) in [
        (
            Method::POST,
            "/sessions",
            json!({ "id": "" }),
            "invalid_input",
        ),
        (
            Method::POST,
            "/sessions",
            json!({ "id": "a\nb" }),
            "invalid_input",
        ),
        (
            Method::POST,
            "/sessions",
            json!({ "id": 7 }),
            "invalid_input",
        ),
        (
            Method::POST,
            "/sessions",
            json!({ "plugins": [] }),
            "invalid_input",
        ),
        (
            Method::POST,
            "/sessions",
            json!({ "state": [] }),
            "invalid_input",
        ),
        (
            Method::POST,
            "/sessions",
            json!({ "state": { "app:x": 1 } }),
            "state_reserved_key",
        ),
        (Method::PATCH, "/sessions/s1", json!({}), "invalid_input"),
        (
            Method::PATCH,
            "/sessions/s1",
            json!({ "stateDelta": 1 }),
            "invalid_input",
        ),
        (
            Method::PATCH,
            "/sessions/s1",
            json!({ "stateDelta": { "_x": 1 } }),
            "state_reserved_key",
        ),
        (
            Method::PATCH,
            "/sessions/s1",
            json!({ "stateDelta": { "x": "y".repeat(2 << 20) } }),
            "state_invalid",
        ),
    ] {
        send(&server, method, path, body)
            .await
            .refusal(400, code)
            .await;
    }
    let mut unknown = send(
        &server,
        Method::PATCH,
        "/sessions/zz",
        json!({ "stateDelta": {} }),
    )
    .await;
    unknown.refusal(404, "not_found").await;
    server
        .get("/sessions/zz")
        .await
        .refusal(404, "not_found")
        .await;
    assert_eq!(
        server.get("/sessions/s1").await.json().await["state"],
        json!({ "a": 1 })
    );
}

#[tokio::test]
async fn a_session_with_an_active_run_is_neither_changed_nor_deleted() {
    let (model, strings) = puppet();
    let agent = agent(model).on_disconnect(OnDisconnect::Detach);
    let server = Running::start(Server::new([agent])).await;
    let mut run = server.post("/", &input("t1", "r1", "hi")).await;
    let call = strings.call().await;
    let mut patched = send(
        &server,
        Method::PATCH,
        "/sessions/t1",
        json!({ "stateDelta": { "x": 1 } }),
    )
    .await;
    let error = patched.refusal(409, "thread_busy").await;
    assert_eq!(error["runId"], "r1");
    let mut deleted = server.send(Method::DELETE, "/sessions/t1", &[], None).await;
    deleted.refusal(409, "thread_busy").await;
    call.finish();
    run.events().await;
    let deleted = server.send(Method::DELETE, "/sessions/t1", &[], None).await;
    assert_eq!(deleted.status, 204);
}

#[tokio::test]
async fn members_are_read_in_both_spellings() {
    let server = server().await;
    let made = send(&server, Method::POST, "/sessions", json!({ "id": "s" })).await;
    assert_eq!(made.status, 201);
    let change = async |body: Value| send(&server, Method::PATCH, "/sessions/s", body).await;
    let snake = json!({ "state_delta": { "a": 1 } });
    assert_eq!(change(snake).await.json().await["state"], json!({ "a": 1 }));
    let same = json!({ "state_delta": { "a": 2 }, "stateDelta": { "a": 2 } });
    assert_eq!(change(same).await.json().await["state"], json!({ "a": 2 }));
    let both = json!({ "state_delta": { "a": 3 }, "stateDelta": { "a": 4 } });
    let error = change(both).await.refusal(400, "invalid_input").await;
    assert_eq!(error["field"], "stateDelta");
    let unknown = json!({ "state_deltas": {} });
    let error = change(unknown).await.refusal(400, "invalid_input").await;
    assert_eq!(error["field"], "state_deltas");

    let turn = json!({ "input": "hi", "session_id": "s" });
    let receipt = server.post("/responses", &turn).await.json().await;
    assert_eq!(receipt["sessionId"], "s");
}

#[tokio::test]
async fn a_session_holds_as_much_state_as_the_agent_with_the_largest_limit() {
    let limited = |name: &str, state_bytes: usize| {
        let limits = Limits {
            state_bytes,
            ..Limits::default()
        };
        Agent::new(name).model(Parrot::new("Hello.")).limits(limits)
    };
    let holds = |bytes: usize| json!({ "a": "x".repeat(bytes - r#"{"a":""}"#.len()) });
    for (agents, most) in [
        (vec![limited("a", 64)], 64),
        (
            vec![limited("a", 64), limited("b", 2 << 20), limited("c", 100)],
            2 << 20,
        ),
    ] {
        let limits = antiphon_server::Limits {
            body: 8 << 20,
            ..Default::default()
        };
        let server = Running::start(Server::new(agents).limits(limits)).await;
        let create = async |id: &str, state: Value| {
            let body = json!({ "id": id, "state": state });
            send(&server, Method::POST, "/sessions", body).await
        };
        let mut large = create("s", holds(most + 1)).await;
        let error = large.refusal(400, "state_invalid").await;
        assert_eq!(error["field"], "state");
        assert_eq!(create("s", holds(most)).await.status, 201);
        let delta = json!({ "stateDelta": holds(most + 1) });
        let mut larger = send(&server, Method::PATCH, "/sessions/s", delta).await;
        let error = larger.refusal(400, "state_invalid").await;
        assert_eq!(error["field"], "stateDelta");
    }
}

#[tokio::test]
async fn a_stop_spares_a_run_that_it_does_not_name_in_either_spelling() {
    let (model, strings) = puppet();
    let server = Running::start(Server::new([agent(model)])).await;
    let mut run = server.post("/", &input("t1", "r1", "hi")).await;
    let call = strings.call().await;
    let path = "/copilotkit/agent/default/stop/t1";
    for body in [json!({ "runId": "r0" }), json!({ "run_id": "r0" })] {
        let answer = server.post(path, &body).await.json().await;
        assert_eq!(answer["stopped"], false, "{body}");
    }
    let single = |params: Value| json!({ "method": "agent/stop", "params": params, "body": { "run_id": "r1" } });
    let elsewhere = single(json!({ "threadId": "t2" }));
    let answer = server.post("/copilotkit", &elsewhere).await.json().await;
    assert_eq!(answer["stopped"], false);
    let here = single(json!({ "agent_id": "default", "thread_id": "t1" }));
    let answer = server.post("/copilotkit", &here).await.json().await;
    assert_eq!(answer["stopped"], true);
    call.dropped().await;
    run.events().await;
}

/// Another system that says nothing more.
struct Silent;

impl Handler for Silent {
    fn call<'a>(
        &'a self,
        _: Value,
        _: RunContext<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async { Ok(ToolOutput::new(json!("started"))) })
    }
}

#[tokio::test]
async fn what_nobody_answered_in_time_is_nowhere_shown_as_open() {
    let store = Arc::new(MemoryStore::new(Arc::new(SystemClock)));
    let soon = Duration::from_secs(1);
    let start = |model| {
        let verify = Tool::external_wait("verify", "kyc.verify", Silent).timeout(soon);
        let pay = Tool::fixed("pay", json!("Paid.")).approval(Approval::default().timeout(soon));
        let agent = agent(model).tools((verify, pay));
        Running::start(Server::new([agent]).shared_store(store.clone()))
    };
    let (model, strings) = puppet();
    let mut server = start(model).await;
    let mut polls = Vec::new();
    for (thread, tool) in [("t1", "verify"), ("t2", "pay")] {
        let mut run = server.post("/", &input(thread, thread, "go")).await;
        strings.call().await.use_tool("c1", tool, "{}");
        run.events().await;
        let path = format!("/sessions/{thread}/interactions");
        let open = server.get(&path).await.json().await["open"][0].take();
        let id = open["responseId"].as_str().unwrap();
        polls.push(format!("/responses/{id}?sessionId={thread}"));
    }
    for restarts in [false, true] {
        if restarts {
            server = start(puppet().0).await;
        }
        for (thread, poll) in ["t1", "t2"].iter().zip(&polls) {
            let path = format!("/sessions/{thread}/interactions");
            until("it has expired", async || {
                server.get(&path).await.json().await["open"] == json!([])
            })
            .await;
            let again = server.post("/", &input(thread, thread, "go")).await;
            let events = server.get(&format!("/runs/{thread}/events")).await;
            for mut shown in [again, events] {
                let ending = shown.events().await.pop().unwrap();
                assert_eq!(ending["outcome"], json!({ "type": "success" }));
                assert_eq!(ending.get("result"), None);
            }
            let shown = server.get(poll).await.json().await;
            assert_eq!(shown["error"]["code"], "expired");
            assert_eq!(shown.get("result"), None, "{shown}");
        }
    }
}
