//! What a response waits for, and answers to it.

use std::sync::Arc;
use std::time::Duration;

use antiphon_agent::clock::SystemClock;
use antiphon_agent::store::MemoryStore;
use antiphon_agent::{Approval, OnDecline, Tool};
use antiphon_server::{Server, StaticTokens};
use serde_json::{Value, json};

use crate::support::client::{Answer, raw};
use crate::support::model::puppet;
use crate::support::script::{Effects, desk};
use crate::support::{Running, agent, input, until};

struct Desk {
    server: Running,
    effects: Effects,
}

async fn start() -> Desk {
    let effects = Effects::default();
    let agent = desk(&effects, Approval::default());
    let server = Running::start(Server::new([agent])).await;
    Desk { server, effects }
}

impl Desk {
    /// A turn that stops to ask.
    async fn asks(&self, input: &str) -> Value {
        let mut answer = self
            .server
            .post("/responses", &json!({ "input": input }))
            .await;
        let receipt = answer.json().await;
        assert_eq!(answer.status, 200, "{receipt}");
        receipt
    }

    async fn post(&self, path: &str, id: &Value, body: Value) -> Answer {
        let id = id.as_str().unwrap();
        self.server.post(&format!("/{path}/{id}"), &body).await
    }

    async fn shown(&self, receipt: &Value) -> Value {
        shown(&self.server, receipt).await
    }
}

async fn shown(server: &Running, receipt: &Value) -> Value {
    let [id, session] = ["id", "sessionId"].map(|member| receipt[member].as_str().unwrap());
    let path = format!("/responses/{id}?sessionId={session}");
    server.get(&path).await.json().await
}

#[tokio::test]
async fn a_call_that_needs_approval_runs_once_it_is_approved() {
    let desk = start().await;
    let asks = desk.asks("pay").await;
    assert_eq!(asks["status"], "requires_action");
    assert_eq!(
        (&asks["output"], &asks["outputText"]),
        (&json!([]), &json!(""))
    );
    let action = &asks["requiredAction"];
    assert_eq!(action["type"], "human_approval");
    assert_eq!(action["callId"], asks["id"]);
    assert_eq!(action["toolCallId"], "p1");
    assert_eq!(action["action"], "tool:pay");
    assert_eq!(action["arguments"], json!({ "amount": 7 }));
    assert_eq!(action["message"], "Allow pay?");
    assert!(action["expiresAt"].as_str().unwrap().ends_with('Z'));
    assert_eq!(desk.shown(&asks).await, asks);
    assert_eq!(desk.effects.count(), 0);

    let approve = json!({ "decision": "approve" });
    let mut answer = desk.post("approvals", &action["id"], approve.clone()).await;
    let mut receipt = answer.json().await;
    assert_eq!(answer.status, 200, "{receipt}");
    assert_eq!(receipt["status"], "completed");
    assert_eq!(receipt["id"], asks["id"], "it is the same response");
    assert_eq!(receipt["approvalId"], action["id"]);
    assert_eq!(receipt["outputText"], "One moment.\n\nAll set: paid");
    receipt.as_object_mut().unwrap().remove("approvalId");
    assert_eq!(desk.shown(&asks).await, receipt);
    assert_eq!(desk.effects.count(), 1);

    let mut again = desk.post("approvals", &action["id"], approve).await;
    assert_eq!(again.json().await["outputText"], receipt["outputText"]);
    let deny = json!({ "decision": "deny" });
    let mut other = desk.post("approvals", &action["id"], deny).await;
    other.refusal(409, "interaction_settled").await;
    assert_eq!(desk.effects.count(), 1, "it ran again");
}

