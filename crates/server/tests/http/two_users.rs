//! Each route, asked for something of another user's: the answer is that for something that does not
//! exist, byte for byte.

use antiphon_agent::{Approval, OnDisconnect};
use antiphon_server::{ROUTES, Route, Scope, Server, StaticTokens};
use serde_json::{Value, json};

use crate::support::model::{Call, puppet};
use crate::support::script::{Effects, desk};
use crate::support::{Running, agent, input};

/// A whole answer, without the time of day.
#[derive(Debug, PartialEq)]
struct Whole {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

/// What alice has.
struct Hers {
    server: Running,
    /// An approval that is open, and the response that waits for it.
    approval: String,
    response: String,
    /// A tool of the client that is asked for.
    client_tool: String,
    /// Work of another system.
    wait: String,
    /// The model call of a run that is at work.
    call: Call,
    effects: Effects,
}

/// Two requests that differ in what they name: something of alice's, or nothing.
struct Probe {
    hers: (String, Option<Value>),
    nothing: (String, Option<Value>),
}

impl Probe {
    /// The path names the thing.
    fn path(path: &str, hers: &str, body: Option<Value>) -> Self {
        let aim = |id: &str| path.replace("{}", id);
        Self {
            hers: (aim(hers), body.clone()),
            nothing: (aim(NOTHING), body),
        }
    }

    /// The body names the thing, as `{}`.
    fn body(path: &str, hers: &str, body: &Value) -> Self {
        let aim = |id: &str| serde_json::from_str(&body.to_string().replace("{}", id)).ok();
        Self {
            hers: (path.to_owned(), aim(hers)),
            nothing: (path.to_owned(), aim(NOTHING)),
        }
    }

    /// There is nothing to name: both are to read the same.
    fn same(path: &str) -> Self {
        Self::path(path, "", None)
    }
}

const NOTHING: &str = "nothing";

#[tokio::test]
async fn what_is_another_s_is_answered_as_if_it_did_not_exist() {
    let hers = hers().await;
    let before = hers.view().await;
    for (index, route) in ROUTES.iter().enumerate() {
        let probe = probe(&hers, route);
        let [one, other] = strangers(index);
        let other = match route.scope {
            // What is the same for all is the same for alice.
            Scope::Open | Scope::Shared => "alice".to_owned(),
            Scope::Owned | Scope::Service => other,
        };
        let foreign = hers.ask(&one, route, probe.hers).await;
        let missing = hers.ask(&other, route, probe.nothing).await;
        assert_eq!(foreign, missing, "{route:?}");
        let status = foreign.status;
        assert_ne!(status, 400, "{route:?} was asked for nothing: {foreign:?}");
        assert!(route.scope != Scope::Service || status == 403, "{route:?}");
    }
    assert_eq!(
        hers.view().await,
        before,
        "something of alice's has changed"
    );
    assert_eq!(hers.effects.count(), 0);
    assert!(!hers.call.is_dropped(), "alice's run was stopped");
}

fn strangers(index: usize) -> [String; 2] {
    [0, 1].map(|number| format!("stranger-{index}-{number}"))
}

async fn hers() -> Hers {
    let (model, strings) = puppet();
    let effects = Effects::default();
    let desk = desk(&effects, Approval::default());
    let echo = agent(model).on_disconnect(OnDisconnect::Detach);
    let names = (0..ROUTES.len()).flat_map(strangers);
    let tokens = names.chain(["alice".to_owned()]).try_fold(
        StaticTokens::new(),
        // The tokens are the names: nobody has to keep them apart.
        |tokens, name| tokens.user(&name, name.clone()),
    );
    let server = Server::new([desk, echo]).authenticator(tokens.unwrap());
    let server = Running::start(server).await;
    let bearer = [("authorization", "Bearer alice")];
    let mut open = Vec::new();
    for (thread, says) in [("t1", "pay"), ("t3", "pick_color"), ("t4", "verify")] {
        let body = input(thread, &format!("r-{thread}"), says);
        server.post_with("/", &body, &bearer).await.events().await;
        let path = format!("/sessions/{thread}/interactions");
        open.push(server.get_with(&path, &bearer).await.json().await["open"][0].take());
    }
    let body = input("t2", "r2", "hi");
    server
        .post_with("/agents/echo", &body, &bearer)
        .await
        .next()
        .await;
    let id = |index: usize, member: &str| open[index][member].as_str().unwrap().to_owned();
    Hers {
        approval: id(0, "id"),
        response: id(0, "responseId"),
        client_tool: id(1, "id"),
        wait: id(2, "id"),
        call: strings.call().await,
        server,
        effects,
    }
}

impl Hers {
    async fn ask(&self, user: &str, route: &Route, ask: (String, Option<Value>)) -> Whole {
        let (path, body) = ask;
        let bearer = format!("Bearer {user}");
        let body = body.map(|body| body.to_string().into_bytes());
        let method = route.method.parse().unwrap();
        let headers = [("authorization", bearer.as_str())];
        let mut answer = self.server.send(method, &path, &headers, body).await;
        let headers = answer.headers.iter().filter(|(name, _)| {
            // The length says no more than the body, whose masked words differ in length.
            !matches!(name.as_str(), "date" | "content-length")
        });
        let headers =
            headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
        let headers = headers.collect();
        let text = answer.text().await;
        Whole {
            status: answer.status.as_u16(),
            headers,
            body: match route.path {
                // Counts go up with each request.
                "/metrics" => text.lines().filter(|line| line.starts_with('#')).collect(),
                _ => masked(&text, user),
            },
        }
    }

