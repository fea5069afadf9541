//! The request that starts a run.

mod resume;

use std::collections::HashMap;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::wire::object::readable;
use crate::wire::{Fault, FieldError, Manners, Read, Reader, Reading, Wire};
use crate::{Context, Message, ResumeEntry, Tool};

/// The longest id that is taken from a client, in bytes.
pub const MAX_ID_BYTES: usize = 256;

/// The request that starts a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunAgentInput {
    /// The thread, named by the application.
    pub thread_id: String,
    /// The run, named by the client.
    pub run_id: String,
    /// The version the client speaks; absent stands for a 0.x client.
    pub protocol_version: Option<String>,
    /// The run that this one comes from.
    pub parent_run_id: Option<String>,
    /// The client's view of the shared state; absent stands for an empty object.
    pub state: Option<Value>,
    /// The client's view of the thread.
    pub messages: Vec<Message>,
    /// The tools that the client answers itself.
    pub tools: Vec<Tool>,
    /// What the application lets the agent know.
    pub context: Vec<Context>,
    /// Anything else, passed through.
    pub forwarded_props: Option<Value>,
    /// Answers to the interrupts of an earlier run.
    pub resume: Vec<ResumeEntry>,
}

impl RunAgentInput {
    /// Returns a request with what is required and nothing else.
    #[must_use]
    pub fn new(
        thread_id: impl Into<String>,
        run_id: impl Into<String>,
        messages: impl Into<Vec<Message>>,
    ) -> Self {
        Self {
            thread_id: thread_id.into(),
            run_id: run_id.into(),
            protocol_version: None,
            parent_run_id: None,
            state: None,
            messages: messages.into(),
            tools: Vec::new(),
            context: Vec::new(),
            forwarded_props: None,
            resume: Vec::new(),
        }
    }

    /// Reads a request as a server does.
    ///
    /// Members may be spelt in camelCase or snake_case. Unknown members, roles and parts are
    /// dropped with a warning, null for an optional member is absent, 0.x shapes are read as
    /// what they have become, and a message that is there twice is taken once.
    ///
    /// # Errors
    ///
    /// A known member is missing or malformed, given in both spellings with different values,
    /// an id is empty, too long or holds control characters, or two different messages share an id.
    pub fn read(value: Value) -> Result<Read<Self>, FieldError> {
        let mut reader = Reader::new(Manners::Input);
        let read = Self::from_wire(value, &mut reader).and_then(|mut input| {
            input.check_ids(&mut reader)?;
            input.merge_duplicates(&mut reader)?;
            Ok(input)
        });
        match read {
            Ok(value) => Ok(Read {
                value,
                warnings: reader.warnings,
            }),
            Err(Fault::Malformed(error)) => Err(error),
            Err(Fault::Unknown) => Err(FieldError {
                path: String::new(),
                message: "is of an unknown kind".to_owned(),
            }),
        }
    }

    fn check_ids(&self, reader: &mut Reader) -> Reading<()> {
        reader.at_key("threadId", |reader| check_id(&self.thread_id, reader))?;
        reader.at_key("runId", |reader| check_id(&self.run_id, reader))?;
        reader.at_key("messages", |reader| {
            self.messages
                .iter()
                .enumerate()
                .try_for_each(|(index, message)| {
                    reader.at_index(index, |reader| {
                        reader.at_key("id", |reader| check_id(message.id(), reader))
                    })
                })
        })
    }

    /// Takes a message that is there twice once; two messages with one id are an error.
    fn merge_duplicates(&mut self, reader: &mut Reader) -> Reading<()> {
        let mut first_at: HashMap<&str, usize> = HashMap::with_capacity(self.messages.len());
        let mut repeated = Vec::new();
        for (index, message) in self.messages.iter().enumerate() {
            let first = *first_at.entry(message.id()).or_insert(index);
            if first == index {
                continue;
            }
            reader.at_key("messages", |reader| {
                reader.at_index(index, |reader| {
                    if self.messages.get(first) != Some(message) {
                        return reader.at_key("id", |reader| {
                            Err(reader.malformed("names two different messages"))
                        });
                    }
                    reader.warn("is there twice and taken once");
                    Ok(())
                })
            })?;
            repeated.push(index);
        }
        for index in repeated.into_iter().rev() {
            self.messages.remove(index);
        }
        Ok(())
    }
}

/// Checks an id that a client chose: it goes into logs, headers and stores.
fn check_id(id: &str, reader: &Reader) -> Reading<()> {
    if id.trim().is_empty() {
        return Err(reader.malformed("must not be empty"));
    }
    if id.len() > MAX_ID_BYTES {
        return Err(reader.malformed(format!("must not be longer than {MAX_ID_BYTES} bytes")));
    }
    if id.chars().any(char::is_control) {
        return Err(reader.malformed("must not hold control characters"));
    }
    Ok(())
}

impl Wire for RunAgentInput {
    fn from_wire(value: Value, reader: &mut Reader) -> Reading<Self> {
        let mut object = reader.object(value)?;
        let from = &mut object;
        let resume = resume::entries(from, reader)?;
        // A request that answers needs no conversation beside it; an echo of one is as the schema says.
        let is_answer = !resume.is_empty() && reader.manners() == Manners::Input;
        let messages = match is_answer {
            true => reader.list(from, "messages", "messages")?,
            false => reader.required(from, "messages", "messages")?,
        };
        let input = Self {
            thread_id: reader.required(from, "threadId", "thread_id")?,
            run_id: reader.required(from, "runId", "run_id")?,
            protocol_version: reader.optional(from, "protocolVersion", "protocol_version")?,
            parent_run_id: reader.optional(from, "parentRunId", "parent_run_id")?,
            state: reader.optional(from, "state", "state")?,
            messages,
            tools: reader.list(from, "tools", "tools")?,
            context: reader.list(from, "context", "context")?,
            forwarded_props: reader.optional(from, "forwardedProps", "forwarded_props")?,
            resume,
        };
        reader.finish(object);
        Ok(input)
    }
}

impl Serialize for RunAgentInput {
    /// Writes `tools` and `context` even if they are empty: 0.x peers require them.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("threadId", &self.thread_id)?;
        map.serialize_entry("runId", &self.run_id)?;
        if let Some(version) = &self.protocol_version {
            map.serialize_entry("protocolVersion", version)?;
        }
        if let Some(parent) = &self.parent_run_id {
            map.serialize_entry("parentRunId", parent)?;
        }
        if let Some(state) = self.state.as_ref().filter(|state| !state.is_null()) {
            map.serialize_entry("state", state)?;
        }
        map.serialize_entry("messages", &self.messages)?;
        map.serialize_entry("tools", &self.tools)?;
        map.serialize_entry("context", &self.context)?;
        if let Some(props) = self
            .forwarded_props
            .as_ref()
            .filter(|props| !props.is_null())
        {
            map.serialize_entry("forwardedProps", props)?;
        }
        if !self.resume.is_empty() {
            map.serialize_entry("resume", &self.resume)?;
        }
        map.end()
    }
}

readable!(RunAgentInput);
