//! Thirty ways to break one rule.

use antiphon_protocol::RunAgentInput;
use serde_json::{Value, json};

macro_rules! faults {
    ($($variant:ident = $name:literal: $doc:literal,)*) => {
        /// One broken rule.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Fault {
            $(#[doc = $doc] $variant,)*
        }

        impl Fault {
            pub(crate) const ALL: &'static [Self] = &[$(Self::$variant),*];

            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

faults! {
    NoRunStarted = "no_run_started": "The first event is missing.",
    NoTerminal = "no_terminal": "The last event is missing.",
    WrongRunId = "wrong_run_id": "RUN_FINISHED names another run.",
    WrongThreadId = "wrong_thread_id": "Another thread is named throughout.",
    NoProtocolVersion = "no_protocol_version": "No version is declared.",
    AfterFinished = "after_finished": "An event follows RUN_FINISHED.",
    OpenMessage = "open_message": "Text messages are not closed.",
    ContentBeforeStart = "content_before_start": "Text messages are not opened.",
    UnknownEvent = "unknown_event": "An event has an unknown type.",
    UnknownField = "unknown_field": "An event has an unknown member.",
    NullOptional = "null_optional": "An optional member is null.",
    FloatTimestamp = "float_timestamp": "Timestamps are no integers.",
    BadRole = "bad_role": "A text message has a role that it can't have.",
    Thinking = "thinking": "Retired events are sent.",
    BadPatch = "bad_patch": "A patch does not apply.",
    PendingWrong = "pending_wrong": "A call is pending that nobody made.",
    AnswersFrontend = "answers_frontend": "A call of the client's tool is answered by the server.",
    SuccessWithInterrupts = "success_with_interrupts": "A success has interrupts.",
    EmptyInterrupts = "empty_interrupts": "An interrupt asks nothing.",
    UsageSum = "usage_sum": "The total is not the sum.",
    ReuseMessageId = "reuse_message_id": "A new message has the id of an old one.",
    OpenStep = "open_step": "Steps are not finished.",
    Crlf = "crlf": "Lines end with CR LF.",
    JsonContentType = "json_content_type": "The stream is declared as JSON.",
    TwoPerFrame = "two_per_frame": "A frame holds a list of two events.",
    CutFrame = "cut_frame": "The last frame is cut.",
    Buffered = "buffered": "All events come at once, at the end.",
    ErrorHtml = "error_html": "Refusals are pages.",
    LenientInput = "lenient_input": "Malformed input is run.",
    NoDowngrade = "no_downgrade": "A 0.x client is sent what it cannot read.",
}

impl Fault {
    /// The events with the fault in them.
    pub(crate) fn rewrite(self, mut events: Vec<Value>, input: &RunAgentInput) -> Vec<Value> {
        match self {
            Self::NoRunStarted => drop(events.remove(0)),
            Self::NoTerminal => drop(events.pop()),
            Self::AfterFinished => {
                events.push(json!({"type": "CUSTOM", "name": "x.y", "value": 1}));
            }
            Self::OpenMessage => events.retain(|event| event["type"] != "TEXT_MESSAGE_END"),
            Self::ContentBeforeStart => {
                events.retain(|event| event["type"] != "TEXT_MESSAGE_START");
            }
            Self::UnknownEvent => events.insert(1, json!({"type": "PRIVATE_EVENT", "x": 1})),
            Self::Thinking => {
                events.insert(1, json!({"type": "THINKING_START"}));
                events.insert(2, json!({"type": "THINKING_END"}));
            }
            Self::OpenStep => events.retain(|event| event["type"] != "STEP_FINISHED"),
            Self::AnswersFrontend => {
                events = events.into_iter().flat_map(answered).collect();
            }
            _ => events
                .iter_mut()
                .for_each(|event| self.rewrite_one(event, input)),
        }
        events
    }

    fn rewrite_one(self, event: &mut Value, input: &RunAgentInput) {
        let kind = event["type"].as_str().unwrap().to_owned();
        let outcome = event["outcome"]["type"].as_str().map(str::to_owned);
        match (self, kind.as_str(), outcome.as_deref()) {
            (Self::WrongRunId, "RUN_FINISHED", _) => event["runId"] = json!("other"),
            (Self::WrongThreadId, ..) if event.get("threadId").is_some() => {
                event["threadId"] = json!("other");
            }
            (Self::NoProtocolVersion, ..) => {
                event.as_object_mut().unwrap().remove("protocolVersion");
            }
            (Self::UnknownField, "TEXT_MESSAGE_START", _) => event["color"] = json!("red"),
            (Self::NullOptional, "RUN_FINISHED", _) => event["result"] = Value::Null,
            (Self::FloatTimestamp, ..) => event["timestamp"] = json!(1.5),
            (Self::BadRole, "TEXT_MESSAGE_START", _) => event["role"] = json!("tool"),
            (Self::BadPatch, "STATE_DELTA", _) => {
                event["delta"] = json!([{"op": "replace", "path": "/nope/x", "value": 1}]);
            }
            (Self::PendingWrong, "RUN_FINISHED", _) => {
                event["outcome"] = json!({"type": "success", "pendingToolCallIds": ["ghost"]});
            }
            (Self::SuccessWithInterrupts, _, Some("interrupt")) => {
                event["outcome"]["type"] = json!("success");
            }
            (Self::EmptyInterrupts, _, Some("interrupt")) => {
                event["outcome"]["interrupts"] = json!([]);
            }
            (Self::UsageSum, ..) if event.get("usage").is_some() => {
                event["usage"][0]["totalTokens"] = json!(99);
            }
            (Self::ReuseMessageId, ..) if event.get("messageId").is_some() => {
                if let Some(first) = input.messages.first() {
                    event["messageId"] = json!(first.id());
                }
            }
            _ => {}
        }
    }

    /// The bytes of one event.
    pub(crate) fn frame(self, index: usize, event: &Value) -> Vec<u8> {
        let frame = match self {
            Self::Crlf => format!("data: {event}\r\n\r\n"),
            Self::TwoPerFrame if index == 1 => format!("data: [{event},{event}]\n\n"),
            _ => format!("data: {event}\n\n"),
        };
        let mut frame = frame.into_bytes();
        if self == Self::CutFrame && event["type"] == "RUN_FINISHED" {
            frame.truncate(frame.len() - 5);
        }
        frame
    }
}

fn answered(event: Value) -> Vec<Value> {
    if event["type"] != "TOOL_CALL_END" {
        return vec![event];
    }
    let result = json!({
        "type": "TOOL_CALL_RESULT",
        "messageId": "made-up",
        "toolCallId": event["toolCallId"],
        "content": "made up",
    });
    vec![event, result]
}
