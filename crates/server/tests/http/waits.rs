//! Results that other systems deliver.

use antiphon_agent::{OnDisconnect, Tool};
use antiphon_server::{Server, StaticTokens};
use serde_json::{Value, json};

use crate::support::client::Answer;
use crate::support::model::{Strings, puppet};
use crate::support::{Running, agent, input, until};

async fn server() -> (Running, Strings) {
    let tokens = StaticTokens::new()
        .user("a", "alice")
        .and_then(|tokens| tokens.service("s", "kyc"))
        .unwrap();
    let (model, strings) = puppet();
    let verify = Tool::external_wait("verify", "kyc.verify", Started);
    let agent = agent(model)
        .tools(verify)
        .on_disconnect(OnDisconnect::Detach);
    let server = Server::new([agent]).authenticator(tokens);
    (Running::start(server).await, strings)
}

struct Started;

impl antiphon_agent::Handler for Started {
    fn call<'a>(
        &'a self,
        _: Value,
        _: antiphon_agent::RunContext<'a>,
    ) -> futures_util::future::BoxFuture<
        'a,
        Result<antiphon_agent::ToolOutput, antiphon_agent::ToolError>,
    > {
        Box::pin(async { Ok(antiphon_agent::ToolOutput::new(json!("started"))) })
    }
}

async fn post(server: &Running, token: &str, path: &str, body: &Value) -> Answer {
    let bearer = format!("Bearer {token}");
    server
        .post_with(path, body, &[("authorization", &bearer)])
        .await
}

#[tokio::test]
async fn a_delivered_result_lets_the_run_go_on_and_its_events_can_be_followed() {
    let (server, strings) = server().await;
    let mut run = post(&server, "a", "/", &input("t1", "r1", "verify me")).await;
    strings.call().await.use_tool("c1", "verify", "{}");
    let events = run.events().await;
    let wait = events
        .iter()
        .find(|event| event.kind() == "CUSTOM")
        .unwrap();
    let id = wait["value"]["pendingAction"]["id"].as_str().unwrap();
    let path = format!("/external-waits/{id}/complete");

    let mut shown = input("t1", "r2", "");
    shown["messages"] = json!([]);
    let opened = post(&server, "a", "/", &shown).await.events().await;
    let response = &events.last().unwrap()["result"]["responseId"];
    assert!(response.is_string());
    assert_eq!(&opened.last().unwrap()["result"]["responseId"], response);

    post(&server, "a", &path, &json!({ "result": 1 }))
        .await
        .refusal(403, "forbidden")
        .await;
    let error = post(&server, "s", &path, &json!({}))
        .await
        .refusal(400, "invalid_input")
        .await;
    assert_eq!(error["field"], "result");
    let mut unknown = post(
        &server,
        "s",
        "/external-waits/zz/complete",
        &json!({ "result": 1 }),
    )
    .await;
    unknown.refusal(404, "interaction_unknown").await;

    let result = json!({ "result": { "level": 7 } });
    let taken = post(&server, "s", &path, &result).await;
    assert_eq!(taken.status, 200);
    let call = strings.call().await;
    let bearer = [("authorization", "Bearer a")];
    let mut followed = server.get_with("/runs/r1/events", &bearer).await;
    call.say("All set.");
    call.finish();
    let events = followed.events().await;
    assert_eq!(events.last().unwrap()["outcome"]["type"], "success");

    assert_eq!(
        post(&server, "s", &path, &result).await.status,
        200,
        "the same again"
    );
    post(&server, "s", &path, &json!({ "result": 8 }))
        .await
        .refusal(409, "interaction_settled")
        .await;
    let path = format!("/external-waits/{id}/fail");
    let failed = json!({ "code": "x", "message": "y" });
    post(&server, "s", &path, &failed)
        .await
        .refusal(409, "interaction_settled")
        .await;
    assert!(!strings.is_called().await);
    until("the thread is free", async || {
        let mut session = server.get_with("/sessions/t1/messages", &bearer).await;
        session.text().await.contains("All set.")
    })
    .await;
}