#[tokio::test]
async fn a_denied_call_does_not_run_and_the_model_hears_why() {
    let desk = start().await;
    let asks = desk.asks("pay").await;
    let id = &asks["requiredAction"]["id"];
    let deny = json!({ "decision": "deny", "reason": "too much" });
    let mut answer = desk.post("approvals", id, deny).await;
    let denied = answer.json().await;
    assert_eq!(answer.status, 200);
    assert_eq!((&denied["id"], &denied["status"]), (id, &json!("denied")));
    assert_eq!(denied["responseId"], asks["id"]);
    assert_eq!(denied["response"]["status"], "completed");
    let text = denied["response"]["outputText"].as_str().unwrap();
    assert!(text.ends_with("Then not."), "{text}");
    let result = &denied["response"]["output"][2]["output"];
    assert!(result.as_str().unwrap().contains("too much"), "{result}");
    assert_eq!(desk.effects.count(), 0);

    let path = format!(
        "/sessions/{}/interactions",
        asks["sessionId"].as_str().unwrap()
    );
    let recorded = desk.server.get(&path).await.json().await;
    assert_eq!(recorded["open"], json!([]));
    assert_eq!(recorded["decisions"][0]["decision"], "declined");
    assert_eq!(recorded["decisions"][0]["interactionId"], *id);
    assert_eq!(recorded["decisions"][0]["by"], "local");
}

#[tokio::test]
async fn a_response_whose_agent_stops_at_a_denial_is_denied() {
    let effects = Effects::default();
    let agent = desk(&effects, Approval::default()).on_decline(OnDecline::Stop);
    let server = Running::start(Server::new([agent])).await;
    let desk = Desk { server, effects };
    let asks = desk.asks("pay").await;
    let deny = json!({ "decision": "deny" });
    let mut answer = desk
        .post("approvals", &asks["requiredAction"]["id"], deny)
        .await;
    assert_eq!(answer.json().await["response"]["status"], "denied");
    assert_eq!(desk.shown(&asks).await["status"], "denied");
}

#[tokio::test]
async fn a_decision_is_one_of_two_words() {
    let desk = start().await;
    let asks = desk.asks("pay").await;
    let id = &asks["requiredAction"]["id"];
    for body in [
        json!({}),
        json!({ "decision": true }),
        json!({ "decision": "approved" }),
        json!({ "decision": "APPROVE" }),
        json!({ "decision": "approve", "approved": true }),
        json!({ "decision": "approve", "editedArgs": {} }),
        json!({ "decision": "deny", "reason": 7 }),
    ] {
        let answer = desk.post("approvals", id, body.clone()).await;
        assert_eq!(answer.status, 400, "{body}");
    }
    let output = json!({ "output": { "approved": true } });
    let mut wrong = desk.post("client-tools", id, output).await;
    wrong.refusal(404, "not_found").await;
    assert_eq!(desk.effects.count(), 0);
    assert_eq!(desk.shown(&asks).await, asks, "it is still open");
}

#[tokio::test]
async fn several_open_ones_are_answered_one_after_the_other() {
    let desk = start().await;
    let asks = desk.asks("pay twice").await;
    let actions = asks["requiredActions"].as_array().unwrap();
    assert_eq!(actions.len(), 2);
    assert_eq!(asks["requiredAction"], actions[0]);
    let post = async |action: &Value, decision: &str| {
        let body = json!({ "decision": decision });
        let mut answer = desk.post("approvals", &action["id"], body).await;
        assert_eq!(answer.status, 200);
        answer.json().await
    };
    let one = post(&actions[1], "approve").await;
    assert_eq!(one["status"], "requires_action", "{one}");
    assert_eq!(one["requiredAction"], actions[0]);
    assert_eq!(desk.effects.count(), 1);
    let both = post(&actions[0], "deny").await;
    assert_eq!(both["status"], "denied", "{both}");
    assert_eq!(both["response"]["status"], "completed");
    assert_eq!(desk.effects.count(), 1);
}

