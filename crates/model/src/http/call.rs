//! One model call: the request, tried again while nothing has come back, and the answer as it arrives.

use std::{future::Future, sync::Arc, time::Duration};

use bytes::Bytes;
use reqwest::{Response, StatusCode, header};
use tokio::time::{Instant, timeout_at};

use super::{Endpoint, client::chain};
use crate::{
    Error, ErrorKind, ModelEvent, Request,
    wire::{Decode, Wire},
};

/// How much of a body that is no stream is read, to learn what it says.
const FAILURE_BYTES: usize = 16 * 1024;

/// How long such a body may take.
const FAILURE_TIME: Duration = Duration::from_secs(5);

/// How long to wait for usage and the end of a body once the finish has been read.
const GRACE: Duration = Duration::from_secs(2);

/// A call in progress.
pub(super) struct Call<W: Wire> {
    endpoint: Arc<Endpoint>,
    wire: W,
    body: Bytes,
    decoder: W::Decoder,
    state: State,
    /// When the whole call has taken too long; set when it is first polled.
    deadline: Option<Instant>,
}

enum State {
    Asking,
    /// The answer, and whether any byte of it has come.
    Reading(Response, bool),
    /// No more bytes are read; events may be left in the decoder.
    Over,
}

impl<W: Wire> Call<W> {
    pub(super) fn new(endpoint: Arc<Endpoint>, wire: W, request: &Request) -> Self {
        let body = wire.encode(request).into();
        let decoder = wire.decoder(request);
        Self {
            endpoint,
            wire,
            body,
            decoder,
            state: State::Asking,
            deadline: None,
        }
    }

    /// The next event, or `None` after the last one.
    pub(super) async fn next_event(&mut self) -> Option<Result<ModelEvent, Error>> {
        loop {
            if let Some(item) = self.decoder.next_event() {
                if matches!(item, Err(_) | Ok(ModelEvent::Finished(_))) {
                    // Closes the connection at once where the answer is not over.
                    self.state = State::Over;
                }
                return Some(item.map_err(|error| self.cleaned(error)));
            }
            let total = self.endpoint.timeouts.total;
            self.deadline.get_or_insert_with(|| Instant::now() + total);
            let step = match &mut self.state {
                State::Asking => self.ask().await,
                State::Reading(..) => self.read().await,
                State::Over => return None,
            };
            if let Err(error) = step {
                self.state = State::Over;
                return Some(Err(error));
            }
        }
    }

    /// Sends the request until an answer begins or trying again is of no use.
    async fn ask(&mut self) -> Result<(), Error> {
        let mut attempt = 1;
        loop {
            let error = match self.attempt().await {
                Ok(response) => {
                    self.state = State::Reading(response, false);
                    return Ok(());
                }
                Err(error) => error,
            };
            let wait = self
                .endpoint
                .retries
                .wait(attempt, error.retry_after(), fastrand::f64());
            let Some(wait) = wait
                .filter(|wait| error.is_transient() && Instant::now() + *wait < self.deadline())
            else {
                return Err(error);
            };
            tracing::debug!(
                attempt,
                code = error.code(),
                ?wait,
                "a model call is tried again"
            );
            tokio::time::sleep(wait).await;
            attempt += 1;
        }
    }

    async fn attempt(&mut self) -> Result<Response, Error> {
        let request = self.endpoint.request(self.body.clone())?;
        let until = self.until(self.endpoint.timeouts.first_token);
        let response = in_time(until, request.send())
            .await?
            .map_err(|error| self.unsent(&error))?;
        if response.status() == StatusCode::OK && !is_document(&response) {
            return Ok(response);
        }
        Err(self.failure(response).await)
    }

