//! The requests that show how a server behaves.

mod http;
mod input;
mod negotiation;
mod refusals;
mod run;
mod versions;

use antiphon_protocol::{Message, PROTOCOL_VERSION, RunAgentInput, sse};
use bytes::Bytes;
use serde_json::{Value, json};

use super::options::{Group, Options};
use super::report::{Record, Report};
use super::stream::{Asked, Heard, judge};
use crate::client::new_id;
use crate::http::{Address, Ask, Exchange, Method, Transport};
use crate::{Error, ErrorKind, Timeouts};

/// The longest answer that is read, in bytes.
const MAX_BODY: usize = 32 << 20;

/// Asks a server and keeps the record of what it showed.
pub(super) struct Prober<'a> {
    transport: Transport,
    options: &'a Options,
    record: Record,
}

impl<'a> Prober<'a> {
    pub(super) fn new(url: &str, options: &'a Options) -> Result<Self, Error> {
        let address = Address::new(url)?;
        let shown = address.shown();
        let mut transport = Transport::new(address);
        for (name, value) in &options.headers {
            transport.headers.insert(name, value);
        }
        transport.set_timeouts(Timeouts {
            idle: options.idle,
            ..Timeouts::default()
        });
        let record = Record::new(shown, transport.headers.clone());
        Ok(Self {
            transport,
            options,
            record,
        })
    }

    pub(super) fn into_report(self) -> Report {
        self.record.into_report()
    }

    /// Runs the probe once, to see whether there is anything to judge.
    pub(super) async fn first(&mut self) -> Result<First, Error> {
        let body = self.input();
        let exchange = self.ask(posting(to_bytes(&body))).await?;
        if matches!(exchange.status, 300..=399 | 401 | 403..=405) {
            let said = self
                .transport
                .headers
                .blot(&String::from_utf8_lossy(&exchange.body));
            return Err(Error::status(exchange.status, None, &said, None));
        }
        let heard = judge(&mut self.record, "first run", &exchange, &asked(&body));
        Ok(First {
            body,
            exchange,
            heard,
        })
    }

    pub(super) async fn group(&mut self, group: Group, first: &First) {
        match group {
            Group::Run => self.probe_run(first).await,
            Group::Negotiation => self.probe_negotiation().await,
            Group::Versions => self.probe_versions().await,
            Group::Input => self.probe_input().await,
            Group::Refusals => self.probe_refusals().await,
            Group::Http => self.probe_http().await,
        }
    }

    /// A request for a run on a thread of its own.
    fn input(&self) -> Value {
        json!({
            "threadId": format!("check-{}", new_id()),
            "runId": new_id(),
            "protocolVersion": PROTOCOL_VERSION,
            "state": {},
            "messages": [{"id": new_id(), "role": "user", "content": self.options.probe}],
            "tools": self.options.tools,
            "context": [],
            "forwardedProps": {},
        })
    }

    async fn ask(&self, ask: Ask) -> Result<Exchange, Error> {
        self.transport
            .exchange(ask, MAX_BODY, self.options.idle)
            .await
    }

    /// Asks; a server that does not answer is not robust.
    async fn answered(&mut self, place: &str, ask: Ask) -> Option<Exchange> {
        match self.ask(ask).await {
            Ok(exchange) if exchange.status < 500 => {
                self.record.kept("robust");
                Some(exchange)
            }
            Ok(exchange) => {
                self.record
                    .broken("robust", place, format!("status {}", exchange.status));
                Some(exchange)
            }
            Err(error) => {
                self.record.broken("robust", place, error.to_string());
                None
            }
        }
    }

    /// Starts a run that has to be served, under this rule.
    async fn served(&mut self, rule: &str, place: &str, body: &Value) -> Option<Heard> {
        let ask = posting(to_bytes(body));
        let exchange = self.answered(place, ask).await?;
        let heard = judge(&mut self.record, place, &exchange, &asked(body));
        let found = match &heard {
            Some(_) => Ok(()),
            None => Err(refusal_of(&exchange)),
        };
        self.record.note(rule, place, found);
        heard
    }

    /// Starts a run that may be served, or refused before any stream.
    async fn served_or_refused(&mut self, rule: &str, place: &str, body: &Value) {
        let ask = posting(to_bytes(body));
        let Some(exchange) = self.answered(place, ask).await else {
            return;
        };
        if exchange.status == 200 {
            judge(&mut self.record, place, &exchange, &asked(body));
            self.record.kept(rule);
        } else {
            self.refusal(rule, place, &exchange);
        }
    }

    /// Sends what has to be refused.
    async fn refused(&mut self, rule: &str, place: &str, body: impl Into<Bytes>) {
        let ask = posting(body);
        if let Some(exchange) = self.answered(place, ask).await {
            self.refusal(rule, place, &exchange);
        }
    }

    /// Judges a refusal.
    fn refusal(&mut self, rule: &str, place: &str, exchange: &Exchange) {
        let found = match exchange.status {
            _ if exchange.media_type() == sse::MEDIA_TYPE => {
                Err(format!("status {} and a stream", exchange.status))
            }
            400..=499 => Ok(()),
            status => Err(format!("status {status}")),
        };
        let is_refused = found.is_ok();
        self.record.note(rule, place, found);
        if is_refused {
            self.check_error_body(place, exchange);
        }
    }

    fn check_error_body(&mut self, place: &str, exchange: &Exchange) {
        let is_object =
            serde_json::from_slice::<Value>(&exchange.body).is_ok_and(|body| body.is_object());
        let media_type = exchange.media_type();
        let declared = media_type == "application/json" || media_type == "application/problem+json";
        let found = if is_object && declared {
            Ok(())
        } else {
            let said = String::from_utf8_lossy(&exchange.body);
            Err(format!(
                "status {} with {media_type}: {said}",
                exchange.status
            ))
        };
        self.record.note("error-json", place, found);
    }
}

/// A POST to the agent, as a client of 1.0 makes it.
fn posting(body: impl Into<Bytes>) -> Ask {
    Ask {
        method: Method::POST,
        path: None,
        accept: Some(sse::MEDIA_TYPE.to_owned()),
        content_type: Some("application/json"),
        body: Some(body.into()),
        leave: false,
    }
}

/// The first run, which others go on from.
pub(super) struct First {
    body: Value,
    exchange: Exchange,
    heard: Option<Heard>,
}

/// What a request asks, as the verifier has to know it.
fn asked(body: &Value) -> Asked {
    let input = RunAgentInput::read(body.clone()).map(|read| read.value);
    let input = input.unwrap_or_else(|_| {
        let id = |key: &str| body[key].as_str().unwrap_or_default().to_owned();
        RunAgentInput::new(id("threadId"), id("runId"), Vec::<Message>::new())
    });
    let history = input.messages.clone();
    Asked { input, history }
}

fn to_bytes(body: &Value) -> Bytes {
    body.to_string().into()
}

fn refusal_of(exchange: &Exchange) -> String {
    let said = String::from_utf8_lossy(&exchange.body);
    format!("status {}: {said}", exchange.status)
}

/// Sets a member of a request, `None` removes it.
fn with(mut body: Value, key: &str, value: Option<Value>) -> Value {
    if let Value::Object(members) = &mut body {
        match value {
            Some(value) => drop(members.insert(key.to_owned(), value)),
            None => drop(members.shift_remove(key)),
        }
    }
    body
}

/// An error that a probe does not care for.
fn is_setup(error: &Error) -> bool {
    error.kind() == &ErrorKind::Setup
}
