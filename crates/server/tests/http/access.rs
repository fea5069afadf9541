//! Who may see what.

use antiphon_agent::{Agent, Approval, OnDisconnect, Tool};
use antiphon_server::{ROUTES, Scope, Server, StaticTokens};
use axum::Router;
use axum::routing::get;
use http::Method;
use serde_json::{Value, json};

use crate::support::client::Answer;
use crate::support::model::{Parrot, puppet};
use crate::support::{Running, agent, input, until};

fn tokens() -> StaticTokens {
    StaticTokens::new()
        .user("a-token", "alice")
        .and_then(|tokens| tokens.user("b-token", "bob"))
        .and_then(|tokens| tokens.service("s-token", "worker"))
        .unwrap()
}

async fn send(
    server: &Running,
    token: &str,
    method: &str,
    path: &str,
    body: Option<Value>,
) -> Answer {
    let bearer = format!("Bearer {token}");
    let body = body.map(|body| body.to_string().into_bytes());
    let method: Method = method.parse().unwrap();
    server
        .send(method, path, &[("authorization", &bearer)], body)
        .await
}

/// What alice has, by its ids.
struct Hers {
    interaction: String,
    response: String,
}

impl Hers {
    /// A route's path aimed at something of hers, and the same for something that does not exist
    /// where the path names the thing by an id.
    fn aim(&self, path: &str) -> (String, Option<String>) {
        let path = path
            .replace("{name}", "echo")
            .replace("/agent/{id}", "/agent/echo")
            .replace("{threadId}", "t2")
            .replace("/responses/{id}", "/responses/{id}?sessionId=t1");
        let id = match path.split('/').nth(1) {
            Some("responses") => &self.response,
            Some("approvals" | "client-tools") => &self.interaction,
            _ => "t1",
        };
        let with = |run: &str, id: &str| path.replace("{runId}", run).replace("{id}", id);
        let aimed = with("r1", id);
        let nowhere = with("zz", "zz");
        let names_a_thing = aimed != nowhere;
        (aimed, names_a_thing.then_some(nowhere))
    }
}

/// A body that each route with one can make something of.
fn body_for(method: &str, path: &str) -> Option<Value> {
    let mut opening = input("t1", "of-bob", "");
    opening["messages"] = json!([]);
    match (method, path) {
        ("GET" | "DELETE", _) => None,
        ("PATCH", "/sessions/{id}") => Some(json!({ "stateDelta": { "x": 1 } })),
        ("PATCH", _) => Some(json!({ "name": "mine now" })),
        ("POST", "/copilotkit") => Some(json!({ "method": "agent/connect", "body": opening })),
        ("POST", "/approvals/{id}") => Some(json!({ "decision": "approve" })),
        ("POST", "/client-tools/{id}") => Some(json!({ "output": 1 })),
        ("POST", "/responses") => Some(json!({ "input": "hi", "sessionId": "t1" })),
        _ => Some(opening),
    }
}

/// What only alice may read.
const SAID: &str = "between alice and the agent";

#[tokio::test]
async fn what_is_another_user_s_does_not_exist() {
    let (model, strings) = puppet();
    let gated = Tool::fixed("pay", json!("paid")).approval(Approval::default());
    let agent = agent(model)
        .tools(gated)
        .on_disconnect(OnDisconnect::Detach);
    let server = Running::start(Server::new([agent]).authenticator(tokens())).await;
    let mut run = send(
        &server,
        "a-token",
        "POST",
        "/",
        Some(input("t1", "r1", SAID)),
    )
    .await;
    strings.call().await.use_tool("c1", "pay", "{}");
    run.events().await;
    let _running = send(
        &server,
        "a-token",
        "POST",
        "/",
        Some(input("t2", "r2", "hi")),
    )
    .await;
    let call = strings.call().await;

    let mut mine = send(&server, "a-token", "GET", "/sessions/t1/interactions", None).await;
    let open = mine.json().await["open"][0].take();
    let hers = Hers {
        interaction: open["id"].as_str().unwrap().to_owned(),
        response: open["responseId"].as_str().unwrap().to_owned(),
    };
    for route in ROUTES.iter().filter(|route| route.scope == Scope::Owned) {
        let (path, nowhere) = hers.aim(route.path);
        let body = body_for(route.method, route.path);
        let mut foreign = send(&server, "b-token", route.method, &path, body.clone()).await;
        let status = foreign.status;
        let text = foreign.text().await;
        assert!(!text.contains(SAID), "{route:?}: {text}");
        if let Some(nowhere) = nowhere {
            let mut missing = send(&server, "b-token", route.method, &nowhere, body).await;
            assert_eq!(status, 404, "{route:?}");
            assert_eq!(text, missing.text().await, "{route:?}");
        }
    }
    let mut cancel = send(
        &server,
        "b-token",
        "POST",
        "/runs/r2/cancel",
        Some(json!({})),
    )
    .await;
    cancel.refusal(404, "not_found").await;
    assert!(!call.is_dropped(), "bob stopped alice's run");

    let mut mine = send(&server, "a-token", "GET", "/sessions/t1/interactions", None).await;
    assert_eq!(
        mine.json().await["open"],
        json!([open]),
        "nothing has changed"
    );
    let mut list = send(&server, "b-token", "GET", "/sessions", None).await;
    assert!(!list.text().await.contains("t2"));
}

