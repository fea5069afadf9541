//! What a message says: text, or parts of text and media.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::wire::object::{object, readable, union};
use crate::wire::{Object, Reader, Reading, Wire};

/// The content of a user or tool message.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// Parts, in order.
    Parts(Vec<ContentPart>),
}

impl Content {
    /// Returns the text: that of the text parts, one after the other. Media parts have none.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        let parts = match self {
            Self::Text(text) => return Cow::Borrowed(text),
            Self::Parts(parts) => parts,
        };
        let mut texts = parts.iter().filter_map(ContentPart::text);
        match (texts.next(), texts.next()) {
            (None, _) => Cow::Borrowed(""),
            (Some(only), None) => Cow::Borrowed(only),
            (Some(first), Some(second)) => {
                Cow::Owned([first, second].into_iter().chain(texts).collect())
            }
        }
    }

    /// Returns whether there is nothing in it at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Parts(parts) => parts.is_empty(),
        }
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Vec<ContentPart>> for Content {
    fn from(parts: Vec<ContentPart>) -> Self {
        Self::Parts(parts)
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Parts(parts) => parts.serialize(serializer),
        }
    }
}

readable!(Content);

impl Wire for Content {
    fn from_wire(value: Value, reader: &mut Reader) -> Reading<Self> {
        match value {
            Value::String(text) => Ok(Self::Text(text)),
            Value::Array(_) => Vec::from_wire(value, reader).map(Self::Parts),
            _ => Err(reader.malformed("must be a string or an array of content parts")),
        }
    }
}

union! {
    /// One part of a content.
    pub enum ContentPart by "type" {
        /// Text.
        Text(TextPart) = "text",
        /// A picture.
        Image(ImagePart) = "image",
        /// A recording.
        Audio(AudioPart) = "audio",
        /// A film.
        Video(VideoPart) = "video",
        /// Any other file.
        Document(DocumentPart) = "document",
    }
}

impl ContentPart {
    /// Returns the text of a text part.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(part) => Some(&part.text),
            Self::Image(_) | Self::Audio(_) | Self::Video(_) | Self::Document(_) => None,
        }
    }

    /// Returns where the bytes of a media part are.
    #[must_use]
    pub const fn source(&self) -> Option<&Source> {
        match self {
            Self::Text(_) => None,
            Self::Image(part) => Some(&part.source),
            Self::Audio(part) => Some(&part.source),
            Self::Video(part) => Some(&part.source),
            Self::Document(part) => Some(&part.source),
        }
    }

    /// Like [`source`](Self::source), to change it.
    pub const fn source_mut(&mut self) -> Option<&mut Source> {
        match self {
            Self::Text(_) => None,
            Self::Image(part) => Some(&mut part.source),
            Self::Audio(part) => Some(&mut part.source),
            Self::Video(part) => Some(&mut part.source),
            Self::Document(part) => Some(&mut part.source),
        }
    }

    /// Returns the part of the kind that the media type belongs to.
    fn of_media_type(media_type: &str, source: Source, metadata: Option<Value>) -> Self {
        let id = None;
        match media_type.split('/').next() {
            Some("image") => Self::Image(ImagePart {
                source,
                id,
                metadata,
            }),
            Some("audio") => Self::Audio(AudioPart {
                source,
                id,
                metadata,
            }),
            Some("video") => Self::Video(VideoPart {
                source,
                id,
                metadata,
            }),
            _ => Self::Document(DocumentPart {
                source,
                id,
                metadata,
            }),
        }
    }
}

impl Wire for ContentPart {
    fn from_wire(value: Value, reader: &mut Reader) -> Reading<Self> {
        let object = reader.object(value)?;
        if object.0.get("type").and_then(Value::as_str) == Some("binary") {
            return upgrade_binary(object, reader);
        }
        Self::from_object(object, reader)
    }
}

object! {
    /// Text.
    pub struct TextPart {
        constants { "type" = "text" Required, }
        required {
            /// The text.
            text: String = "text",
        }
        optional {
            /// The part's own id.
            id: String = "id",
            /// Anything but null.
            metadata: Value = "metadata",
        }
    }
}

macro_rules! media_part {
    ($(#[$meta:meta])* $name:ident = $tag:literal) => {
        object! {
            $(#[$meta])*
            pub struct $name {
                constants { "type" = $tag Required, }
                required {
                    /// Where its bytes are.
                    source: Source = "source",
                }
                optional {
                    /// The part's own id.
                    id: String = "id",
                    /// Anything but null.
                    metadata: Value = "metadata",
                }
            }
        }
    };
}

media_part! {
    /// A picture.
    ImagePart = "image"
}
media_part! {
    /// A recording.
    AudioPart = "audio"
}
media_part! {
    /// A film.
    VideoPart = "video"
}
media_part! {
    /// Any other file.
    DocumentPart = "document"
}

union! {
    /// Where the bytes of a media part are.
    pub enum Source by "type" {
        /// In the message.
        Data(DataSource) = "data",
        /// At an address.
        Url(UrlSource) = "url",
        /// With a provider, under a handle that only the provider understands.
        File(FileSource) = "file",
    }
}

impl Wire for Source {
    fn from_wire(value: Value, reader: &mut Reader) -> Reading<Self> {
        let object = reader.object(value)?;
        Self::from_object(object, reader)
    }
}

object! {
    /// Bytes in the message.
    pub struct DataSource {
        constants { "type" = "data" Required, }
        required {
            /// Base64.
            value: String = "value",
            /// The media type.
            mime_type: String = "mimeType",
        }
    }
}

object! {
    /// Bytes at an address.
    pub struct UrlSource {
        constants { "type" = "url" Required, }
        required {
            /// The address.
            value: String = "value",
        }
        optional {
            /// The media type.
            mime_type: String = "mimeType",
        }
    }
}

object! {
    /// Bytes with a provider. Nobody but the provider fetches or reads the handle.
    pub struct FileSource {
        constants { "type" = "file" Required, }
        required {
            /// The provider's handle.
            value: String = "value",
        }
        optional {
            /// Whose handle it is.
            provider: String = "provider",
            /// The media type.
            mime_type: String = "mimeType",
        }
    }
}

/// Reads the `binary` part of 0.x clients as the part it has become in 1.0.
fn upgrade_binary(mut object: Object, reader: &mut Reader) -> Reading<ContentPart> {
    let from = &mut object;
    reader.constant(from, "type", "binary", crate::wire::Presence::Required)?;
    let media_type: String = reader.required(from, "mimeType", "mime_type")?;
    let data: Option<String> = reader.optional(from, "data", "data")?;
    let url: Option<String> = reader.optional(from, "url", "url")?;
    let handle: Option<String> = reader.optional(from, "id", "id")?;
    let filename: Option<String> = reader.optional(from, "filename", "filename")?;
    reader.finish(object);
    let source = if let Some(data) = data {
        DataSource::new(data, media_type.clone()).into()
    } else if let Some(url) = url {
        Source::Url(UrlSource {
            mime_type: Some(media_type.clone()),
            ..UrlSource::new(url)
        })
    } else if let Some(handle) = handle {
        Source::File(FileSource {
            mime_type: Some(media_type.clone()),
            ..FileSource::new(handle)
        })
    } else {
        return Err(reader.malformed("needs data, url or id"));
    };
    reader.warn("is a binary part of AG-UI 0.x and read as its successor");
    let metadata =
        filename.map(|name| Map::from_iter([("filename".to_owned(), name.into())]).into());
    Ok(ContentPart::of_media_type(&media_type, source, metadata))
}
