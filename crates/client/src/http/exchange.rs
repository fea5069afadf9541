//! One request and its whole answer, as it came: for judging a server, not for using it.

use std::time::Duration;

use bytes::Bytes;
use reqwest::{Method, Response, Url, header};
use tokio::time::{Instant, timeout};

use super::transport::{Transport, chain};
use crate::{Error, ErrorKind};

/// A request, to the last byte.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) method: Method,
    /// Another path of the same server.
    pub(crate) path: Option<String>,
    pub(crate) accept: Option<String>,
    pub(crate) content_type: Option<&'static str>,
    pub(crate) body: Option<Bytes>,
    /// Leave after the first bytes of the answer.
    pub(crate) leave: bool,
}

/// How an answer's body ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BodyEnd {
    /// The server ended it.
    Whole,
    /// The connection broke.
    Broken(String),
    /// Nothing came for too long.
    Silent(Duration),
    /// It is longer than anything that is worth judging.
    TooLong,
    /// We left.
    Left,
}

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) cache_control: String,
    pub(crate) allow: String,
    pub(crate) body: Vec<u8>,
    /// In how many pieces the body arrived.
    pub(crate) reads: usize,
    pub(crate) end: BodyEnd,
}

impl Exchange {
    /// Returns the media type without its parameters.
    pub(crate) fn media_type(&self) -> String {
        let essence = self.content_type.split(';').next().unwrap_or_default();
        essence.trim().to_ascii_lowercase()
    }
}

impl Transport {
    /// Asks, and takes at most so many bytes of the answer, waiting at most so long for each.
    pub(crate) async fn exchange(
        &self,
        ask: Ask,
        limit: usize,
        idle: Duration,
    ) -> Result<Exchange, Error> {
        let leave = ask.leave;
        let request = self.build(ask)?;
        let response = self.response(request, idle).await?;
        let text = |name: header::HeaderName| {
            let value = response.headers().get(name);
            let value = value.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
            value.unwrap_or_default()
        };
        let mut exchange = Exchange {
            status: response.status().as_u16(),
            content_type: text(header::CONTENT_TYPE),
            cache_control: text(header::CACHE_CONTROL),
            allow: text(header::ALLOW),
            body: Vec::new(),
            reads: 0,
            end: BodyEnd::Left,
        };
        if !leave {
            exchange.end = read(response, &mut exchange, limit, idle).await;
        }
        Ok(exchange)
    }

    fn build(&self, ask: Ask) -> Result<reqwest::RequestBuilder, Error> {
        let url = match &ask.path {
            None => self.address.agent().clone(),
            Some(path) => self.elsewhere(path)?,
        };
        let mut request = self.client()?.request(ask.method, url);
        // The client library would add `*/*` of its own.
        request = request.header(header::ACCEPT, ask.accept.as_deref().unwrap_or("*/*"));
        if let Some(kind) = ask.content_type {
            request = request.header(header::CONTENT_TYPE, kind);
        }
        if let Some(body) = ask.body {
            request = request.body(body);
        }
        Ok(request)
    }

    fn elsewhere(&self, path: &str) -> Result<Url, Error> {
        self.address
            .agent()
            .join(path)
            .map_err(|_| Error::new(ErrorKind::Setup, format!("{path:?} is no path")))
    }
}

async fn read(
    mut response: Response,
    exchange: &mut Exchange,
    limit: usize,
    idle: Duration,
) -> BodyEnd {
    let longest = Instant::now() + idle.saturating_mul(10);
    loop {
        match timeout(idle, response.chunk()).await {
            Ok(Ok(Some(bytes))) => {
                exchange.reads += 1;
                exchange.body.extend_from_slice(&bytes);
            }
            Ok(Ok(None)) => return BodyEnd::Whole,
            Ok(Err(error)) => return BodyEnd::Broken(chain(&error.without_url())),
            Err(_) => return BodyEnd::Silent(idle),
        }
        if exchange.body.len() > limit || Instant::now() > longest {
            return BodyEnd::TooLong;
        }
    }
}
