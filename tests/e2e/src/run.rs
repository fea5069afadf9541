//! One POST and everything that came back.

use serde_json::Value;
use tokio::time::Instant;

use crate::{
    http::{HttpError, Response},
    json::{list, text},
    play::Stop,
    stream::{Event, Item, StreamReader},
};

/// A call as it was streamed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireCall {
    /// Its `toolCallId`.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The argument text.
    pub arguments: String,
}

/// What a client holds: messages and state, folded from events.
#[derive(Debug, Clone, Default)]
pub struct Held {
    /// The messages.
    pub messages: Vec<Value>,
    /// The state.
    pub state: Value,
}

impl Held {
    /// The text of the last assistant message that has any.
    pub fn last_text(&self) -> Option<&str> {
        let mut texts = self
            .messages
            .iter()
            .rev()
            .filter(|m| text(m, "role") == "assistant");
        texts.find_map(|m| m["content"].as_str().filter(|t| !t.is_empty()))
    }

    /// Roles and contents, for comparing threads.
    pub fn outline(&self) -> Vec<(&str, &str)> {
        let messages = self.messages.iter();
        messages
            .map(|m| (text(m, "role"), text(m, "content")))
            .collect()
    }
}

/// One request for a run, and what came back.
#[derive(Debug)]
pub struct Run {
    /// The body that was sent; `Null` if it was no JSON.
    pub request: Value,
    /// Whether the stream tells again what happened before (a join, a replay, an opened thread).
    pub replay: bool,
    /// The status code.
    pub status: u16,
    /// The response, while it is read.
    response: Option<Response>,
    /// The headers of the response.
    headers: Vec<(String, String)>,
    /// The bytes of the body.
    pub body: Vec<u8>,
    /// The event stream.
    pub reader: StreamReader,
    /// Whether the reader went away before the end.
    pub left_early: bool,
    /// What was wrong with the body as a body.
    pub cut: Option<String>,
    /// Model requests that had arrived before this one was sent.
    pub model_before: usize,
    /// Executions that had happened before this one was sent.
    pub executed_before: usize,
    /// What the client held when it sent the request.
    pub base: Held,
    /// What it holds after the stream was judged.
    pub held: Option<Held>,
    /// Every state on the way.
    pub states: Vec<Value>,
    /// When it was sent.
    pub began: Instant,
    looked_at: usize,
}

impl Run {
    /// A run whose response head has come.
    pub fn new(request: Value, base: Held, began: Instant, response: Response) -> Self {
        Self {
            status: response.status,
            headers: response.headers.clone(),
            response: Some(response),
            ..Self::without_response(request, base, began)
        }
    }

    /// A run whose whole event stream was recorded.
    pub fn recorded(request: Value, base: Held, body: &[u8]) -> Self {
        let mut run = Self {
            status: 200,
            headers: vec![("content-type".to_owned(), "text/event-stream".to_owned())],
            body: body.to_vec(),
            ..Self::without_response(request, base, Instant::now())
        };
        run.reader.push(body, run.began);
        run.reader.finish();
        run
    }

    fn without_response(request: Value, base: Held, began: Instant) -> Self {
        Self {
            request,
            replay: false,
            status: 0,
            response: None,
            headers: Vec::new(),
            body: Vec::new(),
            reader: StreamReader::default(),
            left_early: false,
            cut: None,
            model_before: 0,
            executed_before: 0,
            states: vec![base.state.clone()],
            base,
            held: None,
            began,
            looked_at: 0,
        }
    }

    /// Marks the stream as one that tells again what happened before.
    #[must_use]
    pub const fn again(mut self) -> Self {
        self.replay = true;
        self
    }

    // Reading ------------------------------------------------------------------------------

    /// Whether an event stream is coming.
    pub fn is_stream(&self) -> bool {
        let kind = self.header("content-type").unwrap_or_default();
        self.status == 200 && kind.split(';').next().map(str::trim) == Some("text/event-stream")
    }