    /// Everything of alice's as she sees it.
    async fn view(&self) -> Vec<String> {
        let bearer = [("authorization", "Bearer alice")];
        let response = format!("/responses/{}?sessionId=t1", self.response);
        let mut view = Vec::new();
        for path in [
            "/sessions",
            "/sessions/t1",
            "/sessions/t1/messages",
            "/sessions/t1/interactions",
            "/sessions/t2",
            "/sessions/t3/interactions",
            "/sessions/t4/interactions",
            &response,
        ] {
            let mut answer = self.server.get_with(path, &bearer).await;
            assert_eq!(answer.status, 200, "{path}");
            view.push(answer.text().await);
        }
        view
    }
}

/// A body without what the client itself brought, and without times: each word between quotation
/// marks is looked at by itself.
fn masked(text: &str, user: &str) -> String {
    let word = |word: &str| match word {
        "t1" | NOTHING => "CHOSEN".to_owned(),
        word if word == user => "USER".to_owned(),
        word if word.parse::<jiff::Timestamp>().is_ok() => "TIME".to_owned(),
        word => word.to_owned(),
    };
    text.split('"').map(word).collect::<Vec<_>>().join("\"")
}

/// The row of a route; a route without one fails the test.
fn probe(hers: &Hers, route: &Route) -> Probe {
    let opening = |thread: &str| {
        let mut opening = input(thread, "of-a-stranger", "");
        opening["messages"] = json!([]);
        opening
    };
    let single = json!({ "method": "agent/connect", "params": { "agentId": "desk" }, "body": opening("{}") });
    let path = |path: &str, hers: &str| Probe::path(path, hers, None);
    let with = |path: &str, hers: &str, body: Value| Probe::path(path, hers, Some(body));
    let response = format!("/responses/{}?sessionId=t1", hers.response);
    match (route.method, route.path) {
        ("POST", "/" | "/agui") => Probe::body(route.path, "t1", &opening("{}")),
        ("POST", "/agents/{name}") => Probe::body("/agents/desk", "t1", &opening("{}")),
        ("GET", "/agents/{name}") => Probe::same("/agents/desk"),
        ("GET", "/runs/{runId}/events") => path("/runs/{}/events", "r2"),
        ("POST", "/runs/{runId}/cancel") => path("/runs/{}/cancel", "r2"),
        ("POST", "/sessions") => Probe::body(route.path, "t1", &json!({ "id": "{}" })),
        ("GET" | "DELETE", "/sessions/{id}") => path("/sessions/{}", "t1"),
        ("PATCH", "/sessions/{id}") => {
            with("/sessions/{}", "t1", json!({ "stateDelta": { "x": 1 } }))
        }
        ("GET", "/sessions/{id}/messages") => path("/sessions/{}/messages", "t1"),
        ("GET", "/sessions/{id}/interactions") => path("/sessions/{}/interactions", "t1"),
        ("POST", "/responses") => Probe::body(
            route.path,
            "t1",
            &json!({ "input": "hi", "sessionId": "{}" }),
        ),
        ("GET", "/responses/{id}") => Probe {
            hers: (response, None),
            nothing: ("/responses/nothing?sessionId=t1".to_owned(), None),
        },
        ("POST", "/approvals/{id}") => with(
            "/approvals/{}",
            &hers.approval,
            json!({ "decision": "approve" }),
        ),
        ("POST", "/client-tools/{id}") => with(
            "/client-tools/{}",
            &hers.client_tool,
            json!({ "output": { "color": "red" } }),
        ),
        ("POST", "/external-waits/{id}/complete") => with(
            "/external-waits/{}/complete",
            &hers.wait,
            json!({ "result": 1 }),
        ),
        ("POST", "/external-waits/{id}/fail") => {
            let failed = json!({ "code": "x", "message": "y" });
            with("/external-waits/{}/fail", &hers.wait, failed)
        }
        ("POST", "/copilotkit") => Probe::body(route.path, "t1", &single),
        ("POST", "/copilotkit/agent/{id}/run") => {
            Probe::body("/copilotkit/agent/desk/run", "t1", &opening("{}"))
        }
        ("POST", "/copilotkit/agent/{id}/connect") => {
            Probe::body("/copilotkit/agent/desk/connect", "t1", &opening("{}"))
        }
        ("POST", "/copilotkit/agent/{id}/stop/{threadId}") => {
            path("/copilotkit/agent/echo/stop/{}", "t2")
        }
        ("PATCH", "/copilotkit/threads/{id}") => {
            with("/copilotkit/threads/{}", "t1", json!({ "name": "mine" }))
        }
        ("DELETE", "/copilotkit/threads/{id}") => path("/copilotkit/threads/{}", "t1"),
        ("GET", "/copilotkit/threads/{id}/messages") => {
            path("/copilotkit/threads/{}/messages", "t1")
        }
        ("GET", "/copilotkit/threads/{id}/state") => path("/copilotkit/threads/{}/state", "t1"),
        ("GET", "/copilotkit/threads/{id}/events") => path("/copilotkit/threads/{}/events", "t1"),
        (
            "GET",
            "/agents"
            | "/copilotkit/info"
            | "/sessions"
            | "/copilotkit/threads"
            | "/healthz"
            | "/readyz"
            | "/metrics"
            | "/openapi.json"
            | "/docs",
        ) => Probe::same(route.path),
        _ => panic!("{route:?} has no row here"),
    }
}
