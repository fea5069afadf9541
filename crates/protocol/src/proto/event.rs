//! The 31 events as protobuf messages.

use super::convert::{JsonPatchOperation, Proto};
use super::input::{Interrupt, RunAgentInput, Usage};
use super::message::{InputContent, Message, join, split};
use super::value::{Struct, Value};
use crate::wire::{Reader, Reading};
use crate::{Base, EventType, Outcome, SubagentOutcome};

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct BaseEvent {
    #[prost(int32, tag = "1")]
    kind: i32,
    #[prost(int64, optional, tag = "2")]
    timestamp: Option<i64>,
    #[prost(message, optional, tag = "3")]
    raw_event: Option<Value>,
    #[prost(message, optional, tag = "4")]
    metadata: Option<Struct>,
}

/// The event types by their numbers in the protobuf enum.
const TYPES: [EventType; 31] = [
    EventType::TextMessageStart,
    EventType::TextMessageContent,
    EventType::TextMessageEnd,
    EventType::ToolCallStart,
    EventType::ToolCallArgs,
    EventType::ToolCallEnd,
    EventType::StateSnapshot,
    EventType::StateDelta,
    EventType::MessagesSnapshot,
    EventType::Raw,
    EventType::Custom,
    EventType::RunStarted,
    EventType::RunFinished,
    EventType::RunError,
    EventType::StepStarted,
    EventType::StepFinished,
    EventType::SubagentStarted,
    EventType::SubagentFinished,
    EventType::SubagentError,
    EventType::TextMessageChunk,
    EventType::ToolCallChunk,
    EventType::ToolCallResult,
    EventType::ActivitySnapshot,
    EventType::ActivityDelta,
    EventType::ReasoningStart,
    EventType::ReasoningMessageStart,
    EventType::ReasoningMessageContent,
    EventType::ReasoningMessageEnd,
    EventType::ReasoningMessageChunk,
    EventType::ReasoningEnd,
    EventType::ReasoningEncryptedValue,
];

fn base_to(kind: EventType, base: &Base) -> Option<BaseEvent> {
    let number = TYPES
        .iter()
        .position(|known| *known == kind)
        .unwrap_or_default();
    Some(BaseEvent {
        kind: i32::try_from(number).unwrap_or_default(),
        timestamp: base.timestamp,
        raw_event: base.raw_event.to_proto(),
        metadata: base.metadata.to_proto(),
    })
}

fn base_from(kind: EventType, base: Option<BaseEvent>, reader: &mut Reader) -> Reading<Base> {
    let Some(base) = base else {
        return reader.at_key("base_event", |reader| Err(reader.malformed("is required")));
    };
    let given = usize::try_from(base.kind)
        .ok()
        .and_then(|number| TYPES.get(number));
    if given != Some(&kind) {
        return reader.at_key("base_event", |reader| {
            Err(reader.malformed(format!("has type {}, not that of {kind}", base.kind)))
        });
    }
    Ok(Base {
        timestamp: base.timestamp,
        raw_event: reader.at_key("rawEvent", |reader| {
            Proto::from_proto(base.raw_event, reader)
        })?,
        metadata: Proto::from_proto(base.metadata, reader)?,
    })
}

