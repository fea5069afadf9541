//! How a run ends: outcomes, interrupts, answers to them, and usage.

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::Metadata;
use crate::wire::object::{names, object, readable};
use crate::wire::{Presence, Reader, Reading, Wire};

/// How a run that did not fail ended. A failure is a `RUN_ERROR` and never an outcome.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It did what it could.
    Success {
        /// The calls of client tools that wait for an answer, in call order.
        pending_tool_call_ids: Option<Vec<String>>,
    },
    /// It stopped to ask.
    Interrupt {
        /// The questions, at least one.
        interrupts: Vec<Interrupt>,
    },
    /// It was stopped on request.
    Cancelled,
}

impl Outcome {
    /// Returns the plain success.
    #[must_use]
    pub const fn success() -> Self {
        Self::Success {
            pending_tool_call_ids: None,
        }
    }

    /// Returns its name on the wire.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Success { .. } => "success",
            Self::Interrupt { .. } => "interrupt",
            Self::Cancelled => "cancelled",
        }
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", self.name())?;
        match self {
            Self::Success {
                pending_tool_call_ids: Some(ids),
            } => {
                map.serialize_entry("pendingToolCallIds", ids)?;
            }
            Self::Interrupt { interrupts } => map.serialize_entry("interrupts", interrupts)?,
            Self::Success {
                pending_tool_call_ids: None,
            }
            | Self::Cancelled => {}
        }
        map.end()
    }
}

readable!(Outcome);

impl Wire for Outcome {
    const NULL_IS_ABSENT: bool = true;

    fn from_wire(value: Value, reader: &mut Reader) -> Reading<Self> {
        let mut object = reader.object(value)?;
        let kind = reader.discriminator(&object, "type")?;
        let from = &mut object;
        let outcome = match kind.as_str() {
            "success" => Self::Success {
                pending_tool_call_ids: reader.optional(
                    from,
                    "pendingToolCallIds",
                    "pending_tool_call_ids",
                )?,
            },
            "interrupt" => {
                let interrupts: Vec<_> = reader.required(from, "interrupts", "interrupts")?;
                if interrupts.is_empty() {
                    return reader.at_key("interrupts", |reader| {
                        Err(reader.malformed("must not be empty"))
                    });
                }
                Self::Interrupt { interrupts }
            }
            "cancelled" => Self::Cancelled,
            _ => return Err(reader.unknown("is an unknown outcome, which is dropped")),
        };
        reader.constant(from, "type", outcome.name(), Presence::Required)?;
        reader.finish(object);
        Ok(outcome)
    }
}

/// How a subagent ended that did not fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubagentOutcome {
    /// It did what it could.
    Success,
    /// It waits for answers.
    Suspended {
        /// The run's interrupts that it waits for.
        interrupt_ids: Option<Vec<String>>,
    },
}

impl SubagentOutcome {
    /// Returns its name on the wire.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Suspended { .. } => "suspended",
        }
    }
}

impl Serialize for SubagentOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", self.name())?;
        if let Self::Suspended {
            interrupt_ids: Some(ids),
        } = self
        {
            map.serialize_entry("interruptIds", ids)?;
        }
        map.end()
    }
}

readable!(SubagentOutcome);

impl Wire for SubagentOutcome {
    fn from_wire(value: Value, reader: &mut Reader) -> Reading<Self> {
        let mut object = reader.object(value)?;
        let kind = reader.discriminator(&object, "type")?;
        let from = &mut object;
        let outcome = match kind.as_str() {
            "success" => Self::Success,
            "suspended" => Self::Suspended {
                interrupt_ids: reader.optional(from, "interruptIds", "interrupt_ids")?,
            },
            _ => return Err(reader.unknown("is an unknown outcome, which is dropped")),
        };
        reader.constant(from, "type", outcome.name(), Presence::Required)?;
        reader.finish(object);
        Ok(outcome)
    }
}

object! {
    /// A question that a run stopped for.
    pub struct Interrupt {
        required {
            /// Unique within the run; the answer names it.
            id: String = "id",
            /// Why it asks. The vocabulary is open: `tool_call`, `input_required`,
            /// `confirmation`, or a name of one's own with a prefix.
            reason: String = "reason",
        }
        optional {
            /// What to ask the person.
            message: String = "message",
            /// The call that waits.
            tool_call_id: String = "toolCallId",
            /// JSON Schema of the answer's payload.
            response_schema: Map<String, Value> = "responseSchema",
            /// When the question lapses, ISO 8601 by convention.
            expires_at: String = "expiresAt",
            /// Application data.
            metadata: Metadata = "metadata",
            /// The subagent run that asks.
            subagent_run_id: String = "subagentRunId",
        }
    }
}

names! {
    /// What became of a question.
    pub enum ResumeStatus {
        /// It was answered.
        Resolved = "resolved",
        /// The person gave it up.
        Cancelled = "cancelled",
    }
}

object! {
    /// The answer to an interrupt.
    pub struct ResumeEntry {
        required {
            /// The interrupt that is answered.
            interrupt_id: String = "interruptId",
            /// Whether there is an answer.
            status: ResumeStatus = "status",
        }
        optional {
            /// The answer, anything but null.
            payload: Value = "payload",
            /// Application data.
            metadata: Metadata = "metadata",
        }
    }
}

object! {
    /// What a run used of one model. Totals are inclusive: cached input is part of the input,
    /// reasoning part of the output; what is not known is absent, not zero.
    #[derive(Default)]
    pub struct TokenUsage {
        optional {
            /// Who served the model.
            provider: String = "provider",
            /// The model.
            model: String = "model",
            /// Tokens read.
            input_tokens: u64 = "inputTokens",
            /// Tokens written.
            output_tokens: u64 = "outputTokens",
            /// Input and output.
            total_tokens: u64 = "totalTokens",
            /// The part of the output that was reasoning.
            reasoning_tokens: u64 = "reasoningTokens",
            /// The part of the input that came from a cache.
            cached_input_tokens: u64 = "cachedInputTokens",
            /// The part of the input that was put into a cache.
            cache_write_input_tokens: u64 = "cacheWriteInputTokens",
        }
    }
}
