//! Chunk events expanded into the start, content and end that they stand for.

use std::mem;

use crate::{
    Base, Event, ReasoningMessageChunk, ReasoningMessageContent, ReasoningMessageEnd,
    ReasoningMessageStart, Rule, TextMessageChunk, TextMessageContent, TextMessageEnd,
    TextMessageStart, TextRole, ToolCallArgs, ToolCallChunk, ToolCallEnd, ToolCallStart, Violation,
};

/// The subagent run that a chunk belongs to; `None` is the run's own agent.
type Owner = Option<String>;

/// Expands `*_CHUNK` events; all others pass.
///
/// Each agent of a run (its own, and each subagent) has at most one open chunk stream. It ends
/// where another id begins, or where an event comes that cannot stand inside it.
///
/// ```
/// use antiphon_protocol::{Chunks, EventType, RunFinished, TextMessageChunk};
///
/// let mut chunk = TextMessageChunk::new();
/// chunk.message_id = Some("m1".to_owned());
/// chunk.delta = Some("Hello".to_owned());
/// let (mut chunks, mut events) = (Chunks::default(), Vec::new());
/// chunks.expand(chunk.into(), &mut events)?;
/// chunks.expand(RunFinished::new("t1", "r1").into(), &mut events)?;
/// let kinds: Vec<_> = events.iter().map(|event| event.kind().as_str()).collect();
/// assert_eq!(
///     kinds,
///     ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_FINISHED"],
/// );
/// # Ok::<(), antiphon_protocol::Violation>(())
/// ```
#[derive(Debug, Default)]
pub struct Chunks {
    /// At most one stream per owner.
    open: Vec<(Owner, Stream)>,
}

/// An open chunk stream, with what its first chunk said.
#[derive(Debug)]
enum Stream {
    Text {
        id: String,
        role: TextRole,
        name: Option<String>,
    },
    Call {
        id: String,
        tool: String,
        parent: Option<String>,
    },
    Reasoning {
        id: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Call,
    Reasoning,
}

impl Stream {
    const fn kind(&self) -> Kind {
        match self {
            Self::Text { .. } => Kind::Text,
            Self::Call { .. } => Kind::Call,
            Self::Reasoning { .. } => Kind::Reasoning,
        }
    }

    fn id(&self) -> &str {
        match self {
            Self::Text { id, .. } | Self::Call { id, .. } | Self::Reasoning { id } => id,
        }
    }
}

/// What a closed stream leaves to other events of its lane.
enum Closes {
    Nothing,
    Lane(Owner),
    Everything,
}

impl Chunks {
    /// Appends what the event stands for to `events`.
    ///
    /// # Errors
    ///
    /// A first chunk does not name what it begins, a later one contradicts the first, or it is
    /// unclear which stream it continues.
    pub fn expand(&mut self, event: Event, events: &mut Vec<Event>) -> Result<(), Violation> {
        match event {
            Event::TextMessageChunk(chunk) => self.text(chunk, events),
            Event::ToolCallChunk(chunk) => self.call(chunk, events),
            Event::ReasoningMessageChunk(chunk) => self.reasoning(chunk, events),
            event => {
                if !self.open.is_empty() {
                    match closes(&event) {
                        Closes::Nothing => {}
                        Closes::Lane(owner) => self.close(&owner, events),
                        Closes::Everything => self.finish(events),
                    }
                }
                events.push(event);
                Ok(())
            }
        }
    }

    /// Appends the ends of what is still open: the stream has ended.
    pub fn finish(&mut self, events: &mut Vec<Event>) {
        events.extend(
            mem::take(&mut self.open)
                .into_iter()
                .map(|(owner, stream)| end(owner, stream)),
        );
    }

    /// Begins a stream in the lane of its owner, where another one ends.
    fn begin(&mut self, owner: &Owner, start: Event, stream: Stream, events: &mut Vec<Event>) {
        self.close(owner, events);
        events.push(start);
        self.open.push((owner.clone(), stream));
    }

    fn close(&mut self, owner: &Owner, events: &mut Vec<Event>) {
        if let Some(at) = self.open.iter().position(|(of, _)| of == owner) {
            let (owner, stream) = self.open.remove(at);
            events.push(end(owner, stream));
        }
    }