#[tokio::test]
async fn a_tool_of_the_client_is_asked_for_and_answered() {
    let desk = start().await;
    let asks = desk.asks("pick_color").await;
    assert_eq!(asks["status"], "requires_action");
    let action = &asks["requiredAction"];
    assert_eq!(action["type"], "client_tool");
    assert_eq!(action["name"], "pick_color");
    assert_eq!(action["callId"], asks["id"]);
    assert!(action.get("privateInput").is_none());
    for wrong in [json!({ "color": 7 }), json!({}), json!(null), json!("teal")] {
        let body = json!({ "output": wrong });
        let mut answer = desk.post("client-tools", &action["id"], body).await;
        let text = answer.text().await;
        assert_eq!(answer.status, 400, "{text}");
    }
    for wrong in [json!({}), json!({ "output": {}, "result": {} })] {
        let mut answer = desk.post("client-tools", &action["id"], wrong).await;
        answer.refusal(400, "invalid_input").await;
    }
    let body = json!({ "output": { "color": "teal" } });
    let mut answer = desk.post("client-tools", &action["id"], body).await;
    let receipt = answer.json().await;
    assert_eq!(receipt["status"], "completed", "{receipt}");
    assert_eq!(receipt["clientToolId"], action["id"]);
    assert!(receipt["outputText"].as_str().unwrap().contains("teal"));
}

#[tokio::test]
async fn a_private_value_is_asked_for_and_appears_nowhere() {
    let desk = start().await;
    let asks = desk.asks("connect").await;
    let action = &asks["requiredAction"];
    assert_eq!(action["type"], "client_tool");
    assert_eq!(action["privateInput"], true);
    assert_eq!(action["inputSchema"]["required"], json!(["token"]));
    let canary = "canary-4711";
    for output in [json!({ "token": [canary] }), json!({ "other": canary })] {
        let body = json!({ "output": output });
        let mut answer = desk.post("client-tools", &action["id"], body).await;
        let text = answer.text().await;
        assert_eq!(answer.status, 400, "{text}");
        assert!(!text.contains(canary), "{text}");
    }
    let body = json!({ "output": { "token": canary } });
    let mut answer = desk.post("client-tools", &action["id"], body).await;
    let text = answer.text().await;
    assert!(text.contains("All set: connected"), "{text}");
    assert!(!text.contains(canary), "{text}");
    assert_eq!(desk.effects.count(), 1);
    let session = asks["sessionId"].as_str().unwrap();
    for path in ["", "/messages", "/interactions"] {
        let mut answer = desk.server.get(&format!("/sessions/{session}{path}")).await;
        assert!(!answer.text().await.contains(canary), "{path}");
    }
    assert!(!desk.shown(&asks).await.to_string().contains(canary));
}

#[tokio::test]
async fn a_question_of_a_tool_can_be_decided() {
    for (decision, ran) in [("approve", 1), ("deny", 0)] {
        let desk = start().await;
        let asks = desk.asks("careful").await;
        let action = &asks["requiredAction"];
        assert_eq!(action["type"], "question");
        assert_eq!(action["message"], "Are you sure?");
        let body = json!({ "decision": decision });
        let answer = desk.post("approvals", &action["id"], body).await;
        assert_eq!(answer.status, 200);
        assert_eq!(desk.effects.count(), ran, "{decision}");
        assert_eq!(desk.shown(&asks).await["status"], "completed");
    }
}

#[tokio::test]
async fn a_stream_announces_what_it_waits_for() {
    let desk = start().await;
    for (input, kind, member) in [
        ("pay", "approval.requested", "approval"),
        ("pick_color", "client_tool.requested", "clientTool"),
        ("careful", "question.requested", "question"),
    ] {
        let body = json!({ "input": input, "stream": true });
        let events = desk.server.post("/responses", &body).await.events().await;
        let [.., asked, last] = events.as_slice() else {
            panic!("{input}");
        };
        assert_eq!(asked.kind(), kind);
        assert_eq!(last.kind(), "response.completed");
        assert_eq!(last["status"], "requires_action");
        assert_eq!(asked[member], last["requiredAction"]);
    }
}

