//! What whoever runs the server looks at: counters, and the description of its routes.

use antiphon_agent::Approval;
use antiphon_server::{ROUTES, Server, StaticTokens};
use serde_json::json;

use crate::support::model::puppet;
use crate::support::script::{Effects, desk};
use crate::support::{Running, agent, input, until};

async fn metrics(server: &Running) -> String {
    let mut answer = server.get("/metrics").await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.header("content-type"),
        "text/plain; version=0.0.4; charset=utf-8"
    );
    answer.text().await
}

/// The value of a series.
fn value(metrics: &str, series: &str) -> Option<f64> {
    let line = metrics
        .lines()
        .find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.map(|value| value.parse().unwrap())
}

#[tokio::test]
async fn runs_and_what_models_did_are_counted_by_agent() {
    let (model, strings) = puppet();
    let agents = [desk(&Effects::default(), Approval::default()), agent(model)];
    let server = Running::start(Server::new(agents)).await;
    for (run, says) in [
        ("r1", "look"),
        ("r2", "hello"),
        ("r3", "break"),
        ("r4", "pay"),
    ] {
        server
            .post("/", &input(run, run, says))
            .await
            .events()
            .await;
    }
    let mut running = server.post("/agents/echo", &input("t", "r", "hi")).await;
    let call = strings.call().await;
    call.say("Hello");
    running.up_to("TEXT_MESSAGE_CONTENT").await;
    until("the runs have ended", async || {
        value(&metrics(&server).await, "antiphon_active_runs") == Some(1.0)
    })
    .await;
    let text = metrics(&server).await;
    for (series, expected) in [
        (
            r#"antiphon_runs_total{agent="desk",outcome="finished"}"#,
            2.0,
        ),
        (r#"antiphon_runs_total{agent="desk",outcome="failed"}"#, 1.0),
        (
            r#"antiphon_runs_total{agent="desk",outcome="waiting"}"#,
            1.0,
        ),
        (
            r#"antiphon_runs_total{agent="desk",outcome="cancelled"}"#,
            0.0,
        ),
        (
            r#"antiphon_runs_total{agent="echo",outcome="finished"}"#,
            0.0,
        ),
        (r#"antiphon_run_seconds_count{agent="desk"}"#, 4.0),
        (r#"antiphon_model_calls_total{agent="desk"}"#, 5.0),
        (r#"antiphon_model_failures_total{agent="desk"}"#, 1.0),
        (r#"antiphon_tool_calls_total{agent="desk"}"#, 2.0),
        (r#"antiphon_first_token_seconds_count{agent="desk"}"#, 5.0),
        (
            r#"antiphon_first_token_seconds_bucket{agent="echo",le="+Inf"}"#,
            1.0,
        ),
        ("antiphon_active_runs", 1.0),
        ("antiphon_readers", 1.0),
        (
            r#"antiphon_http_answers_total{method="POST",route="/",status="2xx"}"#,
            4.0,
        ),
        (
            r#"antiphon_http_answers_total{method="POST",route="/agents/{name}",status="2xx"}"#,
            1.0,
        ),
    ] {
        assert_eq!(value(&text, series), Some(expected), "{series}\n{text}");
    }
    assert!(value(&text, r#"antiphon_output_tokens_total{agent="desk"}"#) > Some(0.0));
    assert!(value(&text, "antiphon_sent_bytes_total") > Some(1000.0));
    call.finish();
    running.events().await;
}

#[tokio::test]
async fn counters_hold_nothing_of_anybody() {
    let tokens = StaticTokens::new().user("t0ken", "alice").unwrap();
    let desk = desk(&Effects::default(), Approval::default());
    let server = Running::start(Server::new([desk]).authenticator(tokens)).await;
    let bearer = [("authorization", "Bearer t0ken")];
    let body = input("thread-of-alice", "run-of-alice", "words of alice");
    server.post_with("/", &body, &bearer).await.events().await;
    for path in [
        "/sessions/thread-of-alice",
        "/path-of-alice",
        "/responses/alice?sessionId=alice",
    ] {
        server.get_with(path, &bearer).await.text().await;
    }
    let text = metrics(&server).await;
    for secret in ["alice", "t0ken", "words", "thread-of", "path-of"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    let other = r#"antiphon_http_answers_total{method="other",route="other",status="4xx"}"#;
    assert_eq!(value(&text, other), Some(1.0));
}

#[tokio::test]
async fn the_counters_are_in_the_text_format() {
    let desk = desk(&Effects::default(), Approval::default());
    let server = Running::start(Server::new([desk])).await;
    let text = metrics(&server).await;
    assert!(text.ends_with('\n'));
    let mut described = "";
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# ") {
            described = rest.split(' ').nth(1).unwrap();
            continue;
        }
        let (series, value) = line.rsplit_once(' ').unwrap();
        value.parse::<f64>().unwrap();
        let name = series.split('{').next().unwrap();
        assert!(
            name.starts_with(described),
            "{line} stands under {described}"
        );
        assert!(!series.contains('{') || series.ends_with("\"}"), "{line}");
    }
}

#[tokio::test]
async fn the_description_has_every_route() {
    let desk = desk(&Effects::default(), Approval::default());
    let server = Running::start(Server::new([desk])).await;
    let mut answer = server.get("/openapi.json").await;
    assert_eq!(answer.header("content-type"), "application/json");
    let document = answer.json().await;
    assert_eq!(document["openapi"], "3.1.0");
    let mut operations = 0;
    for methods in document["paths"].as_object().unwrap().values() {
        operations += methods.as_object().unwrap().len();
    }
    assert_eq!(operations, ROUTES.len());
    for route in ROUTES {
        let operation = &document["paths"][route.path][route.method.to_lowercase()];
        assert!(operation["summary"].is_string(), "{route:?}");
        assert!(operation["responses"]["default"].is_object(), "{route:?}");
        let named = route.path.matches('{').count();
        let parameters = operation["parameters"].as_array().unwrap();
        let in_path = parameters
            .iter()
            .filter(|parameter| parameter["in"] == "path");
        assert_eq!(in_path.count(), named, "{route:?}");
    }
    let body = &document["paths"]["/responses"]["post"]["requestBody"];
    let reference = &body["content"]["application/json"]["schema"]["$ref"];
    assert_eq!(*reference, json!("#/components/schemas/ResponseRequest"));
}

#[tokio::test]
async fn the_page_of_the_description_runs_nothing_and_loads_nothing() {
    let desk = desk(&Effects::default(), Approval::default());
    let server = Running::start(Server::new([desk])).await;
    let mut answer = server.get("/docs").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    let policy = answer.header("content-security-policy").to_owned();
    for part in [
        "default-src 'none'",
        "style-src 'sha256-",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    ] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    let html = answer.text().await;
    assert!(!html.contains("<script") && !html.contains("src="));
    assert!(html.contains("<code>POST /responses</code>"));
}

#[tokio::test]
async fn whoever_watches_needs_no_token() {
    let tokens = StaticTokens::new().user("t", "alice").unwrap();
    let desk = desk(&Effects::default(), Approval::default());
    let server = Running::start(Server::new([desk]).authenticator(tokens)).await;
    for path in ["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs"] {
        assert_eq!(server.get(path).await.status, 200, "{path}");
    }
}