#[tokio::test]
async fn the_same_thread_and_run_ids_of_two_users_have_nothing_to_do_with_each_other() {
    let (model, strings) = puppet();
    let server = Running::start(Server::new([agent(model)]).authenticator(tokens())).await;
    let body = || Some(input("t1", "r1", "hi"));
    let mut alice = send(&server, "a-token", "POST", "/", body()).await;
    let first = strings.call().await;
    let mut bob = send(&server, "b-token", "POST", "/", body()).await;
    let second = strings.call().await;
    first.say("for alice");
    second.say("for bob");
    first.finish();
    second.finish();
    assert!(alice.text().await.contains("for alice"));
    assert!(bob.text().await.contains("for bob"));
    let mut events = send(&server, "b-token", "GET", "/runs/r1/events", None).await;
    let text = events.text().await;
    assert!(
        text.contains("for bob") && !text.contains("for alice"),
        "{text}"
    );
}

#[tokio::test]
async fn without_a_token_that_is_known_only_open_routes_answer() {
    let server = Server::new([agent(Parrot::new("ok"))]).authenticator(tokens());
    let server = Running::start(server).await;
    for route in ROUTES {
        let path = route.path.replace("{name}", "echo").replace(['{', '}'], "");
        let method: Method = route.method.parse().unwrap();
        for authorization in ["", "Bearer wrong", "Bearer", "Basic a-token"] {
            let headers = [("authorization", authorization), ("x-user", "alice")];
            let body = (method != Method::GET).then(|| b"{}".to_vec());
            let mut answer = server.send(method.clone(), &path, &headers, body).await;
            if route.scope == Scope::Open {
                assert_eq!(answer.status, 200, "{route:?}");
            } else {
                answer.refusal(401, "unauthenticated").await;
                assert_eq!(answer.header("www-authenticate"), "Bearer");
            }
        }
    }
}

#[tokio::test]
async fn a_service_settles_external_waits_and_does_nothing_else() {
    let server = Server::new([agent(Parrot::new("ok"))]).authenticator(tokens());
    let server = Running::start(server).await;
    for route in ROUTES {
        let path = route.path.replace("{name}", "echo").replace(['{', '}'], "");
        let body = (route.method != "GET").then(|| json!({}));
        let mut answer = send(&server, "s-token", route.method, &path, body.clone()).await;
        match route.scope {
            Scope::Open => assert_eq!(answer.status, 200, "{route:?}"),
            Scope::Shared | Scope::Owned => {
                answer.refusal(403, "forbidden").await;
            }
            Scope::Service => {
                answer.refusal(400, "invalid_input").await;
                let mut user = send(&server, "a-token", route.method, &path, body).await;
                user.refusal(403, "forbidden").await;
            }
        }
    }
}

#[tokio::test]
async fn identity_comes_from_the_authenticator_alone() {
    let server = Server::new([agent(Parrot::new("ok"))]).authenticator(tokens());
    let server = Running::start(server).await;
    let mut body = input("t1", "r1", "hi");
    body["state"] = json!({ "userId": "bob" });
    body["forwardedProps"] = json!({ "user": "bob", "userId": "bob" });
    let headers = [
        ("authorization", "Bearer a-token"),
        ("x-user", "bob"),
        ("x-forwarded-user", "bob"),
    ];
    server
        .post_with("/?user=bob", &body, &headers)
        .await
        .events()
        .await;
    let mut session = send(&server, "a-token", "GET", "/sessions/t1", None).await;
    assert_eq!(session.json().await["userId"], "alice");
}

#[tokio::test]
async fn an_address_that_others_can_reach_needs_an_authenticator() {
    for address in ["0.0.0.0:0", "[::]:0"] {
        let error = Server::new([agent(Parrot::new("ok"))])
            .bind(address)
            .await
            .unwrap_err();
        assert!(
            error.to_string().contains("set up authentication"),
            "{error}"
        );
        let open = Server::new([agent(Parrot::new("ok"))]).authenticator(tokens());
        // A machine may have no IPv6.
        if let Err(error) = open.bind(address).await {
            assert!(!error.to_string().contains("authentication"), "{error}");
        }
    }
}