    /// Reads the next piece; false at the end of the body.
    async fn more(&mut self) -> bool {
        let Some(response) = &mut self.response else {
            return false;
        };
        match response.piece().await {
            Ok(Some(data)) => {
                self.body.extend_from_slice(&data);
                if self.is_stream() {
                    self.reader.push(&data, Instant::now());
                }
                return true;
            }
            Ok(None) => {}
            Err(error) => self.cut = Some(error.to_string()),
        }
        if self.is_stream() {
            self.reader.finish();
        }
        self.response = None;
        false
    }

    /// Reads to the end of the body.
    pub async fn read(&mut self) {
        while self.more().await {}
    }

    /// Reads until an item fits, and no further than the piece that holds it.
    ///
    /// # Errors
    ///
    /// The stream ended before.
    pub async fn read_until(&mut self, fits: impl Fn(&Item) -> bool) -> Result<(), Stop> {
        loop {
            while let Some(item) = self.reader.items.get(self.looked_at) {
                self.looked_at += 1;
                if fits(item) {
                    return Ok(());
                }
            }
            if !self.more().await {
                let end = self.terminal().unwrap_or("no terminal event").to_owned();
                return Err(Stop::new(format!(
                    "HTTP {}: the stream ended ({end}) before the awaited event",
                    self.status
                )));
            }
        }
    }

    /// Reads until an event of this type has come.
    ///
    /// # Errors
    ///
    /// The stream ended before.
    pub async fn read_to(&mut self, kind: &str) -> Result<(), Stop> {
        let found = self
            .read_until(|item| matches!(item, Item::Event(e) if e.kind() == kind))
            .await;
        found.map_err(|stop| Stop::new(format!("{stop}: {kind}")))
    }

    /// Goes away in the middle.
    pub fn leave(&mut self) {
        self.left_early = true;
        self.response = None;
    }

    // The response -------------------------------------------------------------------------

