//! Starting runs, and what a busy thread answers.

use crate::support::client::{kinds, raw, spoken};
use crate::support::model::{Parrot, puppet};
use crate::support::{Running, agent, input, until};
use antiphon_agent::{Agent, OnDisconnect};
use antiphon_server::{Limits, Server};
use serde_json::json;

#[tokio::test]
async fn a_run_is_streamed_as_server_sent_events_with_positions() {
    let server = Running::start(Server::new([agent(Parrot::new("Hello you"))])).await;
    let mut answer = server.post("/agents/echo", &input("t1", "r1", "hi")).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), "text/event-stream");
    let events = answer.events().await;
    assert_eq!(
        kinds(&events),
        [
            "RUN_STARTED",
            "TEXT_MESSAGE_START",
            "TEXT_MESSAGE_CONTENT",
            "TEXT_MESSAGE_CONTENT",
            "TEXT_MESSAGE_END",
            "RUN_FINISHED"
        ]
    );
    assert_eq!(spoken(&events), "Hello you");
    for (index, event) in events.iter().enumerate() {
        assert_eq!(event.id.as_deref(), Some(&*format!("r1:{}", index + 1)));
    }
}

#[tokio::test]
async fn the_default_agent_is_served_at_the_root_and_at_agui() {
    let first = Agent::new("first").model(Parrot::new("one"));
    let second = Agent::new("second").model(Parrot::new("two"));
    let server = Server::new([first, second]).default_agent("second");
    let server = Running::start(server).await;
    for (path, says) in [
        ("/", "two"),
        ("/agui", "two"),
        ("/agents/first", "one"),
        ("/agents/second", "two"),
    ] {
        let thread = format!("t{path}");
        let mut answer = server.post(path, &input(&thread, "r1", "hi")).await;
        assert_eq!(spoken(&answer.events().await), says, "{path}");
    }
}

#[tokio::test]
async fn the_first_event_comes_before_the_model_says_anything() {
    let (model, strings) = puppet();
    let server = Running::start(Server::new([agent(model)])).await;
    let mut answer = server.post("/", &input("t1", "r1", "hi")).await;
    assert_eq!(answer.next().await.unwrap().kind(), "RUN_STARTED");
    let call = strings.call().await;
    call.say("now");
    answer.up_to("TEXT_MESSAGE_CONTENT").await;
    call.finish();
    assert_eq!(answer.events().await.last().unwrap().kind(), "RUN_FINISHED");
}

#[tokio::test]
async fn a_second_run_on_a_busy_thread_is_refused_and_names_the_first() {
    let (model, strings) = puppet();
    let server = Running::start(Server::new([agent(model)])).await;
    let mut first = server.post("/", &input("t1", "r1", "hi")).await;
    let call = strings.call().await;

    let mut second = server.post("/", &input("t1", "r2", "me too")).await;
    let error = second.refusal(409, "thread_busy").await;
    assert_eq!(error["runId"], "r1");
    let mut resume = input("t1", "r1", "hi");
    resume["resume"] = json!([{ "interruptId": "i1", "status": "cancelled" }]);
    server
        .post("/", &resume)
        .await
        .refusal(409, "thread_busy")
        .await;

    let mut said = input("t1", "r1", "me too");
    said["messages"][0]["id"] = json!("u2");
    let error = server
        .post("/", &said)
        .await
        .refusal(409, "thread_busy")
        .await;
    assert_eq!(error["runId"], "r1", "what would be lost is refused");

    let mut other = server.post("/", &input("t2", "r1", "elsewhere")).await;
    strings.call().await.finish();
    assert_eq!(other.events().await.last().unwrap().kind(), "RUN_FINISHED");
    call.finish();
    assert_eq!(first.events().await.last().unwrap().kind(), "RUN_FINISHED");

    let mut again = server.post("/", &input("t1", "r2", "me too")).await;
    strings.call().await.finish();
    assert_eq!(again.events().await.last().unwrap().kind(), "RUN_FINISHED");
}

#[tokio::test]
async fn the_same_request_joins_its_run_from_the_first_event() {
    let (model, strings) = puppet();
    let server = Running::start(Server::new([agent(model)])).await;
    let mut first = server.post("/", &input("t1", "r1", "hi")).await;
    let call = strings.call().await;
    call.say("Hello ");
    let mut seen = first.up_to("TEXT_MESSAGE_CONTENT").await;
    let mut second = server.post("/", &input("t1", "r1", "hi")).await;
    call.say("both");
    call.finish();
    seen.extend(first.events().await);
    assert_eq!(raw(&second.events().await), raw(&seen));
    assert!(!strings.is_called().await, "the model was called again");
}

#[tokio::test]
async fn requests_that_come_at_once_start_one_run() {
    let (model, strings) = puppet();
    let store = crate::support::store::Faulty::new();
    let server = Server::new([agent(model)]).shared_store(store.clone());
    let server = Running::start(server).await;
    store.hold_claims();
    let body = input("t1", "r1", "hi");
    let (mut all, mut other) = (Vec::new(), None);
    let requests = async {
        for answer in futures_util::future::join_all((0..8).map(|_| server.post("/", &body))).await
        {
            all.push(answer);
        }
    };
    let watch = async {
        until("a claim waits", async || store.is_waited_for()).await;
        other = Some(server.post("/", &input("t1", "r2", "late")).await);
        store.let_pass();
    };
    tokio::join!(requests, watch);
    other.unwrap().refusal(409, "thread_busy").await;
    let call = strings.call().await;
    call.say("once");
    call.finish();
    for mut answer in all {
        assert_eq!(answer.status, 200);
        assert_eq!(spoken(&answer.events().await), "once");
    }
    assert!(!strings.is_called().await);
}