/// Declares events whose fields are the members of the vocabulary's type, and the union of all.
/// `by hand` declares only the fields; the conversion stands below.
macro_rules! events {
    ($(
        $arm:literal $name:ident $($hand:ident)? {
            $([$($attribute:tt)*] $field:ident: $field_type:ty = $key:literal,)*
        }
    )*) => {
        #[derive(Clone, PartialEq, prost::Message)]
        pub(super) struct Event {
            #[prost(
                oneof = "Arm",
                tags = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, \
                        21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31"
            )]
            arm: Option<Arm>,
        }

        #[derive(Clone, PartialEq, prost::Oneof)]
        enum Arm {
            $(#[prost(message, tag = $arm)] $name($name),)*
        }

        $(
            #[derive(Clone, PartialEq, prost::Message)]
            struct $name {
                #[prost(message, optional, tag = "1")]
                base: Option<BaseEvent>,
                $(#[prost($($attribute)*)] $field: $field_type,)*
            }

            events!(@convert $name $($hand)? { $($field = $key,)* });
        )*

        impl From<&crate::Event> for Event {
            fn from(event: &crate::Event) -> Self {
                let arm = match event {
                    $(crate::Event::$name(event) => Arm::$name(event.to_proto()),)*
                };
                Self { arm: Some(arm) }
            }
        }

        impl Event {
            /// Reads the event; `None` if no arm is known.
            pub(super) fn read(self, reader: &mut Reader) -> Reading<Option<crate::Event>> {
                Ok(match self.arm {
                    None => None,
                    $(Some(Arm::$name(event)) => {
                        Some(crate::$name::from_proto(event, reader)?.into())
                    })*
                })
            }
        }
    };
    (@convert $name:ident { $($field:ident = $key:literal,)* }) => {
        impl Proto<$name> for crate::$name {
            fn to_proto(&self) -> $name {
                $name {
                    base: base_to(EventType::$name, &self.base),
                    $($field: self.$field.to_proto(),)*
                }
            }

            fn from_proto(proto: $name, reader: &mut Reader) -> Reading<Self> {
                Ok(Self {
                    base: base_from(EventType::$name, proto.base, reader)?,
                    $($field: reader.at_key($key, |reader| Proto::from_proto(proto.$field, reader))?,)*
                })
            }
        }
    };
    (@convert $name:ident by_hand { $($rest:tt)* }) => {};
}