    fn stream(&self, owner: &Owner) -> Option<&Stream> {
        self.open
            .iter()
            .find(|(of, _)| of == owner)
            .map(|(_, stream)| stream)
    }

    fn text(&mut self, chunk: TextMessageChunk, events: &mut Vec<Event>) -> Result<(), Violation> {
        let owner = self.owner(
            Kind::Text,
            chunk.message_id.as_deref(),
            chunk.subagent_run_id,
        )?;
        let (id, goes_on) = match self.stream(&owner) {
            Some(Stream::Text { id, role, name }) if continues(chunk.message_id.as_ref(), id) => {
                agree("role", chunk.role.as_ref(), Some(role))?;
                agree("name", chunk.name.as_ref(), name.as_ref())?;
                (id.clone(), true)
            }
            _ => {
                let id = named(chunk.message_id, "TEXT_MESSAGE_CHUNK", "messageId")?;
                let role = chunk.role.unwrap_or(TextRole::Assistant);
                let mut start = TextMessageStart::new(id.clone());
                start.role = Some(role);
                start.name.clone_from(&chunk.name);
                start.subagent_run_id.clone_from(&owner);
                start.base = start_base(&chunk.base);
                let stream = Stream::Text {
                    id: id.clone(),
                    role,
                    name: chunk.name,
                };
                self.begin(&owner, start.into(), stream, events);
                (id, false)
            }
        };
        piece(chunk.delta, chunk.base, goes_on, |delta, base| {
            let content = TextMessageContent {
                message_id: id,
                delta,
                subagent_run_id: owner,
                base,
            };
            events.push(content.into());
        });
        Ok(())
    }

    fn call(&mut self, chunk: ToolCallChunk, events: &mut Vec<Event>) -> Result<(), Violation> {
        let owner = self.owner(
            Kind::Call,
            chunk.tool_call_id.as_deref(),
            chunk.subagent_run_id,
        )?;
        let (id, goes_on) = match self.stream(&owner) {
            Some(Stream::Call { id, tool, parent })
                if continues(chunk.tool_call_id.as_ref(), id) =>
            {
                agree("toolCallName", chunk.tool_call_name.as_ref(), Some(tool))?;
                agree(
                    "parentMessageId",
                    chunk.parent_message_id.as_ref(),
                    parent.as_ref(),
                )?;
                (id.clone(), true)
            }
            _ => {
                let id = named(chunk.tool_call_id, "TOOL_CALL_CHUNK", "toolCallId")?;
                let tool = named(chunk.tool_call_name, "TOOL_CALL_CHUNK", "toolCallName")?;
                let mut start = ToolCallStart::new(id.clone(), tool.clone());
                start.parent_message_id.clone_from(&chunk.parent_message_id);
                start.subagent_run_id.clone_from(&owner);
                start.base = start_base(&chunk.base);
                let parent = chunk.parent_message_id;
                let stream = Stream::Call {
                    id: id.clone(),
                    tool,
                    parent,
                };
                self.begin(&owner, start.into(), stream, events);
                (id, false)
            }
        };
        piece(chunk.delta, chunk.base, goes_on, |delta, base| {
            events.push(
                ToolCallArgs {
                    tool_call_id: id,
                    delta,
                    subagent_run_id: owner,
                    base,
                }
                .into(),
            );
        });
        Ok(())
    }

    fn reasoning(
        &mut self,
        chunk: ReasoningMessageChunk,
        events: &mut Vec<Event>,
    ) -> Result<(), Violation> {
        let owner = self.owner(
            Kind::Reasoning,
            chunk.message_id.as_deref(),
            chunk.subagent_run_id,
        )?;
        let (id, goes_on) = match self.stream(&owner) {
            Some(Stream::Reasoning { id }) if continues(chunk.message_id.as_ref(), id) => {
                (id.clone(), true)
            }
            _ => {
                let id = named(chunk.message_id, "REASONING_MESSAGE_CHUNK", "messageId")?;
                let mut start = ReasoningMessageStart::new(id.clone());
                start.subagent_run_id.clone_from(&owner);
                start.base = start_base(&chunk.base);
                let stream = Stream::Reasoning { id: id.clone() };
                self.begin(&owner, start.into(), stream, events);
                (id, false)
            }
        };
        piece(chunk.delta, chunk.base, goes_on, |delta, base| {
            let content = ReasoningMessageContent {
                message_id: id,
                delta,
                subagent_run_id: owner,
                base,
            };
            events.push(content.into());
        });
        Ok(())
    }

