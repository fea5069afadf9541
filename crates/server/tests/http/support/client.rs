//! HTTP as a test sees it: every byte, as it comes.

use std::net::SocketAddr;
use std::ops::Deref;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use super::{Running, within};

/// An answer whose body is still to be read. Dropping it drops the connection.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    body: Incoming,
    connection: JoinHandle<()>,
    /// What was read of an event stream and not yet given out.
    held: Vec<u8>,
}

/// A block of an event stream, as it was on the wire, and what it says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) raw: String,
    pub(crate) id: Option<String>,
    pub(crate) data: Value,
}

impl Deref for Event {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.data
    }
}

impl Event {
    pub(crate) fn kind(&self) -> &str {
        self.data["type"].as_str().unwrap_or_default()
    }

    fn read(raw: String) -> Self {
        let mut event = Self {
            id: None,
            data: Value::Null,
            raw,
        };
        for line in event.raw.lines() {
            if let Some(id) = line.strip_prefix("id: ") {
                event.id = Some(id.to_owned());
            } else if let Some(data) = line.strip_prefix("data: ") {
                event.data = serde_json::from_str(data).unwrap();
            }
        }
        event
    }
}

impl Running {
    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[], None).await
    }

    pub(crate) async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send(Method::GET, path, headers, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_with(path, body, &[]).await
    }

    pub(crate) async fn post_with(
        &self,
        path: &str,
        body: &Value,
        headers: &[(&str, &str)],
    ) -> Answer {
        let body = body.to_string().into_bytes();
        self.send(Method::POST, path, headers, Some(body)).await
    }

    /// Sends a request on a connection of its own. A body is declared as JSON unless the headers say
    /// otherwise; an empty header value leaves the header out.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Vec<u8>>,
    ) -> Answer {
        send(self.address, method, path, headers, body).await
    }
}

pub(crate) async fn send(
    address: SocketAddr,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<Vec<u8>>,
) -> Answer {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .unwrap();
    let connection = tokio::spawn(async move {
        let _ = connection.await;
    });
    let mut request = Request::builder().method(method).uri(path);
    let given = |name: &str| {
        headers
            .iter()
            .any(|(given, _)| given.eq_ignore_ascii_case(name))
    };
    if !given("host") {
        request = request.header("host", address.to_string());
    }
    if body.is_some() && !given("content-type") {
        request = request.header("content-type", "application/json");
    }
    for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
        request = request.header(*name, value.as_bytes());
    }
    let request = request
        .body(Full::new(Bytes::from(body.unwrap_or_default())))
        .unwrap();
    let answer = within(sender.send_request(request)).await.unwrap();
    let (head, body) = answer.into_parts();
    Answer {
        status: head.status,
        headers: head.headers,
        body,
        connection,
        held: Vec::new(),
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.connection.abort();
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    /// The next bytes as they come, `None` at the end, an error where the body was cut.
    pub(crate) async fn piece(&mut self) -> Option<Result<Bytes, hyper::Error>> {
        loop {
            match within(self.body.frame()).await? {
                Ok(frame) => {
                    if let Ok(data) = frame.into_data() {
                        return Some(Ok(data));
                    }
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// Everything to the end.
    pub(crate) async fn bytes(&mut self) -> Vec<u8> {
        let mut all = std::mem::take(&mut self.held);
        while let Some(piece) = self.piece().await {
            all.extend_from_slice(&piece.unwrap());
        }
        all
    }

    pub(crate) async fn text(&mut self) -> String {
        String::from_utf8(self.bytes().await).unwrap()
    }

    pub(crate) async fn json(&mut self) -> Value {
        let text = self.text().await;
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("no JSON: {text}"))
    }

    /// The next block of an event stream, comments too; `None` at the end.
    pub(crate) async fn block(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.held.windows(2).position(|two| two == b"\n\n") {
                let rest = self.held.split_off(end + 2);
                let block = std::mem::replace(&mut self.held, rest);
                return Some(String::from_utf8(block).unwrap());
            }
            match self.piece().await {
                Some(piece) => self.held.extend_from_slice(&piece.unwrap()),
                None => {
                    assert!(self.held.is_empty(), "the body ends within an event");
                    return None;
                }
            }
        }
    }

    /// The next event; comments are skipped.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            let block = self.block().await?;
            if !block.starts_with(':') {
                return Some(Event::read(block));
            }
        }
    }

    /// The events up to and with the first of this type.
    pub(crate) async fn up_to(&mut self, kind: &str) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            let found = event.kind() == kind;
            events.push(event);
            if found {
                return events;
            }
        }
        panic!("no {kind} in {:?}", kinds(&events));
    }

    /// The events to the end.
    pub(crate) async fn events(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }

    /// Checks that this is a refusal with the body that every refusal has; returns the `error` object.
    pub(crate) async fn refusal(&mut self, status: u16, code: &str) -> Value {
        let text = self.text().await;
        assert_eq!(self.status.as_u16(), status, "{text}");
        let mut body: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"));
        assert_eq!(body["error"]["code"], code, "{text}");
        assert_eq!(body["error"]["message"], body["detail"], "{text}");
        assert!(
            body["detail"]
                .as_str()
                .is_some_and(|detail| !detail.is_empty())
        );
        assert_eq!(self.header("content-type"), "application/json");
        assert_eq!(self.header("cache-control"), "no-store");
        assert_eq!(self.header("x-content-type-options"), "nosniff");
        body["error"].take()
    }
}

pub(crate) fn kinds(events: &[Event]) -> Vec<&str> {
    events.iter().map(Event::kind).collect()
}

pub(crate) fn raw(events: &[Event]) -> String {
    events.iter().map(|event| event.raw.as_str()).collect()
}

/// The text that the events say.
pub(crate) fn spoken(events: &[Event]) -> String {
    events
        .iter()
        .filter(|event| event.kind() == "TEXT_MESSAGE_CONTENT")
        .filter_map(|event| event["delta"].as_str())
        .collect()
}