events! {
    "1" TextMessageStart {
        [string, tag = "2"] message_id: String = "messageId",
        [string, optional, tag = "3"] role: Option<String> = "role",
        [string, optional, tag = "4"] name: Option<String> = "name",
        [string, optional, tag = "5"] subagent_run_id: Option<String> = "subagentRunId",
    }
    "2" TextMessageContent {
        [string, tag = "2"] message_id: String = "messageId",
        [string, tag = "3"] delta: String = "delta",
        [string, optional, tag = "4"] subagent_run_id: Option<String> = "subagentRunId",
    }
    "3" TextMessageEnd {
        [string, tag = "2"] message_id: String = "messageId",
        [string, optional, tag = "3"] subagent_run_id: Option<String> = "subagentRunId",
    }
    "17" TextMessageChunk {
        [string, optional, tag = "2"] message_id: Option<String> = "messageId",
        [string, optional, tag = "3"] role: Option<String> = "role",
        [string, optional, tag = "4"] delta: Option<String> = "delta",
        [string, optional, tag = "5"] name: Option<String> = "name",
        [string, optional, tag = "6"] subagent_run_id: Option<String> = "subagentRunId",
    }
    "4" ToolCallStart {
        [string, tag = "2"] tool_call_id: String = "toolCallId",
        [string, tag = "3"] tool_call_name: String = "toolCallName",
        [string, optional, tag = "4"] parent_message_id: Option<String> = "parentMessageId",
        [string, optional, tag = "5"] subagent_run_id: Option<String> = "subagentRunId",
    }
    "5" ToolCallArgs {
        [string, tag = "2"] tool_call_id: String = "toolCallId",
        [string, tag = "3"] delta: String = "delta",
        [string, optional, tag = "4"] subagent_run_id: Option<String> = "subagentRunId",
    }
    "6" ToolCallEnd {
        [string, tag = "2"] tool_call_id: String = "toolCallId",
        [string, optional, tag = "3"] subagent_run_id: Option<String> = "subagentRunId",
    }
    "18" ToolCallChunk {
        [string, optional, tag = "2"] tool_call_id: Option<String> = "toolCallId",
        [string, optional, tag = "3"] tool_call_name: Option<String> = "toolCallName",
        [string, optional, tag = "4"] parent_message_id: Option<String> = "parentMessageId",
        [string, optional, tag = "5"] delta: Option<String> = "delta",
        [string, optional, tag = "6"] subagent_run_id: Option<String> = "subagentRunId",
    }
    "22" ToolCallResult by_hand {
        [string, optional, tag = "2"] subagent_run_id: Option<String> = "subagentRunId",
        [string, tag = "3"] message_id: String = "messageId",
        [string, tag = "4"] tool_call_id: String = "toolCallId",
        [string, optional, tag = "5"] content: Option<String> = "content",
        [string, optional, tag = "6"] role: Option<String> = "role",
        [message, repeated, tag = "7"] content_parts: Vec<InputContent> = "content",
    }
    "7" StateSnapshot {
        [message, optional, tag = "2"] snapshot: Option<Value> = "snapshot",
        [string, optional, tag = "3"] subagent_run_id: Option<String> = "subagentRunId",
    }
    "8" StateDelta {
        [message, repeated, tag = "2"] delta: Vec<JsonPatchOperation> = "delta",
        [string, optional, tag = "3"] subagent_run_id: Option<String> = "subagentRunId",
    }
    "9" MessagesSnapshot {
        [message, repeated, tag = "2"] messages: Vec<Message> = "messages",
    }
    "23" ActivitySnapshot {
        [string, optional, tag = "2"] subagent_run_id: Option<String> = "subagentRunId",
        [string, tag = "3"] message_id: String = "messageId",
        [string, tag = "4"] activity_type: String = "activityType",
        [message, optional, tag = "5"] content: Option<Struct> = "content",
        [bool, optional, tag = "6"] replace: Option<bool> = "replace",
    }
    "24" ActivityDelta {
        [string, optional, tag = "2"] subagent_run_id: Option<String> = "subagentRunId",
        [string, tag = "3"] message_id: String = "messageId",
        [string, tag = "4"] activity_type: String = "activityType",
        [message, repeated, tag = "5"] patch: Vec<JsonPatchOperation> = "patch",
    }
    "10" Raw {
        [message, optional, tag = "2"] event: Option<Value> = "event",
        [string, optional, tag = "3"] source: Option<String> = "source",
        [string, optional, tag = "4"] subagent_run_id: Option<String> = "subagentRunId",
    }
    "11" Custom {
        [string, tag = "2"] name: String = "name",
        [message, optional, tag = "3"] value: Option<Value> = "value",
        [string, optional, tag = "4"] subagent_run_id: Option<String> = "subagentRunId",
    }
    "12" RunStarted {
        [string, tag = "2"] thread_id: String = "threadId",
        [string, tag = "3"] run_id: String = "runId",
        [string, optional, tag = "4"] parent_run_id: Option<String> = "parentRunId",
        [message, optional, tag = "5"] input: Option<RunAgentInput> = "input",
        [string, optional, tag = "6"] protocol_version: Option<String> = "protocolVersion",
    }
    "13" RunFinished by_hand {
        [string, tag = "2"] thread_id: String = "threadId",
        [string, tag = "3"] run_id: String = "runId",
        [message, optional, tag = "4"] result: Option<Value> = "result",
        [string, tag = "5"] outcome: String = "outcome",
        [message, repeated, tag = "6"] interrupts: Vec<Interrupt> = "interrupts",
        [message, repeated, tag = "7"] usage: Vec<Usage> = "usage",
        [string, repeated, tag = "8"] pending_tool_call_ids: Vec<String> = "pendingToolCallIds",
    }
    "14" RunError {
        [string, optional, tag = "2"] code: Option<String> = "code",
        [string, tag = "3"] message: String = "message",
        [message, repeated, tag = "4"] usage: Vec<Usage> = "usage",
    }
    "15" StepStarted {
        [string, tag = "2"] step_name: String = "stepName",
        [string, optional, tag = "3"] subagent_run_id: Option<String> = "subagentRunId",
    }
    "16" StepFinished {
        [string, tag = "2"] step_name: String = "stepName",
        [string, optional, tag = "3"] subagent_run_id: Option<String> = "subagentRunId",
    }
    "25" ReasoningStart {
        [string, optional, tag = "2"] subagent_run_id: Option<String> = "subagentRunId",
        [string, tag = "3"] message_id: String = "messageId",
    }
    "26" ReasoningMessageStart by_hand {
        [string, optional, tag = "2"] subagent_run_id: Option<String> = "subagentRunId",
        [string, tag = "3"] message_id: String = "messageId",
        [string, tag = "4"] role: String = "role",
    }
    "27" ReasoningMessageContent {
        [string, optional, tag = "2"] subagent_run_id: Option<String> = "subagentRunId",
        [string, tag = "3"] message_id: String = "messageId",
        [string, tag = "4"] delta: String = "delta",
    }
    "28" ReasoningMessageEnd {
        [string, optional, tag = "2"] subagent_run_id: Option<String> = "subagentRunId",
        [string, tag = "3"] message_id: String = "messageId",
    }
    "29" ReasoningMessageChunk {
        [string, optional, tag = "2"] subagent_run_id: Option<String> = "subagentRunId",
        [string, optional, tag = "3"] message_id: Option<String> = "messageId",
        [string, optional, tag = "4"] delta: Option<String> = "delta",
    }
    "30" ReasoningEnd {
        [string, optional, tag = "2"] subagent_run_id: Option<String> = "subagentRunId",
        [string, tag = "3"] message_id: String = "messageId",
    }
    "31" ReasoningEncryptedValue {
        [string, optional, tag = "2"] subagent_run_id: Option<String> = "subagentRunId",
        [string, tag = "3"] subtype: String = "subtype",
        [string, tag = "4"] entity_id: String = "entityId",
        [string, tag = "5"] encrypted_value: String = "encryptedValue",
    }
    "19" SubagentStarted {
        [string, tag = "2"] subagent_run_id: String = "subagentRunId",
        [string, tag = "3"] name: String = "name",
        [string, optional, tag = "4"] description: Option<String> = "description",
        [string, optional, tag = "5"] parent_subagent_run_id: Option<String> = "parentSubagentRunId",
        [string, optional, tag = "6"] parent_tool_call_id: Option<String> = "parentToolCallId",
        [string, optional, tag = "7"] parent_message_id: Option<String> = "parentMessageId",
    }
    "20" SubagentFinished by_hand {
        [string, tag = "2"] subagent_run_id: String = "subagentRunId",
        [message, optional, tag = "3"] result: Option<Value> = "result",
        [string, tag = "4"] outcome: String = "outcome",
        [string, repeated, tag = "5"] interrupt_ids: Vec<String> = "interruptIds",
    }
    "21" SubagentError {
        [string, tag = "2"] subagent_run_id: String = "subagentRunId",
        [string, tag = "3"] message: String = "message",
        [string, optional, tag = "4"] code: Option<String> = "code",
    }
}