    /// The value of a response header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self
            .headers
            .iter()
            .filter(|(n, _)| n.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.as_str())
    }

    /// The body as JSON; `Null` if it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// The body as text.
    pub fn text_body(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Whether it was refused as the client's fault.
    pub const fn is_refused(&self) -> bool {
        self.status >= 400 && self.status < 500
    }

    /// The code of a refusal, or of the RUN_ERROR.
    pub fn error_code(&self) -> Option<String> {
        let refusal = self.json()["error"]["code"].as_str().map(str::to_owned);
        let code = |e: &Event| e.value["code"].as_str().map(str::to_owned);
        refusal.or_else(|| self.first("RUN_ERROR").and_then(code))
    }

    /// How it ended, for messages.
    pub fn ending(&self) -> String {
        if let Some(error) = self.first("RUN_ERROR") {
            return format!(
                "RUN_ERROR {}: {}",
                error.text("code"),
                error.text("message")
            );
        }
        match (self.outcome(), self.terminal()) {
            (Some(outcome), _) => outcome.to_owned(),
            (None, Some(terminal)) => terminal.to_owned(),
            (None, None) => format!(
                "HTTP {} {}",
                self.status,
                crate::json::clip(&self.text_body(), 200)
            ),
        }
    }

    /// Whether the client is a 0.x peer.
    pub fn is_old_peer(&self) -> bool {
        !self.request["protocolVersion"].is_string()
    }

    // The events ---------------------------------------------------------------------------

    /// The events.
    pub fn events(&self) -> impl DoubleEndedIterator<Item = &Event> {
        self.reader.items.iter().filter_map(|item| match item {
            Item::Event(event) => Some(event),
            Item::Comment(_) => None,
        })
    }

    /// The types of the events.
    pub fn kinds(&self) -> Vec<&str> {
        self.events().map(Event::kind).collect()
    }

    /// The events of one type.
    pub fn of(&self, kind: &str) -> Vec<&Event> {
        self.events().filter(|e| e.kind() == kind).collect()
    }

    /// The first event of one type.
    pub fn first(&self, kind: &str) -> Option<&Event> {
        self.events().find(|e| e.kind() == kind)
    }

    /// The value of the first CUSTOM event of this name.
    pub fn custom(&self, name: &str) -> Option<&Value> {
        let mut found = self
            .events()
            .filter(|e| e.kind() == "CUSTOM" && e.text("name") == name);
        found.next().map(|e| &e.value["value"])
    }

    /// The type of the last terminal event.
    pub fn terminal(&self) -> Option<&str> {
        let terminal = |kind: &&str| matches!(*kind, "RUN_FINISHED" | "RUN_ERROR");
        self.events().rev().map(Event::kind).find(terminal)
    }

    /// The outcome object of the RUN_FINISHED that ends the stream.
    fn outcome_object(&self) -> Option<&Value> {
        let end = self.events().rev().find(|e| e.kind() == "RUN_FINISHED");
        end.filter(|_| self.terminal() == Some("RUN_FINISHED"))
            .map(|e| &e.value["outcome"])
    }

    /// The type of the outcome; an absent one is a success.
    pub fn outcome(&self) -> Option<&str> {
        self.outcome_object()
            .map(|o| o["type"].as_str().unwrap_or("success"))
    }

    /// Whether the run ended as a success.
    pub fn succeeded(&self) -> bool {
        self.outcome() == Some("success")
    }

    /// The interrupts of the outcome.
    pub fn interrupts(&self) -> &[Value] {
        self.outcome_object().map_or(&[], |o| list(o, "interrupts"))
    }

    /// The `pendingToolCallIds` of the outcome.
    pub fn pending(&self) -> Option<Vec<&str>> {
        let ids = self.outcome_object()?["pendingToolCallIds"].as_array()?;
        Some(ids.iter().filter_map(Value::as_str).collect())
    }

    /// The calls in the order of their starts.
    pub fn calls(&self) -> Vec<WireCall> {
        let mut out: Vec<WireCall> = Vec::new();
        for event in self.events() {
            let id = event.text("toolCallId");
            match event.kind() {
                "TOOL_CALL_START" => out.push(WireCall {
                    id: id.to_owned(),
                    name: event.text("toolCallName").to_owned(),
                    arguments: String::new(),
                }),
                "TOOL_CALL_ARGS" => {
                    if let Some(call) = out.iter_mut().find(|c| c.id == id) {
                        call.arguments.push_str(event.text("delta"));
                    }
                }
                _ => {}
            }
        }
        out
    }

    /// The text of all messages.
    pub fn text(&self) -> String {
        self.of("TEXT_MESSAGE_CONTENT")
            .iter()
            .map(|e| e.text("delta"))
            .collect()
    }

    /// The reasoning text.
    pub fn reasoning(&self) -> String {
        self.of("REASONING_MESSAGE_CONTENT")
            .iter()
            .map(|e| e.text("delta"))
            .collect()
    }

    /// The texts message by message.
    pub fn texts(&self) -> Vec<String> {
        let mut out: Vec<(&str, String)> = Vec::new();
        for event in self.of("TEXT_MESSAGE_CONTENT") {
            let id = event.text("messageId");
            match out.iter_mut().find(|(known, _)| *known == id) {
                Some((_, text)) => text.push_str(event.text("delta")),
                None => out.push((id, event.text("delta").to_owned())),
            }
        }
        out.into_iter().map(|(_, text)| text).collect()
    }

    /// The state that the client holds at the end.
    pub fn final_state(&self) -> Option<&Value> {
        self.held.as_ref().map(|held| &held.state)
    }
}

/// Reads several runs to their ends at once.
pub async fn read_all(runs: &mut [Run]) {
    let mut waiting: Vec<_> = runs.iter_mut().map(|run| Box::pin(run.read())).collect();
    std::future::poll_fn(|context| {
        waiting.retain_mut(|read| read.as_mut().poll(context).is_pending());
        if waiting.is_empty() {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
}

impl From<HttpError> for Stop {
    fn from(error: HttpError) -> Self {
        Self::new(error.to_string())
    }
}