#[tokio::test]
async fn a_server_that_others_can_reach_answers_to_any_name() {
    let server = Server::new([agent(Parrot::new("ok"))]).authenticator(tokens());
    let bound = server.bind("0.0.0.0:0").await.unwrap();
    let address = (std::net::Ipv4Addr::LOCALHOST, bound.local_addr().port()).into();
    tokio::spawn(bound.serve_until(std::future::pending()));
    let headers = [
        ("host", "agents.example"),
        ("authorization", "Bearer a-token"),
    ];
    let answer =
        crate::support::client::send(address, Method::GET, "/agents", &headers, None).await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn wrong_descriptions_are_refused_with_a_sentence() {
    let named = |name: &str| Agent::new(name).model(Parrot::new("ok"));
    for (server, part) in [
        (Server::new([]), "no agent"),
        (Server::new([named("a"), named("a")]), "\"a\""),
        (Server::new([named("a/b")]), "\"a/b\""),
        (Server::new([named("")]), "letters"),
        (Server::new([named("..")]), "letters"),
        (
            Server::new([named("a"), named("b")]).default_agent("c"),
            "a, b",
        ),
        (Server::new([named("a")]).cors(["*"]), "cors"),
        (Server::new([named("a")]).cors(["http://a/"]), "http://a/"),
        (Server::new([Agent::new("a")]), "model"),
    ] {
        let error = server.router().unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    let server = Running::start(Server::new([named("a")])).await;
    let taken = server.address.to_string();
    let error = Server::new([named("a")]).bind(&taken).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains(&format!("port {} is taken", server.address.port())),
        "{error}"
    );
    let error = Server::new([named("a")])
        .bind("nonsense")
        .await
        .unwrap_err();
    assert!(error.to_string().contains("nonsense"), "{error}");
}

#[tokio::test]
async fn agents_are_listed_and_described() {
    let first = Agent::new("first")
        .description("The first")
        .model(Parrot::new("1"));
    let gated = Tool::fixed("pay", json!("paid")).approval(Approval::default());
    let second = Agent::new("second").model(Parrot::new("2")).tools(gated);
    let server = Running::start(Server::new([first, second])).await;
    assert_eq!(
        server.get("/agents").await.json().await,
        json!({ "agents": [
            { "name": "first", "description": "The first", "url": "/agents/first", "default": true },
            { "name": "second", "description": "", "url": "/agents/second", "default": false },
        ] })
    );
    let described = server.get("/agents/second").await.json().await;
    let capabilities = &described["capabilities"];
    assert_eq!(capabilities["transport"]["streaming"], true);
    assert_eq!(capabilities["transport"]["resumable"], true);
    assert_eq!(capabilities["transport"]["websocket"], false);
    assert_eq!(capabilities["humanInTheLoop"]["approvals"], true);
    assert_eq!(capabilities["tools"]["items"][0]["name"], "pay");
    server
        .get("/agents/third")
        .await
        .refusal(404, "not_found")
        .await;
}

#[tokio::test]
async fn the_router_can_be_nested_and_a_page_mounted_beside_it() {
    let api = Server::new([agent(Parrot::new("ok"))]).router().unwrap();
    let app = Router::new()
        .route("/", get(|| async { "home" }))
        .nest("/api", api);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    let call = async |method: Method, path: &str, body: Option<Vec<u8>>| {
        crate::support::client::send(address, method, path, &[], body).await
    };
    assert_eq!(call(Method::GET, "/", None).await.text().await, "home");
    let listed = call(Method::GET, "/api/agents", None).await.json().await;
    assert_eq!(listed["agents"][0]["url"], "/api/agents/echo");
    for path in ["/api/agents/echo", "/api/agui", "/api"] {
        let body = input(path, "r1", "hi").to_string().into_bytes();
        let mut answer = call(Method::POST, path, Some(body)).await;
        assert!(answer.text().await.contains("RUN_FINISHED"), "{path}");
    }
    let mut events = call(Method::GET, "/api/runs/r1/events?threadId=/api/agui", None).await;
    assert!(events.text().await.contains("RUN_FINISHED"));

    let page = Router::new().route("/", get(|| async { "page" }));
    let server = Running::start(Server::new([agent(Parrot::new("ok"))]).page(page)).await;
    assert_eq!(server.get("/").await.text().await, "page");
    let mut answer = server.post("/", &input("t1", "r1", "hi")).await;
    assert!(answer.text().await.contains("RUN_FINISHED"));
    let mut stranger = server.get_with("/", &[("host", "evil.example")]).await;
    stranger.refusal(421, "misdirected").await;
    until("the run's place is free", async || {
        server.post("/runs/r1/cancel", &json!({})).await.status == 200
    })
    .await;
}