#[tokio::test]
async fn what_is_wrong_with_an_answer_is_named_as_it_was_sent() {
    let desk = start().await;
    let id = async |input: &str| desk.asks(input).await["requiredAction"]["id"].clone();
    let wrong = async |path: &str, id: &Value, body: Value| {
        let mut answer = desk.post(path, id, body).await;
        let text = answer.text().await;
        assert_eq!(answer.status, 400, "{text}");
        let error: Value = serde_json::from_str(&text).unwrap();
        assert!(!text.contains("resume["), "{text}");
        error["error"]["field"].clone()
    };
    let color = id("pick_color").await;
    for output in [json!(7), json!({ "colour": "red" }), json!(null)] {
        let field = wrong("client-tools", &color, json!({ "output": output })).await;
        assert_eq!(field, "output", "{output}");
    }
    let form = id("connect").await;
    let field = wrong("client-tools", &form, json!({ "output": { "pin": 1 } })).await;
    assert_eq!(field, "output");
    let pay = id("pay").await;
    let body = json!({ "decision": "approve", "reason": 7 });
    assert_eq!(wrong("approvals", &pay, body).await, "reason");
    let body = json!({ "decision": true });
    assert_eq!(wrong("approvals", &pay, body).await, "decision");
}

#[tokio::test]
async fn work_of_another_system_is_in_progress_until_it_reports() {
    let tokens = StaticTokens::new()
        .user("a", "alice")
        .and_then(|tokens| tokens.service("s", "kyc"))
        .unwrap();
    let agent = desk(&Effects::default(), Approval::default());
    let server = Running::start(Server::new([agent]).authenticator(tokens)).await;
    let (alice, kyc) = (
        [("authorization", "Bearer a")],
        [("authorization", "Bearer s")],
    );
    let body = json!({ "input": "verify", "stream": true });
    let events = server
        .post_with("/responses", &body, &alice)
        .await
        .events()
        .await;
    let last = events.last().unwrap();
    assert_eq!(last.kind(), "response.in_progress");
    let pending = &last["pendingAction"];
    assert_eq!(pending["type"], "external_continuation");
    assert_eq!(pending["capability"], "kyc.verify");
    let id = pending["id"].as_str().unwrap();
    let poll = format!(
        "/responses/{}?sessionId={}",
        last["responseId"].as_str().unwrap(),
        last["sessionId"].as_str().unwrap()
    );
    let shown = server.get_with(&poll, &alice).await.json().await;
    assert_eq!(shown["status"], "in_progress");
    assert_eq!(shown["pendingAction"], *pending);
    for path in [format!("/client-tools/{id}"), format!("/approvals/{id}")] {
        let body = json!({ "output": { "ok": true } });
        let mut forged = server.post_with(&path, &body, &alice).await;
        forged.refusal(404, "not_found").await;
    }
    assert_eq!(server.get_with(&poll, &kyc).await.status, 403);
    let path = format!("/external-waits/{id}/fail");
    for (body, message) in [
        (
            json!({ "code": 5, "message": "no" }),
            "code must be a string",
        ),
        (
            json!({ "code": null, "message": "no" }),
            "code must be a string",
        ),
        (json!({ "message": "no" }), "code is missing"),
        (
            json!({ "code": "x", "message": [] }),
            "message must be a string",
        ),
    ] {
        let mut wrong = server.post_with(&path, &body, &kyc).await;
        let error = wrong.refusal(400, "invalid_input").await;
        assert_eq!(error["message"], message);
        assert_eq!(error["field"], message.split(' ').next().unwrap());
    }
    let path = format!("/external-waits/{id}/complete");
    let done = server
        .post_with(&path, &json!({ "result": "level 7" }), &kyc)
        .await;
    assert_eq!(done.status, 200);
    until("completed", async || {
        let shown = server.get_with(&poll, &alice).await.json().await;
        shown["status"] == "completed" && shown["outputText"] == "All set: level 7"
    })
    .await;
}

