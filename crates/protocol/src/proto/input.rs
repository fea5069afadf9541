//! The request that a run echoes, and what it consists of.

use super::convert::{Proto, lists};
use super::message::Message;
use super::value::{Struct, Value};
use crate::wire::{Reader, Reading};

/// Declares a protobuf message whose fields are members of the vocabulary's type.
macro_rules! mirrored {
    (
        $(#[$meta:meta])*
        $name:ident for $type:ty {
            $([$($attribute:tt)*] $field:ident: $field_type:ty = $key:literal,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, prost::Message)]
        pub(super) struct $name {
            $(#[prost($($attribute)*)] $field: $field_type,)*
        }

        impl $crate::proto::convert::Proto<$name> for $type {
            fn to_proto(&self) -> $name {
                $name { $($field: $crate::proto::convert::Proto::to_proto(&self.$field),)* }
            }

            fn from_proto(
                proto: $name,
                reader: &mut $crate::wire::Reader,
            ) -> $crate::wire::Reading<Self> {
                Ok(Self {
                    $($field: reader.at_key($key, |reader| {
                        $crate::proto::convert::Proto::from_proto(proto.$field, reader)
                    })?,)*
                })
            }
        }
    };
}

mirrored! {
    RunAgentInput for crate::RunAgentInput {
        [string, tag = "1"] thread_id: String = "threadId",
        [string, tag = "2"] run_id: String = "runId",
        [string, optional, tag = "3"] parent_run_id: Option<String> = "parentRunId",
        [message, optional, tag = "4"] state: Option<Value> = "state",
        [message, repeated, tag = "5"] messages: Vec<Message> = "messages",
        [message, repeated, tag = "6"] tools: Vec<Tool> = "tools",
        [message, repeated, tag = "7"] context: Vec<Context> = "context",
        [message, optional, tag = "8"] forwarded_props: Option<Value> = "forwardedProps",
        [message, repeated, tag = "9"] resume: Vec<ResumeEntry> = "resume",
        [string, optional, tag = "10"] protocol_version: Option<String> = "protocolVersion",
    }
}

impl Proto<Option<RunAgentInput>> for Option<Box<crate::RunAgentInput>> {
    fn to_proto(&self) -> Option<RunAgentInput> {
        self.as_deref().map(Proto::to_proto)
    }

    fn from_proto(proto: Option<RunAgentInput>, reader: &mut Reader) -> Reading<Self> {
        proto
            .map(|input| Proto::from_proto(input, reader).map(Box::new))
            .transpose()
    }
}

mirrored! {
    Tool for crate::Tool {
        [string, tag = "1"] name: String = "name",
        [string, tag = "2"] description: String = "description",
        [message, optional, tag = "3"] parameters: Option<Value> = "parameters",
        [message, optional, tag = "4"] metadata: Option<Struct> = "metadata",
    }
}

mirrored! {
    Context for crate::Context {
        [string, tag = "1"] description: String = "description",
        [string, tag = "2"] value: String = "value",
    }
}

mirrored! {
    ResumeEntry for crate::ResumeEntry {
        [string, tag = "1"] interrupt_id: String = "interruptId",
        [string, tag = "2"] status: String = "status",
        [message, optional, tag = "3"] payload: Option<Value> = "payload",
        [message, optional, tag = "4"] metadata: Option<Struct> = "metadata",
    }
}

mirrored! {
    Interrupt for crate::Interrupt {
        [string, tag = "1"] id: String = "id",
        [string, tag = "2"] reason: String = "reason",
        [string, optional, tag = "3"] message: Option<String> = "message",
        [string, optional, tag = "4"] tool_call_id: Option<String> = "toolCallId",
        [message, optional, tag = "5"] response_schema: Option<Value> = "responseSchema",
        [string, optional, tag = "6"] expires_at: Option<String> = "expiresAt",
        [message, optional, tag = "7"] metadata: Option<Value> = "metadata",
        [string, optional, tag = "8"] subagent_run_id: Option<String> = "subagentRunId",
    }
}

mirrored! {
    Usage for crate::TokenUsage {
        [string, optional, tag = "1"] provider: Option<String> = "provider",
        [string, optional, tag = "2"] model: Option<String> = "model",
        [int64, optional, tag = "3"] input_tokens: Option<i64> = "inputTokens",
        [int64, optional, tag = "4"] output_tokens: Option<i64> = "outputTokens",
        [int64, optional, tag = "5"] total_tokens: Option<i64> = "totalTokens",
        [int64, optional, tag = "6"] reasoning_tokens: Option<i64> = "reasoningTokens",
        [int64, optional, tag = "7"] cached_input_tokens: Option<i64> = "cachedInputTokens",
        [int64, optional, tag = "8"] cache_write_input_tokens: Option<i64> = "cacheWriteInputTokens",
    }
}

lists! {
    crate::Tool => Tool,
    crate::Context => Context,
    crate::ResumeEntry => ResumeEntry,
    crate::Interrupt => Interrupt,
    crate::TokenUsage => Usage,
}

/// An empty list is an absent one.
impl Proto<Vec<Usage>> for Option<Vec<crate::TokenUsage>> {
    fn to_proto(&self) -> Vec<Usage> {
        self.as_ref().map(Proto::to_proto).unwrap_or_default()
    }

    fn from_proto(proto: Vec<Usage>, reader: &mut Reader) -> Reading<Self> {
        let usage: Vec<_> = Proto::from_proto(proto, reader)?;
        Ok((!usage.is_empty()).then_some(usage))
    }
}