impl Proto<ToolCallResult> for crate::ToolCallResult {
    fn to_proto(&self) -> ToolCallResult {
        let (content, content_parts) = split(&self.content);
        ToolCallResult {
            base: base_to(EventType::ToolCallResult, &self.base),
            subagent_run_id: self.subagent_run_id.clone(),
            message_id: self.message_id.clone(),
            tool_call_id: self.tool_call_id.clone(),
            content,
            role: Some("tool".to_owned()),
            content_parts,
        }
    }

    fn from_proto(proto: ToolCallResult, reader: &mut Reader) -> Reading<Self> {
        constant(
            "role",
            proto.role.as_deref().unwrap_or("tool"),
            "tool",
            reader,
        )?;
        Ok(Self {
            base: base_from(EventType::ToolCallResult, proto.base, reader)?,
            subagent_run_id: proto.subagent_run_id,
            message_id: proto.message_id,
            tool_call_id: proto.tool_call_id,
            content: join(proto.content, proto.content_parts, reader)?,
        })
    }
}

impl Proto<ReasoningMessageStart> for crate::ReasoningMessageStart {
    fn to_proto(&self) -> ReasoningMessageStart {
        ReasoningMessageStart {
            base: base_to(EventType::ReasoningMessageStart, &self.base),
            subagent_run_id: self.subagent_run_id.clone(),
            message_id: self.message_id.clone(),
            role: "reasoning".to_owned(),
        }
    }

    fn from_proto(proto: ReasoningMessageStart, reader: &mut Reader) -> Reading<Self> {
        constant("role", &proto.role, "reasoning", reader)?;
        Ok(Self {
            base: base_from(EventType::ReasoningMessageStart, proto.base, reader)?,
            subagent_run_id: proto.subagent_run_id,
            message_id: proto.message_id,
        })
    }
}

