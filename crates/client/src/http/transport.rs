//! Requests to an agent and to its runs.

use std::{sync::OnceLock, time::Duration};

use antiphon_protocol::{proto, sse};
use bytes::Bytes;
use reqwest::{RequestBuilder, StatusCode, Url, header, redirect};
use tokio::time::timeout;

use super::{Address, Answer, Headers};
use crate::options::Timeouts;
use crate::text::clean;
use crate::{Error, ErrorKind};

/// How many redirects within one origin are followed.
const MAX_REDIRECTS: usize = 3;
/// The longest wait for an answer that is not a new run's: those begin at once.
const PROMPT: Duration = Duration::from_secs(30);

/// What it takes to reach an agent.
#[derive(Debug, Clone)]
pub(crate) struct Transport {
    pub(crate) address: Address,
    pub(crate) headers: Headers,
    pub(crate) timeouts: Timeouts,
    pub(crate) protobuf: bool,
    /// Made at the first request: loading the system's certificates takes a while.
    client: OnceLock<reqwest::Client>,
}

impl Transport {
    pub(crate) fn new(address: Address) -> Self {
        Self {
            address,
            headers: Headers::default(),
            timeouts: Timeouts::default(),
            protobuf: false,
            client: OnceLock::new(),
        }
    }

    pub(crate) fn set_timeouts(&mut self, timeouts: Timeouts) {
        self.timeouts = timeouts;
        self.client = OnceLock::new();
    }

    /// Starts a run.
    pub(crate) async fn start(&self, body: Bytes) -> Result<Answer, Error> {
        let request = self
            .client()?
            .post(self.address.agent().clone())
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, self.accept())
            .body(body);
        self.answer(request, self.timeouts.idle).await
    }

    /// Joins a run, behind this event if there is one.
    pub(crate) async fn join(
        &self,
        thread: &str,
        run: &str,
        after: Option<&str>,
    ) -> Result<Answer, Error> {
        let mut request = self
            .client()?
            .get(self.address.run(thread, run, "events"))
            .header(header::ACCEPT, sse::MEDIA_TYPE);
        if let Some(id) = after {
            request = request.header("last-event-id", id);
        }
        self.answer(request, self.timeouts.idle.min(PROMPT)).await
    }

    /// Asks the server to stop a run, and returns whether it took the request. One that does not
    /// know the run, or does not offer this at all, takes none.
    pub(crate) async fn cancel(&self, thread: &str, run: &str) -> Result<bool, Error> {
        let request = self.client()?.post(self.address.run(thread, run, "cancel"));
        let wait = self.timeouts.idle.min(PROMPT);
        let response = self.response(request, wait).await?;
        match response.status() {
            status if status.is_success() => Ok(true),
            StatusCode::NOT_FOUND
            | StatusCode::METHOD_NOT_ALLOWED
            | StatusCode::GONE
            | StatusCode::NOT_IMPLEMENTED => Ok(false),
            _ => Answer::of(response, &self.headers).await.map(|_| false),
        }
    }

    async fn answer(&self, request: RequestBuilder, wait: Duration) -> Result<Answer, Error> {
        let response = self.response(request, wait).await?;
        Answer::of(response, &self.headers).await
    }

    pub(super) async fn response(
        &self,
        request: RequestBuilder,
        wait: Duration,
    ) -> Result<reqwest::Response, Error> {
        let request = request.headers(self.headers.checked()?);
        match timeout(wait, request.send()).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(self.unsent(error)),
            Err(_) => Err(Error::new(
                ErrorKind::Timeout,
                format!("the server did not answer within {wait:?}"),
            )),
        }
    }

    fn accept(&self) -> String {
        if self.protobuf {
            format!("{}, {};q=0.9", proto::MEDIA_TYPE, sse::MEDIA_TYPE)
        } else {
            sse::MEDIA_TYPE.to_owned()
        }
    }

    fn unsent(&self, error: reqwest::Error) -> Error {
        let what = match &error {
            error if error.is_connect() => "no connection to the server",
            error if error.is_builder() => "the request cannot be made",
            _ => "the connection broke before an answer came",
        };
        let kind = if error.is_builder() {
            ErrorKind::Setup
        } else {
            ErrorKind::Connect
        };
        let why = self.headers.blot(&chain(&error.without_url()));
        Error::new(kind, format!("{what}: {}", clean(&why, 300)))
    }

    pub(super) fn client(&self) -> Result<&reqwest::Client, Error> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let made = client(self.timeouts.connect)?;
        Ok(self.client.get_or_init(|| made))
    }
}

/// Makes the HTTP client. It takes no proxy from the environment, and the process's TLS provider
/// is set to ring if none is set yet.
fn client(connect: Duration) -> Result<reqwest::Client, Error> {
    // An error means that a provider is installed already.
    rustls::crypto::ring::default_provider()
        .install_default()
        .ok();
    reqwest::Client::builder()
        .connect_timeout(connect)
        .redirect(redirect::Policy::custom(within_origin))
        .no_proxy()
        .tcp_nodelay(true)
        .user_agent(concat!("antiphon/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| {
            Error::new(
                ErrorKind::Setup,
                format!("the http client cannot be set up: {}", chain(&error)),
            )
        })
}

/// Follows what moved within its own origin (a missing slash, usually), keeping method and body.
/// No token ever travels to another host.
fn within_origin(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let keeps_method = matches!(
        attempt.status(),
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
    );
    let same_origin = attempt
        .previous()
        .first()
        .is_some_and(|first: &Url| first.origin() == attempt.url().origin());
    if keeps_method && same_origin && attempt.previous().len() <= MAX_REDIRECTS {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

/// An error and its causes in one line.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        line.push_str(": ");
        line.push_str(&error.to_string());
        cause = error.source();
    }
    line
}
