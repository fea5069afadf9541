//! An answer that has begun: a stream of events, or a refusal.

use std::time::Duration;

use antiphon_protocol::{proto, sse};
use bytes::Bytes;
use reqwest::{Response, StatusCode, header};
use tokio::time::{Instant, timeout_at};

use super::{Headers, failure, transport::chain};
use crate::text::clean;
use crate::{Error, ErrorKind};

/// How much of a refusal's body is read.
const FAILURE_BYTES: usize = 64 * 1024;
/// How long a refusal's body may take.
const FAILURE_TIME: Duration = Duration::from_secs(5);

/// How events are written on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    /// Server-sent events.
    Sse,
    /// Length-prefixed protobuf.
    Proto,
}

/// A stream of events that has begun.
#[derive(Debug)]
pub(crate) struct Answer {
    response: Response,
    pub(crate) wire: Wire,
}

impl Answer {
    /// Takes a response as a stream of events.
    pub(super) async fn of(response: Response, headers: &Headers) -> Result<Self, Error> {
        let content_type = content_type(&response);
        if response.status() != StatusCode::OK {
            return Err(refusal(response, &content_type, headers).await);
        }
        let essence = content_type.split(';').next().unwrap_or_default().trim();
        let wire = match essence.to_ascii_lowercase().as_str() {
            // Some servers forget to say what they send; the events themselves decide then.
            sse::MEDIA_TYPE | "" => Wire::Sse,
            proto::MEDIA_TYPE => Wire::Proto,
            other => {
                let other = clean(other, 100);
                return Err(Error::new(
                    ErrorKind::NotAgUi,
                    format!("the server answered with {other} and not with a stream of events"),
                ));
            }
        };
        Ok(Self { response, wire })
    }

    /// Waits for the next bytes of the stream, `None` at its end. Safe to cancel: nothing is
    /// lost.
    ///
    /// # Errors
    ///
    /// The connection broke, as a sentence.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, String> {
        self.response
            .chunk()
            .await
            .map_err(|error| chain(&error.without_url()))
    }
}

fn content_type(response: &Response) -> String {
    response
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
        .to_owned()
}

async fn refusal(mut response: Response, content_type: &str, headers: &Headers) -> Error {
    let status = response.status();
    if status.is_success() {
        return Error::new(
            ErrorKind::NotAgUi,
            format!(
                "the server answered {} and not with a stream of events",
                status.as_u16()
            ),
        );
    }
    if let Some(place) = response
        .headers()
        .get(header::LOCATION)
        .filter(|_| status.is_redirection())
    {
        let place = headers.blot(&String::from_utf8_lossy(place.as_bytes()));
        return Error::status(
            status.as_u16(),
            None,
            &format!("the agent has moved to {place}"),
            None,
        );
    }
    let retry_after = response
        .headers()
        .get(header::RETRY_AFTER)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.trim().parse().ok())
        .map(Duration::from_secs);
    let body = body(&mut response).await;
    let said = failure::said(content_type, &body);
    let message = headers.blot(&said.message);
    Error::status(status.as_u16(), said.code.as_deref(), &message, retry_after)
}

/// Reads as much of the body as is worth reading.
async fn body(response: &mut Response) -> Vec<u8> {
    let until = Instant::now() + FAILURE_TIME;
    let mut body = Vec::new();
    while let Ok(Ok(Some(bytes))) = timeout_at(until, response.chunk()).await {
        let room = FAILURE_BYTES - body.len();
        body.extend_from_slice(bytes.get(..room).unwrap_or(&bytes));
        if body.len() >= FAILURE_BYTES {
            break;
        }
    }
    body
}