impl Proto<RunFinished> for crate::RunFinished {
    fn to_proto(&self) -> RunFinished {
        let (interrupts, pending_tool_call_ids) = match &self.outcome {
            Some(Outcome::Interrupt { interrupts }) => (interrupts.to_proto(), Vec::new()),
            Some(Outcome::Success {
                pending_tool_call_ids: Some(ids),
            }) => (Vec::new(), ids.clone()),
            Some(
                Outcome::Success {
                    pending_tool_call_ids: None,
                }
                | Outcome::Cancelled,
            )
            | None => (Vec::new(), Vec::new()),
        };
        RunFinished {
            base: base_to(EventType::RunFinished, &self.base),
            thread_id: self.thread_id.clone(),
            run_id: self.run_id.clone(),
            result: self.result.to_proto(),
            outcome: self
                .outcome
                .as_ref()
                .map(|outcome| outcome.name().to_owned())
                .unwrap_or_default(),
            interrupts,
            usage: self.usage.to_proto(),
            pending_tool_call_ids,
        }
    }

    fn from_proto(proto: RunFinished, reader: &mut Reader) -> Reading<Self> {
        let ids = proto.pending_tool_call_ids;
        let interrupts = proto.interrupts;
        let outcome = reader.at_key("outcome", |reader| match proto.outcome.as_str() {
            "" => Ok(None),
            "success" => {
                let pending_tool_call_ids = (!ids.is_empty()).then_some(ids);
                Ok(Some(Outcome::Success {
                    pending_tool_call_ids,
                }))
            }
            "interrupt" if interrupts.is_empty() => Err(reader.malformed("has no interrupts")),
            "interrupt" => {
                let interrupts = Proto::from_proto(interrupts, reader)?;
                Ok(Some(Outcome::Interrupt { interrupts }))
            }
            "cancelled" => Ok(Some(Outcome::Cancelled)),
            _ => {
                reader.warn("is an unknown outcome, which is dropped");
                Ok(None)
            }
        })?;
        Ok(Self {
            base: base_from(EventType::RunFinished, proto.base, reader)?,
            thread_id: proto.thread_id,
            run_id: proto.run_id,
            result: reader.at_key("result", |reader| Proto::from_proto(proto.result, reader))?,
            outcome,
            usage: reader.at_key("usage", |reader| Proto::from_proto(proto.usage, reader))?,
        })
    }
}

impl Proto<SubagentFinished> for crate::SubagentFinished {
    fn to_proto(&self) -> SubagentFinished {
        let interrupt_ids = match &self.outcome {
            Some(SubagentOutcome::Suspended {
                interrupt_ids: Some(ids),
            }) => ids.clone(),
            _ => Vec::new(),
        };
        SubagentFinished {
            base: base_to(EventType::SubagentFinished, &self.base),
            subagent_run_id: self.subagent_run_id.clone(),
            result: self.result.to_proto(),
            outcome: self
                .outcome
                .as_ref()
                .map(|outcome| outcome.name().to_owned())
                .unwrap_or_default(),
            interrupt_ids,
        }
    }

    fn from_proto(proto: SubagentFinished, reader: &mut Reader) -> Reading<Self> {
        let outcome = match proto.outcome.as_str() {
            "" => None,
            "success" => Some(SubagentOutcome::Success),
            "suspended" => Some(SubagentOutcome::Suspended {
                interrupt_ids: (!proto.interrupt_ids.is_empty()).then_some(proto.interrupt_ids),
            }),
            _ => {
                reader.warn("has an unknown outcome, which is dropped");
                None
            }
        };
        Ok(Self {
            base: base_from(EventType::SubagentFinished, proto.base, reader)?,
            subagent_run_id: proto.subagent_run_id,
            result: reader.at_key("result", |reader| Proto::from_proto(proto.result, reader))?,
            outcome,
        })
    }
}

fn constant(key: &'static str, given: &str, expected: &str, reader: &mut Reader) -> Reading<()> {
    if given == expected {
        return Ok(());
    }
    reader.at_key(key, |reader| {
        Err(reader.malformed(format!("must be {expected:?}")))
    })
}
