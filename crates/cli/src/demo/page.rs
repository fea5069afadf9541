//! `GET /curl`: a plain page that lists the agents, each with a line to try it.
//!
//! It loads its style sheet from this server and nothing from anywhere else, and runs no script.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;

const STYLE: &str = include_str!("page.css");
const POLICY: &str = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// An agent as the page lists it.
#[derive(Debug, Clone)]
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) description: String,
}

/// The page and its style sheet.
pub(super) fn router(agents: Vec<Listed>, model: String) -> Router {
    let shared = Arc::new((agents, model));
    let page = move |headers: HeaderMap| {
        let shared = Arc::clone(&shared);
        async move { page(&headers, &shared.0, &shared.1) }
    };
    let style = || async {
        let headers = [
            (header::CONTENT_TYPE, "text/css; charset=utf-8"),
            (header::CACHE_CONTROL, "no-cache"),
        ];
        (headers, STYLE)
    };
    Router::new()
        .route("/curl", get(page))
        .route("/demo.css", get(style))
}

fn page(headers: &HeaderMap, agents: &[Listed], model: &str) -> Response {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let html = html(host.unwrap_or("127.0.0.1:8888"), agents, model);
    let guards = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
    ];
    let guards = guards.map(|(name, value)| (name, HeaderValue::from_static(value)));
    (guards, Html(html)).into_response()
}

fn html(host: &str, agents: &[Listed], model: &str) -> String {
    let mut items = String::new();
    for Listed { name, description } in agents {
        let command = curl(host, name, prompt(name));
        // Writing into a String cannot fail.
        let _ = writeln!(
            items,
            "<li id=\"{name}\"><h2><a href=\"/agents/{name}\">{name}</a></h2><p>{}</p><pre><code>{}</code></pre></li>",
            escaped(description),
            escaped(&command),
        );
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Antiphon demo</title>\n<link rel=\"stylesheet\" href=\"/demo.css\">\n</head>\n<body>\n<main>\n\
         <h1>Antiphon</h1>\n\
         <p>These agents speak <a href=\"https://docs.ag-ui.com\">AG-UI</a>. Point a client at \
         <code>http://{host}/agents/NAME</code>, or paste a line into a terminal and watch the events come.</p>\n\
         <p>The model: <strong>{model}</strong>.</p>\n\
         <ul>\n{items}</ul>\n</main>\n</body>\n</html>\n",
        host = escaped(host),
        model = escaped(model),
    )
}

/// A shell line that starts a run on a thread of its own.
fn curl(host: &str, agent: &str, prompt: &str) -> String {
    format!(
        "curl -N http://{host}/agents/{agent} -H 'content-type: application/json' \\\n  \
         -d '{{\"threadId\":\"t-'$(date +%s)'\",\"runId\":\"r-'$(date +%s)'\",\"messages\":[{{\"id\":\"m-1\",\"role\":\"user\",\"content\":\"{prompt}\"}}]}}'"
    )
}

fn prompt(agent: &str) -> &'static str {
    match agent {
        "recipe" => "Make me a carbonara",
        "plan" | "agentic_generative_ui" => "Plan a trip to Mars in five steps",
        "document" | "predictive_state_updates" => "Write a story",
        "report" => "Write a report",
        "backend_tool_rendering" => "What is the weather like in Tokyo?",
        "shared_state" => "Give me a recipe",
        _ => "Hello",
    }
}

/// Text for HTML, in elements and in double-quoted attributes.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_outside_is_escaped() {
        let listed = Listed {
            name: "a".to_owned(),
            description: "<script>alert(1)</script>".to_owned(),
        };
        let page = html("x\"><script>", &[listed], "m & n");
        assert!(!page.contains("<script>"));
        assert!(page.contains("m &amp; n"));
    }

    #[test]
    fn the_line_for_a_terminal_is_json_to_the_server() {
        let line = curl("127.0.0.1:1", "recipe", "Hello");
        let body = line.split("-d ").nth(1).unwrap();
        let body = body
            .replace("'$(date +%s)'", "7")
            .trim_matches('\'')
            .to_owned();
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body["threadId"], "t-7");
        assert_eq!(body["messages"][0]["content"], "Hello");
    }
}
