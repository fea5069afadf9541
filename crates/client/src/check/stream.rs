//! Judges one stream of events.

use std::collections::HashSet;

use antiphon_protocol::{
    Chunks, Dialect, Event, Message, Outcome, Replica, Rule, RunAgentInput, Verifier, Violation,
    Warning, proto, sse,
};
use serde_json::Value;

use super::frames::{self, Frames, Told};
use super::report::Record;
use super::rules::STREAM;
use crate::http::{BodyEnd, Exchange};

/// What a stream is the answer to.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) input: RunAgentInput,
    /// All earlier messages of the thread.
    pub(super) history: Vec<Message>,
}

/// What a stream told.
#[derive(Debug)]
pub(super) struct Heard {
    pub(super) events: Vec<Event>,
    pub(super) replica: Replica,
    /// The types of the events as they were sent.
    pub(super) kinds: Vec<String>,
}

impl Heard {
    /// Returns the version that the server declares.
    pub(super) fn version(&self) -> Option<&str> {
        self.events.iter().find_map(|event| match event {
            Event::RunStarted(started) => started.protocol_version.as_deref(),
            _ => None,
        })
    }

    /// Returns why the run failed, if it did.
    pub(super) fn failure(&self) -> Option<String> {
        self.events.iter().find_map(|event| match event {
            Event::RunError(error) => Some(error.message.clone()),
            _ => None,
        })
    }

    /// Returns whether the run stopped to ask.
    pub(super) fn is_interrupted(&self) -> bool {
        self.events.iter().any(|event| {
            matches!(event, Event::RunFinished(e) if matches!(e.outcome, Some(Outcome::Interrupt { .. })))
        })
    }
}

/// Judges an answer that has to be a stream, and returns what it told.
pub(super) fn judge(
    record: &mut Record,
    place: &str,
    exchange: &Exchange,
    asked: &Asked,
) -> Option<Heard> {
    if exchange.status != 200 {
        let said = String::from_utf8_lossy(&exchange.body);
        record.broken("http-status", place, format!("{} {said}", exchange.status));
        return None;
    }
    let mut judge = Judge::new(record, place, asked);
    let frames = judge.frames(exchange);
    for (index, told) in frames.told.into_iter().enumerate() {
        judge.event(index, told);
    }
    judge.end(exchange);
    Some(judge.heard)
}

struct Judge<'a> {
    record: &'a mut Record,
    place: &'a str,
    broken: HashSet<&'static str>,
    verifier: Verifier,
    /// The verifier has lost track: it refused an event, or one could not be read.
    lost: bool,
    chunks: Chunks,
    old_peer: bool,
    heard: Heard,
}

impl<'a> Judge<'a> {
    fn new(record: &'a mut Record, place: &'a str, asked: &Asked) -> Self {
        let input = &asked.input;
        let verifier = Verifier::producer().answering(input).after(&asked.history);
        let messages = input.messages.clone();
        Self {
            record,
            place,
            broken: HashSet::new(),
            verifier,
            lost: false,
            chunks: Chunks::default(),
            old_peer: Dialect::of(input.protocol_version.as_deref()) == Dialect::V0,
            heard: Heard {
                events: Vec::new(),
                replica: Replica::new(messages, input.state.clone()),
                kinds: Vec::new(),
            },
        }
    }

    fn broken(&mut self, rule: &'static str, at: &str, what: impl AsRef<str>) {
        self.broken.insert(rule);
        let place = match at {
            "" => self.place.to_owned(),
            at => format!("{}, {at}", self.place),
        };
        self.record.broken(rule, &place, what);
    }

    fn frames(&mut self, exchange: &Exchange) -> Frames {
        let media_type = exchange.media_type();
        let frames = if media_type == proto::MEDIA_TYPE {
            if exchange.content_type != proto::MEDIA_TYPE {
                self.broken("content-type", "", &exchange.content_type);
            }
            frames::proto(&exchange.body)
        } else {
            if media_type != sse::MEDIA_TYPE {
                self.broken("content-type", "", format!("{:?}", exchange.content_type));
            }
            frames::sse(&exchange.body)
        };
        for problem in &frames.problems {
            self.broken("framing", "", problem);
        }
        let directives = exchange.cache_control.to_ascii_lowercase();
        if !directives.contains("no-cache") && !directives.contains("no-store") {
            let seen = format!("Cache-Control: {:?}", exchange.cache_control);
            self.broken("no-cache", "", seen);
        }
        frames
    }

