//! Content parts in OpenAI's shapes.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::{Part, Source};

/// User content: a plain string where one text is all there is, which every server reads; a list of parts otherwise.
pub(super) struct UserContent<'a>(pub(super) &'a [Part]);

impl Serialize for UserContent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let [Part::Text(text)] = self.0 {
            return serializer.serialize_str(text);
        }
        let parts: Vec<_> = self.0.iter().filter_map(entry).collect();
        if parts.is_empty() {
            serializer.serialize_str("")
        } else {
            parts.serialize(serializer)
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Entry<'a> {
    Text {
        #[serde(rename = "type")]
        kind: &'static str,
        text: &'a str,
    },
    Media(Value),
}

fn entry(part: &Part) -> Option<Entry<'_>> {
    match part {
        Part::Text(text) => Some(Entry::Text { kind: "text", text }),
        media_part => media(media_part).map(Entry::Media),
    }
}

/// The content of a tool's result, which may only be text.
pub(super) fn result_text(parts: &[Part]) -> String {
    let mut whole = String::new();
    for part in parts {
        match part.as_text() {
            Some(text) => {
                if !whole.is_empty() {
                    whole.push('\n');
                }
                whole.push_str(text);
            }
            None => skipped(part),
        }
    }
    whole
}

fn media(part: &Part) -> Option<Value> {
    let value = match part {
        Part::Image {
            source: Source::Url { url, .. },
        } => json!({"type": "image_url", "image_url": {"url": url}}),
        Part::Image {
            source: Source::Data { mime, base64 },
        } => {
            json!({"type": "image_url", "image_url": {"url": data_url(mime, base64)}})
        }
        Part::Audio {
            source: Source::Data { mime, base64 },
        } => match audio_format(mime) {
            Some(format) => {
                json!({"type": "input_audio", "input_audio": {"data": base64, "format": format}})
            }
            None => Value::Null,
        },
        Part::Document {
            source: Source::Data { mime, base64 },
        } => {
            let name = if mime == "application/pdf" {
                "document.pdf"
            } else {
                "document"
            };
            json!({"type": "file", "file": {"filename": name, "file_data": data_url(mime, base64)}})
        }
        Part::Document {
            source: Source::File { id },
        } => json!({"type": "file", "file": {"file_id": id}}),
        _ => Value::Null,
    };
    if value.is_null() {
        skipped(part);
        return None;
    }
    Some(value)
}

fn data_url(mime: &str, base64: &str) -> String {
    format!("data:{mime};base64,{base64}")
}

/// The two formats that are taken.
fn audio_format(mime: &str) -> Option<&'static str> {
    match mime {
        "audio/wav" | "audio/x-wav" | "audio/wave" => Some("wav"),
        "audio/mpeg" | "audio/mp3" => Some("mp3"),
        _ => None,
    }
}

fn skipped(part: &Part) {
    let kind = match part {
        Part::Text(_) => "text",
        Part::Image { .. } => "image",
        Part::Audio { .. } => "audio",
        Part::Video { .. } => "video",
        Part::Document { .. } => "document",
    };
    tracing::warn!(
        kind,
        "a content part is left out, the provider cannot take it here"
    );
}