#[tokio::test]
async fn a_request_repeated_after_the_end_runs_nothing() {
    let (model, strings) = puppet();
    let server = Running::start(Server::new([agent(model)])).await;
    let body = input("t1", "r1", "hi");
    let mut first = server.post("/", &body).await;
    let call = strings.call().await;
    call.say("done");
    call.finish();
    let ending = first.events().await.pop().unwrap();
    let again = server.post("/", &body).await.events().await;
    assert_eq!(
        kinds(&again),
        [
            "RUN_STARTED",
            "STATE_SNAPSHOT",
            "MESSAGES_SNAPSHOT",
            "RUN_FINISHED"
        ]
    );
    assert_eq!(again.last().unwrap().data, ending.data);
    assert!(!strings.is_called().await);
}

#[tokio::test]
async fn the_next_request_may_follow_the_terminal_event_at_once() {
    let server = Running::start(Server::new([agent(Parrot::new("ok"))])).await;
    for round in 0..50 {
        let body = input("t1", &format!("r{round}"), "and?");
        let events = server.post("/", &body).await.events().await;
        assert_eq!(spoken(&events), "ok", "round {round}");
    }
}

#[tokio::test]
async fn too_many_runs_are_refused_until_one_ends() {
    let (model, strings) = puppet();
    let limits = Limits {
        concurrent_runs: 3,
        runs_per_user: 2,
        ..Limits::default()
    };
    let auth = antiphon_server::StaticTokens::new()
        .user("a", "alice")
        .and_then(|tokens| tokens.user("b", "bob"))
        .unwrap();
    let server = Server::new([agent(model)])
        .limits(limits)
        .authenticator(auth);
    let server = Running::start(server).await;
    let post = async |token: &str, thread: &str| {
        let bearer = format!("Bearer {token}");
        let body = input(thread, "r1", "hi");
        server
            .post_with("/", &body, &[("authorization", &bearer)])
            .await
    };
    let (mut first, _second) = (post("a", "t1").await, post("a", "t2").await);
    let call = strings.call().await;
    let mut refused = post("a", "t3").await;
    refused.refusal(429, "too_many_runs").await;
    assert_eq!(refused.header("retry-after"), "1");
    let _third = post("b", "t1").await;
    post("b", "t2").await.refusal(429, "too_many_runs").await;
    call.finish();
    first.events().await;
    assert_eq!(post("b", "t2").await.status, 200);
}

#[tokio::test]
async fn a_request_for_an_agent_that_does_not_exist_is_not_found() {
    let server = Running::start(Server::new([agent(Parrot::new("x"))])).await;
    let mut answer = server
        .post("/agents/nobody", &input("t1", "r1", "hi"))
        .await;
    answer.refusal(404, "not_found").await;
}

#[tokio::test]
async fn what_does_not_fit_the_thread_is_refused_before_the_stream() {
    let server = Running::start(Server::new([agent(Parrot::new("x"))])).await;
    let mut body = input("t1", "r1", "hi");
    body["resume"] = json!([{ "interruptId": "nobody-asked", "status": "cancelled" }]);
    let mut answer = server.post("/", &body).await;
    assert_eq!(answer.status, 409);
    assert_eq!(answer.header("content-type"), "application/json");
    assert!(answer.json().await["error"]["code"].is_string());

    let mut body = input("t1", "r1", "hi");
    body["state"] = json!({ "_own": 1 });
    let error = server
        .post("/", &body)
        .await
        .refusal(400, "state_reserved_key")
        .await;
    assert_eq!(error["field"], "state._own");
}

#[tokio::test]
async fn a_store_that_is_away_refuses_the_run_and_is_found_again() {
    let store = crate::support::store::Faulty::new();
    store.set_away(true);
    let server = Server::new([agent(Parrot::new("back"))]).shared_store(store.clone());
    let server = Running::start(server).await;
    assert_eq!(server.get("/healthz").await.status, 200);
    server
        .get("/readyz")
        .await
        .refusal(503, "store_unavailable")
        .await;
    let mut refused = server.post("/", &input("t1", "r1", "hi")).await;
    refused.refusal(503, "store_unavailable").await;
    assert_eq!(refused.header("retry-after"), "1");
    store.set_away(false);
    assert_eq!(server.get("/readyz").await.status, 200);
    let events = server
        .post("/", &input("t1", "r1", "hi"))
        .await
        .events()
        .await;
    assert_eq!(spoken(&events), "back");
}

#[tokio::test]
async fn a_model_that_panics_ends_its_run_with_an_error_and_frees_the_thread() {
    #[derive(Debug)]
    struct Broken;
    impl antiphon_model::Model for Broken {
        fn provider(&self) -> &'static str {
            "test"
        }
        fn name(&self) -> &'static str {
            "broken"
        }
        fn stream(&self, _: &antiphon_model::Request) -> antiphon_model::EventStream {
            panic!("secret detail")
        }
    }
    let agent = agent(Broken).on_disconnect(OnDisconnect::Detach);
    let server = Running::start(Server::new([agent])).await;
    for run in ["r1", "r2"] {
        let events = server
            .post("/", &input("t1", run, "hi"))
            .await
            .events()
            .await;
        let ending = events.last().unwrap();
        assert_eq!(
            (ending.kind(), &ending["code"]),
            ("RUN_ERROR", &json!("internal"))
        );
        assert!(!raw(&events).contains("secret"));
    }
}