    /// Returns the lane that a chunk belongs to. A chunk without a tag belongs where its id is
    /// open; one without an id as well, where the only stream of its kind is.
    fn owner(&self, kind: Kind, id: Option<&str>, tag: Owner) -> Result<Owner, Violation> {
        let of_kind = || self.open.iter().filter(|(_, stream)| stream.kind() == kind);
        if let Some(id) = id {
            let Some((owner, _)) = of_kind().find(|(_, stream)| stream.id() == id) else {
                return Ok(tag);
            };
            if tag.is_some() && tag != *owner {
                return chunk_violation(format!(
                    "a chunk of {id:?} is tagged {tag:?} but was opened by {owner:?}"
                ));
            }
            return Ok(owner.clone());
        }
        if tag.is_some() || of_kind().any(|(owner, _)| owner.is_none()) {
            return Ok(tag);
        }
        let mut candidates = of_kind();
        match (candidates.next(), candidates.next()) {
            (None, _) => Ok(None),
            (Some((owner, _)), None) => Ok(owner.clone()),
            (Some(_), Some(_)) => chunk_violation(
                "a chunk names neither an id nor a subagent while several streams are open"
                    .to_owned(),
            ),
        }
    }
}

/// Returns which chunk streams cannot go on beyond this event.
fn closes(event: &Event) -> Closes {
    match event {
        Event::RunStarted(_)
        | Event::RunFinished(_)
        | Event::RunError(_)
        | Event::MessagesSnapshot(_) => Closes::Everything,
        Event::Raw(_)
        | Event::ActivitySnapshot(_)
        | Event::ActivityDelta(_)
        | Event::ReasoningEncryptedValue(_)
        | Event::SubagentStarted(_) => Closes::Nothing,
        event => Closes::Lane(event.subagent_run_id().map(str::to_owned)),
    }
}

fn end(owner: Owner, stream: Stream) -> Event {
    match stream {
        Stream::Text { id, .. } => TextMessageEnd {
            subagent_run_id: owner,
            ..TextMessageEnd::new(id)
        }
        .into(),
        Stream::Call { id, .. } => ToolCallEnd {
            subagent_run_id: owner,
            ..ToolCallEnd::new(id)
        }
        .into(),
        Stream::Reasoning { id } => ReasoningMessageEnd {
            subagent_run_id: owner,
            ..ReasoningMessageEnd::new(id)
        }
        .into(),
    }
}

/// Adds the content that a chunk carries. One that goes on and says nothing but metadata still
/// has to reach its message.
fn piece(delta: Option<String>, base: Base, goes_on: bool, add: impl FnOnce(String, Base)) {
    let has_news = base.raw_event.is_some() || (goes_on && base.metadata.is_some());
    if delta.is_some() || has_news {
        add(delta.unwrap_or_default(), base);
    }
}

/// The source event belongs to the content, not to the start as well.
fn start_base(base: &Base) -> Base {
    Base {
        raw_event: None,
        ..base.clone()
    }
}

fn continues(given: Option<&String>, open: &str) -> bool {
    given.is_none_or(|id| id == open)
}

fn agree<T: PartialEq + std::fmt::Debug>(
    what: &str,
    given: Option<&T>,
    open: Option<&T>,
) -> Result<(), Violation> {
    if given.is_some() && given != open {
        return chunk_violation(format!(
            "a chunk's {what} is {given:?} but its first said {open:?}"
        ));
    }
    Ok(())
}

fn named(value: Option<String>, event: &str, member: &str) -> Result<String, Violation> {
    value.map_or_else(
        || chunk_violation(format!("the first {event} has no {member}")),
        Ok,
    )
}

fn chunk_violation<T>(message: String) -> Result<T, Violation> {
    Err(Violation {
        rule: Rule::Chunk,
        message,
    })
}
