//! Making the call: one client for all tools, bounded answers, no redirect to another host.

use std::sync::OnceLock;
use std::time::Duration;

use antiphon::RunContext;
use antiphon::model::http::client;
use http::header::LOCATION;
use reqwest::{Client, Response};

use super::template::Rendered;

/// Time to connect.
const CONNECT: Duration = Duration::from_secs(10);
/// The largest answer that is read, in bytes.
const MAX_ANSWER: usize = 1 << 20;
/// How much of a failed answer goes to the log, in bytes.
const MAX_LOGGED: usize = 2048;
/// Redirects that a GET follows.
const MAX_REDIRECTS: usize = 5;

/// The header that tells another system under which id to report its result.
const WAIT_ID: &str = "antiphon-wait-id";

/// What every request of a call carries beside its own headers.
pub(super) struct Marks {
    /// The same whenever the call is made again.
    pub(super) key: String,
    /// The external wait that the call begins.
    pub(super) wait: Option<String>,
}

impl Marks {
    pub(super) fn of(run: RunContext<'_>) -> Self {
        Self {
            key: run.idempotency_key(),
            wait: run.wait_id().map(str::to_owned),
        }
    }
}

/// An answer with a status of success.
pub(super) struct Answer {
    /// Whether it says that it is JSON.
    pub(super) is_json: bool,
    pub(super) body: Vec<u8>,
}

/// Sends a request and reads its answer.
///
/// # Errors
/// Why there is no result, in words for the model: a status, never an answer's own words.
pub(super) async fn call(tool: &str, rendered: Rendered, marks: &Marks) -> Result<Answer, String> {
    let response = send(tool, rendered, marks).await?;
    let status = response.status();
    let kind = response.headers().get(http::header::CONTENT_TYPE);
    let is_json = kind
        .and_then(|kind| kind.to_str().ok())
        .is_some_and(is_json);
    if !status.is_success() {
        let (answer, _) = read(response, MAX_LOGGED).await;
        let answer = String::from_utf8_lossy(&answer);
        tracing::warn!(
            tool,
            status = status.as_u16(),
            "a tool's server refused a call"
        );
        tracing::debug!(tool, %answer, "what the tool's server said");
        return Err(format!(
            "its server answered with status {}",
            status.as_u16()
        ));
    }
    let (body, whole) = read(response, MAX_ANSWER).await;
    whole?;
    Ok(Answer { is_json, body })
}

/// Sends a request with a private value. Nothing of the answer is read or logged, as it may repeat the value.
///
/// # Errors
/// That it failed.
pub(super) async fn deliver(tool: &str, rendered: Rendered, marks: &Marks) -> Result<(), String> {
    let status = send(tool, rendered, marks).await?.status();
    if status.is_success() {
        return Ok(());
    }
    tracing::warn!(
        tool,
        status = status.as_u16(),
        "a private value was refused"
    );
    Err(format!(
        "its server answered with status {}",
        status.as_u16()
    ))
}

async fn send(tool: &str, rendered: Rendered, marks: &Marks) -> Result<Response, String> {
    let client = shared_client()?;
    let Rendered {
        method,
        mut url,
        headers,
        body,
    } = rendered;
    for _ in 0..=MAX_REDIRECTS {
        let mut request = client
            .request(method.clone(), url.clone())
            .headers(headers.clone())
            .header("idempotency-key", &marks.key);
        if let Some(wait) = &marks.wait {
            request = request.header(WAIT_ID, wait);
        }
        if let Some(body) = &body {
            request = request.body(body.clone());
        }
        let response = request
            .send()
            .await
            .map_err(|error| unreached(tool, &error))?;
        let target = response.status().is_redirection().then(|| {
            let target = response.headers().get(LOCATION)?.to_str().ok()?;
            url.join(target).ok()
        });
        match target.flatten() {
            Some(target) if method == http::Method::GET && target.origin() == url.origin() => {
                url = target;
            }
            _ => return Ok(response),
        }
    }
    Err("its server redirects without end".to_owned())
}

fn unreached(tool: &str, error: &reqwest::Error) -> String {
    // The error's own words name the URL, which may hold arguments.
    tracing::warn!(
        tool,
        connect = error.is_connect(),
        "a tool's server could not be reached"
    );
    "its server cannot be reached".to_owned()
}

/// What came of the body, and why it is not whole where it is not.
async fn read(mut response: Response, limit: usize) -> (Vec<u8>, Result<(), String>) {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len() + chunk.len() <= limit => body.extend_from_slice(&chunk),
            Ok(Some(chunk)) => {
                let room = limit.saturating_sub(body.len());
                body.extend(chunk.iter().take(room));
                let why = format!("its server's answer is larger than {limit} bytes");
                return (body, Err(why));
            }
            Ok(None) => return (body, Ok(())),
            Err(_) => return (body, Err("its server's answer was cut off".to_owned())),
        }
    }
}

fn is_json(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let kind = kind.to_ascii_lowercase();
    kind == "application/json" || kind.ends_with("+json")
}

/// The client, made at the first call: loading the system's certificates takes a while.
fn shared_client() -> Result<&'static Client, String> {
    static CLIENT: OnceLock<Client> = OnceLock::new();
    if let Some(client) = CLIENT.get() {
        return Ok(client);
    }
    let made = client(CONNECT).map_err(|error| {
        tracing::error!(%error, detail = error.detail(), "no http client");
        "the server can't make http calls".to_owned()
    })?;
    Ok(CLIENT.get_or_init(|| made))
}