#[tokio::test]
async fn what_nobody_answered_in_time_has_failed_and_the_session_goes_on() {
    let effects = Effects::default();
    let agent = desk(
        &effects,
        Approval::default().timeout(Duration::from_secs(1)),
    );
    let server = Running::start(Server::new([agent])).await;
    let desk = Desk { server, effects };
    let asks = desk.asks("pay").await;
    until("expired", async || {
        desk.shown(&asks).await["status"] == "failed"
    })
    .await;
    let check = async || {
        let shown = desk.shown(&asks).await;
        assert_eq!(shown["status"], "failed");
        assert_eq!(shown["error"]["code"], "expired");
    };
    check().await;
    let id = &asks["requiredAction"]["id"];
    let approve = json!({ "decision": "approve" });
    let mut late = desk.post("approvals", id, approve.clone()).await;
    late.refusal(409, "interaction_expired").await;
    let body = json!({ "input": "hello", "sessionId": asks["sessionId"] });
    let next = desk.server.post("/responses", &body).await.json().await;
    assert_eq!(next["status"], "completed");
    check().await;
    let mut late = desk.post("approvals", id, approve).await;
    late.refusal(409, "interaction_expired").await;
    assert_eq!(desk.effects.count(), 0);
}

#[tokio::test]
async fn a_question_outlives_the_server_that_asked_it() {
    let store = Arc::new(MemoryStore::new(Arc::new(SystemClock)));
    let effects = Effects::default();
    let start = || {
        let agent = desk(&effects, Approval::default());
        Running::start(Server::new([agent]).shared_store(store.clone()))
    };
    let first = start().await;
    let asks = first
        .post("/responses", &json!({ "input": "pay" }))
        .await
        .json()
        .await;
    first.stopped().await;
    let second = start().await;
    assert_eq!(shown(&second, &asks).await, asks);
    let path = format!(
        "/approvals/{}",
        asks["requiredAction"]["id"].as_str().unwrap()
    );
    let receipt = second
        .post(&path, &json!({ "decision": "approve" }))
        .await
        .json()
        .await;
    assert_eq!(receipt["status"], "completed");
    assert_eq!(effects.count(), 1);
}

#[tokio::test]
async fn of_many_answers_at_once_one_counts() {
    let desk = start().await;
    let asks = desk.asks("pay").await;
    let id = &asks["requiredAction"]["id"];
    let approve = json!({ "decision": "approve" });
    let answers = (0..12).map(|_| desk.post("approvals", id, approve.clone()));
    for answer in futures_util::future::join_all(answers).await {
        assert!(
            matches!(answer.status.as_u16(), 200 | 409),
            "{}",
            answer.status
        );
    }
    assert_eq!(desk.effects.count(), 1);
    assert_eq!(desk.shown(&asks).await["status"], "completed");
}

#[tokio::test]
async fn the_same_answer_sent_again_joins_the_run_that_it_started() {
    let (model, strings) = puppet();
    let tool = Tool::fixed("pay", json!("paid")).approval(Approval::default());
    let server = Running::start(Server::new([agent(model).tools(tool)])).await;
    let mut asks = server.post("/", &input("t1", "r1", "pay")).await;
    strings.call().await.use_tool("p1", "pay", "{}");
    let asked = asks.events().await;
    let id = &asked.last().unwrap()["outcome"]["interrupts"][0]["id"];
    let mut resume = input("t1", "r2", "");
    resume["messages"] = json!([]);
    resume["resume"] =
        json!([{ "interruptId": id, "status": "resolved", "payload": { "approved": true } }]);
    let mut first = server.post("/", &resume).await;
    let call = strings.call().await;
    let mut again = server.post("/", &resume).await;
    assert_eq!(again.status, 200);
    resume["resume"][0]["payload"]["approved"] = json!(false);
    let mut other = server.post("/", &resume).await;
    other.refusal(409, "thread_busy").await;
    call.finish();
    let events = first.events().await;
    assert_eq!(raw(&again.events().await), raw(&events));
    assert_eq!(events.last().unwrap().kind(), "RUN_FINISHED");
}

#[tokio::test]
async fn new_input_is_refused_while_something_is_open() {
    let desk = start().await;
    let asks = desk.asks("pay").await;
    let body = json!({ "input": "hello", "sessionId": asks["sessionId"] });
    let mut answer = desk.server.post("/responses", &body).await;
    let error = answer.refusal(409, "interaction_pending").await;
    assert_eq!(error["open"], json!([asks["requiredAction"]["id"]]));
}