    /// Reads the next piece of the body.
    async fn read(&mut self) -> Result<(), Error> {
        let settled = self.decoder.is_settled();
        let timeouts = self.endpoint.timeouts;
        let until = match &self.state {
            _ if settled => self.until(timeouts.idle.min(GRACE)),
            State::Reading(_, false) => self.until(timeouts.first_token),
            _ => self.until(timeouts.idle),
        };
        let State::Reading(response, begun) = &mut self.state else {
            return Ok(());
        };
        match in_time(until, response.chunk()).await {
            Ok(Ok(Some(bytes))) => {
                *begun = true;
                self.decoder.push(&bytes);
                return Ok(());
            }
            Ok(Ok(None)) => {}
            // A turn that is whole does not suffer from how its connection ends.
            Ok(Err(_)) | Err(_) if settled => {}
            Ok(Err(error)) => {
                let detail = self.endpoint.without_secrets(&chain(&error.without_url()));
                return Err(Error::of(ErrorKind::Truncated).with_detail(detail));
            }
            Err(late) => return Err(late),
        }
        self.decoder.finish();
        self.state = State::Over;
        Ok(())
    }

    /// What an answer that is no stream means.
    async fn failure(&mut self, mut response: Response) -> Error {
        let status = response.status();
        let retry_after = retry_after(&response);
        let kind = response
            .headers()
            .get(header::CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .unwrap_or("-");
        let head = format!("status {}, content-type {kind}", status.as_u16());
        let mut body = Vec::new();
        let until = self.until(FAILURE_TIME);
        while let Ok(Ok(Some(bytes))) = in_time(until, response.chunk()).await {
            let room = FAILURE_BYTES - body.len();
            body.extend_from_slice(bytes.get(..room).unwrap_or(&bytes));
            if body.len() >= FAILURE_BYTES {
                break;
            }
        }
        let told = self.wire.failure(&body);
        let kind = match (status, told.as_ref().map(Error::kind)) {
            (StatusCode::OK, Some(kind)) => kind,
            (StatusCode::OK, None) => ErrorKind::Malformed,
            // A status says more than the words beside it, but for a refusal, which has no status of its own.
            (_, Some(ErrorKind::Refused)) => ErrorKind::Refused,
            _ => ErrorKind::from_status(status.as_u16()),
        };
        let body = self
            .endpoint
            .without_secrets(&String::from_utf8_lossy(&body));
        let error = Error::of(kind).with_detail(format!("{head}: {body}"));
        match retry_after {
            Some(wait) => error.with_retry_after(wait),
            None => error,
        }
    }

    fn unsent(&self, error: &reqwest::Error) -> Error {
        let kind = match error {
            error if error.is_connect() => ErrorKind::Connect,
            error if error.is_timeout() => ErrorKind::Timeout,
            error if error.is_builder() => ErrorKind::Setup,
            // The connection broke before any status came, as it does when a server restarts.
            _ => ErrorKind::Connect,
        };
        let url = error.url().map(ToString::to_string).unwrap_or_default();
        let detail = if url.is_empty() {
            chain(error)
        } else {
            chain(error).replace(&url, "the provider")
        };
        Error::of(kind).with_detail(self.endpoint.without_secrets(&detail))
    }

    fn cleaned(&self, error: Error) -> Error {
        match error
            .detail()
            .map(|detail| self.endpoint.without_secrets(detail))
        {
            Some(detail) => error.with_detail(detail),
            None => error,
        }
    }

    fn deadline(&self) -> Instant {
        self.deadline
            .unwrap_or_else(|| Instant::now() + self.endpoint.timeouts.total)
    }

    fn until(&self, wait: Duration) -> Instant {
        (Instant::now() + wait).min(self.deadline())
    }
}

async fn in_time<T>(until: Instant, work: impl Future<Output = T>) -> Result<T, Error> {
    timeout_at(until, work)
        .await
        .map_err(|_| Error::of(ErrorKind::Timeout))
}

/// Whether a successful answer says itself that it is no stream.
fn is_document(response: &Response) -> bool {
    let kind = response
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    [
        "text/html",
        "application/json",
        "application/xml",
        "text/xml",
    ]
    .iter()
    .any(|document| kind.eq_ignore_ascii_case(document))
}

/// How long the provider asks to wait; only the form in seconds is in use among model providers.
fn retry_after(response: &Response) -> Option<Duration> {
    let header = |name: &str| {
        response
            .headers()
            .get(name)?
            .to_str()
            .ok()?
            .trim()
            .parse::<f64>()
            .ok()
    };
    let seconds = header("retry-after-ms")
        .map(|milliseconds| milliseconds / 1000.0)
        .or_else(|| header("retry-after"))?;
    Duration::try_from_secs_f64(seconds).ok()
}