    fn event(&mut self, index: usize, told: Told) {
        let at = format!("event {index} {}", told.kind);
        for warning in &told.warnings {
            self.broken(rule_of(warning), &at, warning.to_string());
        }
        self.heard.kinds.push(told.kind.clone());
        let event = match told.event {
            Ok(Some(event)) => event,
            Ok(None) if told.kind.starts_with("THINKING_") => {
                return self.broken("known-events", &at, "it is retired");
            }
            Ok(None) => return,
            Err(error) => {
                self.lost = true;
                return self.broken("schema", &at, error);
            }
        };
        let mut expanded = Vec::new();
        if let Err(violation) = self.chunks.expand(event, &mut expanded) {
            self.violated(&at, &violation);
        }
        for event in expanded {
            self.expanded(&at, event);
        }
    }

    fn expanded(&mut self, at: &str, event: Event) {
        if !self.lost
            && let Err(violation) = self.verifier.check(&event)
        {
            self.violated(at, &violation);
        }
        for warning in self.heard.replica.apply(&event) {
            if matches!(event, Event::StateDelta(_) | Event::ActivityDelta(_)) {
                self.broken("state-delta", at, warning.to_string());
            }
        }
        if let Event::ToolCallEnd(end) = &event {
            self.check_arguments(at, &end.tool_call_id);
        }
        self.heard.events.push(event);
    }

    fn violated(&mut self, at: &str, violation: &Violation) {
        self.lost = true;
        self.broken(violation.rule.as_str(), at, &violation.message);
    }

    fn check_arguments(&mut self, at: &str, id: &str) {
        let messages = self.heard.replica.messages().iter().rev();
        let mut calls = messages.flat_map(Message::tool_calls);
        let call = calls.find(|call| call.id == id);
        let arguments = call.map_or("", |call| &call.function.arguments);
        if !arguments.is_empty() && serde_json::from_str::<Value>(arguments).is_err() {
            let seen = format!("the arguments of call {id:?} are {arguments}");
            self.broken("arguments-json", at, seen);
        }
    }

    fn end(&mut self, exchange: &Exchange) {
        let last = self.heard.events.last();
        let ended = matches!(last, Some(Event::RunFinished(_) | Event::RunError(_)));
        match &exchange.end {
            BodyEnd::Whole | BodyEnd::Left => {}
            BodyEnd::Silent(wait) if ended => {
                self.broken("body-ends", "", format!("it was still open after {wait:?}"));
            }
            BodyEnd::Silent(wait) => {
                let seen = format!("silent for {wait:?} in the middle of a run");
                self.broken("body-ends", "", seen);
            }
            BodyEnd::Broken(why) => {
                self.broken("framing", "", format!("the body broke off: {why}"));
            }
            BodyEnd::TooLong => self.broken("body-ends", "", "it goes on and on"),
        }
        if self.lost && !ended || self.heard.events.is_empty() {
            self.broken(
                Rule::Terminal.as_str(),
                "",
                "the stream does not end with a run's end",
            );
        } else if !self.lost
            && let Err(violation) = self.verifier.finish()
        {
            self.violated("", &violation);
        }
        self.keep_the_rest();
    }

    /// Counts what the stream did not break as kept.
    fn keep_the_rest(&mut self) {
        for law in STREAM {
            let applies = law.id != Rule::OldPeer.as_str() || self.old_peer;
            if applies && !self.broken.contains(law.id) {
                self.record.kept(law.id);
            }
        }
    }
}

/// Returns the rule that a reader's complaint is about.
fn rule_of(warning: &Warning) -> &'static str {
    let message = &warning.message;
    if message.contains("null and read as absent") {
        Rule::NullOptional.as_str()
    } else if warning.path.is_empty() && message.starts_with("is an") {
        "known-events"
    } else {
        "known-members"
    }
}
