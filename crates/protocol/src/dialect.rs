//! What a 0.x peer can read.
//!
//! A request without `protocolVersion` comes from a 0.x client. Some shapes of 1.0 make such a
//! client fail the whole run, so they are left out or become the nearest shape that it knows.

use crate::{
    Content, ContentPart, Event, EventType, Message, MessagesSnapshot, Outcome, RunFinished,
    RunStarted, Source, TextPart, ToolCallResult,
};

/// A line of protocol versions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// AG-UI 1.x.
    #[default]
    V1,
    /// Everything before; such peers do not say which version they speak.
    V0,
}

impl Dialect {
    /// Returns the dialect of a peer that declares this version, or none. A version that cannot
    /// be interpreted, or a newer one, is served as 1.x.
    #[must_use]
    pub fn of(protocol_version: Option<&str>) -> Self {
        match protocol_version {
            None => Self::V0,
            Some(version) if version == "0" || version.starts_with("0.") => Self::V0,
            Some(_) => Self::V1,
        }
    }

    /// Returns whether [`translate`](Self::translate) can change an event of this type.
    #[must_use]
    pub const fn concerns(self, kind: EventType) -> bool {
        match self {
            Self::V1 => false,
            Self::V0 => matches!(
                kind,
                EventType::RunStarted
                    | EventType::RunFinished
                    | EventType::ToolCallResult
                    | EventType::MessagesSnapshot
                    | EventType::SubagentStarted
                    | EventType::SubagentFinished
                    | EventType::SubagentError
            ),
        }
    }

    /// Returns the event as a peer of this dialect can read it, `None` if it cannot at all.
    ///
    /// ```
    /// use antiphon_protocol::{Dialect, Event, Outcome, RunFinished};
    ///
    /// let mut finished = RunFinished::new("t1", "r1");
    /// finished.outcome = Some(Outcome::Cancelled);
    /// let translated = Dialect::V0.translate(finished.into());
    /// assert_eq!(translated, Some(RunFinished::new("t1", "r1").into()));
    /// ```
    #[must_use]
    pub fn translate(self, event: Event) -> Option<Event> {
        if !self.concerns(event.kind()) {
            return Some(event);
        }
        match event {
            Event::RunStarted(event) => Some(started(event).into()),
            Event::RunFinished(event) => Some(finished(event).into()),
            Event::ToolCallResult(event) => Some(result(event).into()),
            Event::MessagesSnapshot(event) => Some(snapshot(event).into()),
            Event::SubagentStarted(_) | Event::SubagentFinished(_) | Event::SubagentError(_) => {
                None
            }
            other => Some(other),
        }
    }
}

fn started(mut event: RunStarted) -> RunStarted {
    if let Some(input) = &mut event.input {
        input.messages.iter_mut().for_each(flatten_message);
    }
    event
}

fn finished(mut event: RunFinished) -> RunFinished {
    match &mut event.outcome {
        Some(Outcome::Success {
            pending_tool_call_ids,
        }) => *pending_tool_call_ids = None,
        Some(Outcome::Cancelled) => event.outcome = None,
        Some(Outcome::Interrupt { .. }) | None => {}
    }
    event
}

fn result(mut event: ToolCallResult) -> ToolCallResult {
    flatten(&mut event.content);
    event
}

fn snapshot(mut event: MessagesSnapshot) -> MessagesSnapshot {
    event.messages.iter_mut().for_each(flatten_message);
    event
}

/// Results are text in 0.x, and media parts have no provider handles.
fn flatten_message(message: &mut Message) {
    match message {
        Message::Tool(message) => flatten(&mut message.content),
        Message::User(message) => {
            if let Content::Parts(parts) = &mut message.content {
                parts.iter_mut().for_each(replace_handle);
            }
        }
        _ => {}
    }
}

fn flatten(content: &mut Content) {
    if let Content::Parts(_) = content {
        *content = Content::Text(content.text().into_owned());
    }
}

/// A handle means nothing to a 0.x peer: what is left of the part is that it was there.
fn replace_handle(part: &mut ContentPart) {
    let kind = match part {
        ContentPart::Text(_) => return,
        ContentPart::Image(_) => "[image]",
        ContentPart::Audio(_) => "[audio]",
        ContentPart::Video(_) => "[video]",
        ContentPart::Document(_) => "[document]",
    };
    if let Some(Source::File(_)) = part.source() {
        *part = TextPart::new(kind).into();
    }
}
