//! Messages, their content and their calls.

use super::convert::{Proto, list_from, lists};
use super::value::{Struct, Value};
use crate::wire::{Reader, Reading};
use crate::{
    ActivityMessage, AssistantMessage, AudioPart, Content, ContentPart, DataSource,
    DeveloperMessage, DocumentPart, FileSource, FunctionCall, ImagePart, ReasoningMessage, Role,
    Source, SystemMessage, TextPart, ToolCall, ToolMessage, UrlSource, UserMessage, VideoPart,
};

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Message {
    #[prost(string, tag = "1")]
    id: String,
    #[prost(string, tag = "2")]
    role: String,
    #[prost(string, optional, tag = "3")]
    content: Option<String>,
    #[prost(string, optional, tag = "4")]
    name: Option<String>,
    #[prost(message, repeated, tag = "5")]
    tool_calls: Vec<PbToolCall>,
    #[prost(string, optional, tag = "6")]
    tool_call_id: Option<String>,
    #[prost(string, optional, tag = "7")]
    error: Option<String>,
    #[prost(message, repeated, tag = "8")]
    content_parts: Vec<InputContent>,
    #[prost(message, optional, tag = "9")]
    metadata: Option<Struct>,
    #[prost(string, optional, tag = "10")]
    subagent_run_id: Option<String>,
    #[prost(string, optional, tag = "11")]
    encrypted_value: Option<String>,
    #[prost(string, optional, tag = "12")]
    activity_type: Option<String>,
    #[prost(message, optional, tag = "13")]
    activity_content: Option<Struct>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct PbToolCall {
    #[prost(string, tag = "1")]
    id: String,
    #[prost(string, tag = "2")]
    kind: String,
    #[prost(message, optional, tag = "3")]
    function: Option<PbFunctionCall>,
    #[prost(message, optional, tag = "4")]
    metadata: Option<Struct>,
    #[prost(string, optional, tag = "5")]
    encrypted_value: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct PbFunctionCall {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    arguments: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct InputContent {
    #[prost(oneof = "Part", tags = "1, 2, 3, 4, 5")]
    part: Option<Part>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Part {
    #[prost(message, tag = "1")]
    Text(TextInputPart),
    #[prost(message, tag = "2")]
    Image(MediaInputPart),
    #[prost(message, tag = "3")]
    Audio(MediaInputPart),
    #[prost(message, tag = "4")]
    Video(MediaInputPart),
    #[prost(message, tag = "5")]
    Document(MediaInputPart),
}

#[derive(Clone, PartialEq, prost::Message)]
struct TextInputPart {
    #[prost(string, tag = "1")]
    text: String,
    #[prost(string, optional, tag = "2")]
    id: Option<String>,
    #[prost(message, optional, tag = "3")]
    metadata: Option<Value>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct MediaInputPart {
    #[prost(message, optional, tag = "1")]
    source: Option<InputContentSource>,
    #[prost(message, optional, tag = "2")]
    metadata: Option<Value>,
    #[prost(string, optional, tag = "3")]
    id: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct InputContentSource {
    #[prost(oneof = "PbSource", tags = "1, 2, 3")]
    source: Option<PbSource>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum PbSource {
    #[prost(message, tag = "1")]
    Data(PbDataSource),
    #[prost(message, tag = "2")]
    Url(PbUrlSource),
    #[prost(message, tag = "3")]
    File(PbFileSource),
}

#[derive(Clone, PartialEq, prost::Message)]
struct PbDataSource {
    #[prost(string, tag = "1")]
    value: String,
    #[prost(string, tag = "2")]
    mime_type: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct PbUrlSource {
    #[prost(string, tag = "1")]
    value: String,
    #[prost(string, optional, tag = "2")]
    mime_type: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct PbFileSource {
    #[prost(string, tag = "1")]
    value: String,
    #[prost(string, optional, tag = "2")]
    provider: Option<String>,
    #[prost(string, optional, tag = "3")]
    mime_type: Option<String>,
}

lists! {
    crate::Message => Message,
    ToolCall => PbToolCall,
}

impl Proto<Message> for crate::Message {
    fn to_proto(&self) -> Message {
        let mut proto = Message {
            id: self.id().to_owned(),
            role: self.role().as_str().to_owned(),
            metadata: self.metadata().map(Struct::from),
            subagent_run_id: self.subagent_run_id().map(str::to_owned),
            tool_calls: self.tool_calls().iter().map(Proto::to_proto).collect(),
            ..Message::default()
        };
        let (content, name, encrypted_value) = match self {
            Self::Developer(m) => (Some(&m.content), &m.name, &m.encrypted_value),
            Self::System(m) => (Some(&m.content), &m.name, &m.encrypted_value),
            Self::Assistant(m) => (m.content.as_ref(), &m.name, &m.encrypted_value),
            Self::Reasoning(m) => (Some(&m.content), &None, &m.encrypted_value),
            Self::User(m) => {
                (proto.content, proto.content_parts) = split(&m.content);
                (None, &m.name, &m.encrypted_value)
            }
            Self::Tool(m) => {
                (proto.content, proto.content_parts) = split(&m.content);
                proto.tool_call_id = Some(m.tool_call_id.clone());
                proto.error.clone_from(&m.error);
                (None, &None, &m.encrypted_value)
            }
            Self::Activity(m) => {
                proto.activity_type = Some(m.activity_type.clone());
                proto.activity_content = Some(Struct::from(&m.content));
                (None, &None, &None)
            }
        };
        if let Some(content) = content {
            proto.content = Some(content.clone());
        }
        proto.name.clone_from(name);
        proto.encrypted_value.clone_from(encrypted_value);
        proto
    }

    fn from_proto(proto: Message, reader: &mut Reader) -> Reading<Self> {
        let Some(role) = Role::from_name(&proto.role) else {
            return Err(reader.unknown(format!(
                "has an unknown role {:?} and is dropped",
                proto.role
            )));
        };
        match role {
            Role::Developer => developer(proto, reader).map(Into::into),
            Role::System => system(proto, reader).map(Into::into),
            Role::User => user(proto, reader).map(Into::into),
            Role::Assistant => assistant(proto, reader).map(Into::into),
            Role::Tool => tool(proto, reader).map(Into::into),
            Role::Reasoning => reasoning(proto, reader).map(Into::into),
            Role::Activity => activity(proto, reader).map(Into::into),
        }
    }
}

fn developer(proto: Message, reader: &mut Reader) -> Reading<DeveloperMessage> {
    Ok(DeveloperMessage {
        id: proto.id,
        content: required("content", proto.content, reader)?,
        name: proto.name,
        encrypted_value: proto.encrypted_value,
        metadata: proto.metadata.map(Into::into),
        subagent_run_id: proto.subagent_run_id,
    })
}

fn system(proto: Message, reader: &mut Reader) -> Reading<SystemMessage> {
    Ok(SystemMessage {
        id: proto.id,
        content: required("content", proto.content, reader)?,
        name: proto.name,
        encrypted_value: proto.encrypted_value,
        metadata: proto.metadata.map(Into::into),
        subagent_run_id: proto.subagent_run_id,
    })
}

fn user(proto: Message, reader: &mut Reader) -> Reading<UserMessage> {
    Ok(UserMessage {
        id: proto.id,
        content: join(proto.content, proto.content_parts, reader)?,
        name: proto.name,
        encrypted_value: proto.encrypted_value,
        metadata: proto.metadata.map(Into::into),
        subagent_run_id: proto.subagent_run_id,
    })
}

fn assistant(proto: Message, reader: &mut Reader) -> Reading<AssistantMessage> {
    Ok(AssistantMessage {
        id: proto.id,
        content: proto.content,
        name: proto.name,
        encrypted_value: proto.encrypted_value,
        metadata: proto.metadata.map(Into::into),
        subagent_run_id: proto.subagent_run_id,
        tool_calls: reader.at_key("toolCalls", |reader| {
            Vec::from_proto(proto.tool_calls, reader)
        })?,
    })
}

fn tool(proto: Message, reader: &mut Reader) -> Reading<ToolMessage> {
    Ok(ToolMessage {
        id: proto.id,
        tool_call_id: required("toolCallId", proto.tool_call_id, reader)?,
        content: join(proto.content, proto.content_parts, reader)?,
        error: proto.error,
        encrypted_value: proto.encrypted_value,
        metadata: proto.metadata.map(Into::into),
        subagent_run_id: proto.subagent_run_id,
    })
}

fn reasoning(proto: Message, reader: &mut Reader) -> Reading<ReasoningMessage> {
    Ok(ReasoningMessage {
        id: proto.id,
        content: required("content", proto.content, reader)?,
        encrypted_value: proto.encrypted_value,
        metadata: proto.metadata.map(Into::into),
        subagent_run_id: proto.subagent_run_id,
    })
}

fn activity(proto: Message, reader: &mut Reader) -> Reading<ActivityMessage> {
    Ok(ActivityMessage {
        id: proto.id,
        activity_type: required("activityType", proto.activity_type, reader)?,
        content: required("content", proto.activity_content, reader)?.into(),
        metadata: proto.metadata.map(Into::into),
        subagent_run_id: proto.subagent_run_id,
    })
}

fn required<T>(key: &'static str, value: Option<T>, reader: &mut Reader) -> Reading<T> {
    reader.at_key(key, |reader| {
        value.ok_or_else(|| reader.malformed("is required"))
    })
}

/// Text has a field of its own, parts another one.
pub(super) fn split(content: &Content) -> (Option<String>, Vec<InputContent>) {
    match content {
        Content::Text(text) => (Some(text.clone()), Vec::new()),
        Content::Parts(parts) => (None, parts.iter().map(part_to).collect()),
    }
}

pub(super) fn join(
    text: Option<String>,
    parts: Vec<InputContent>,
    reader: &mut Reader,
) -> Reading<Content> {
    match text {
        Some(text) => Ok(Content::Text(text)),
        None => reader
            .at_key("content", |reader| list_from(parts, reader, part_from))
            .map(Content::Parts),
    }
}

fn part_to(part: &ContentPart) -> InputContent {
    let media = |source: &Source, metadata: &Option<serde_json::Value>, id: &Option<String>| {
        MediaInputPart {
            source: Some(source_to(source)),
            metadata: metadata.to_proto(),
            id: id.clone(),
        }
    };
    let part = match part {
        ContentPart::Text(part) => Part::Text(TextInputPart {
            text: part.text.clone(),
            id: part.id.clone(),
            metadata: part.metadata.to_proto(),
        }),
        ContentPart::Image(part) => Part::Image(media(&part.source, &part.metadata, &part.id)),
        ContentPart::Audio(part) => Part::Audio(media(&part.source, &part.metadata, &part.id)),
        ContentPart::Video(part) => Part::Video(media(&part.source, &part.metadata, &part.id)),
        ContentPart::Document(part) => {
            Part::Document(media(&part.source, &part.metadata, &part.id))
        }
    };
    InputContent { part: Some(part) }
}

fn part_from(content: InputContent, reader: &mut Reader) -> Reading<ContentPart> {
    let media = |part: MediaInputPart, reader: &mut Reader| {
        let source = source_from(part.source, reader)?;
        Ok((source, part.id, Option::from_proto(part.metadata, reader)?))
    };
    Ok(match content.part {
        Some(Part::Text(part)) => TextPart {
            text: part.text,
            id: part.id,
            metadata: Option::from_proto(part.metadata, reader)?,
        }
        .into(),
        Some(Part::Image(part)) => {
            let (source, id, metadata) = media(part, reader)?;
            ImagePart {
                source,
                id,
                metadata,
            }
            .into()
        }
        Some(Part::Audio(part)) => {
            let (source, id, metadata) = media(part, reader)?;
            AudioPart {
                source,
                id,
                metadata,
            }
            .into()
        }
        Some(Part::Video(part)) => {
            let (source, id, metadata) = media(part, reader)?;
            VideoPart {
                source,
                id,
                metadata,
            }
            .into()
        }
        Some(Part::Document(part)) => {
            let (source, id, metadata) = media(part, reader)?;
            DocumentPart {
                source,
                id,
                metadata,
            }
            .into()
        }
        None => return Err(reader.unknown("is an unknown content part, which is dropped")),
    })
}

fn source_to(source: &Source) -> InputContentSource {
    let source = match source {
        Source::Data(source) => PbSource::Data(PbDataSource {
            value: source.value.clone(),
            mime_type: source.mime_type.clone(),
        }),
        Source::Url(source) => PbSource::Url(PbUrlSource {
            value: source.value.clone(),
            mime_type: source.mime_type.clone(),
        }),
        Source::File(source) => PbSource::File(PbFileSource {
            value: source.value.clone(),
            provider: source.provider.clone(),
            mime_type: source.mime_type.clone(),
        }),
    };
    InputContentSource {
        source: Some(source),
    }
}

fn source_from(source: Option<InputContentSource>, reader: &mut Reader) -> Reading<Source> {
    Ok(match source.and_then(|source| source.source) {
        Some(PbSource::Data(PbDataSource { value, mime_type })) => {
            DataSource { value, mime_type }.into()
        }
        Some(PbSource::Url(PbUrlSource { value, mime_type })) => {
            UrlSource { value, mime_type }.into()
        }
        Some(PbSource::File(PbFileSource {
            value,
            provider,
            mime_type,
        })) => FileSource {
            value,
            provider,
            mime_type,
        }
        .into(),
        None => return Err(reader.unknown("has an unknown source and is dropped")),
    })
}

impl Proto<PbToolCall> for ToolCall {
    fn to_proto(&self) -> PbToolCall {
        PbToolCall {
            id: self.id.clone(),
            kind: "function".to_owned(),
            function: Some(PbFunctionCall {
                name: self.function.name.clone(),
                arguments: self.function.arguments.clone(),
            }),
            metadata: self.metadata.to_proto(),
            encrypted_value: self.encrypted_value.clone(),
        }
    }

    fn from_proto(proto: PbToolCall, reader: &mut Reader) -> Reading<Self> {
        let Some(PbFunctionCall { name, arguments }) = proto.function else {
            return reader.at_key("function", |reader| Err(reader.malformed("is required")));
        };
        Ok(Self {
            id: proto.id,
            function: FunctionCall { name, arguments },
            encrypted_value: proto.encrypted_value,
            metadata: Option::from_proto(proto.metadata, reader)?,
        })
    }
}
