//! The members of a chunk that are read, borrowed from its bytes where they can be.
//!
//! Everything is optional: servers leave out, null or empty whatever they have no use for.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// One `data` of the stream.
#[derive(Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow)]
    pub(super) model: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
    /// `error` in the chunks of servers that send the error itself as the chunk.
    #[serde(borrow)]
    pub(super) object: Option<Text<'a>>,
}

/// One of the answers being written; only the first is ever asked for.
#[derive(Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(default)]
    pub(super) index: Option<u64>,
    #[serde(borrow)]
    pub(super) delta: Option<Delta<'a>>,
    #[serde(borrow)]
    pub(super) finish_reason: Option<Text<'a>>,
}

/// What a choice gained.
#[derive(Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow)]
    pub(super) content: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) refusal: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) reasoning_content: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) reasoning: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) tool_calls: Option<Vec<CallDelta<'a>>>,
    #[serde(borrow)]
    pub(super) function_call: Option<Function<'a>>,
}

/// What a call gained.
#[derive(Deserialize)]
pub(super) struct CallDelta<'a> {
    pub(super) index: Option<u64>,
    #[serde(borrow)]
    pub(super) id: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) function: Option<Function<'a>>,
    /// Signatures that a server wants back with the call.
    #[serde(borrow)]
    pub(super) extra_content: Option<&'a RawValue>,
}

/// A call's name and arguments.
#[derive(Default, Deserialize)]
pub(super) struct Function<'a> {
    #[serde(borrow)]
    pub(super) name: Option<Text<'a>>,
    /// JSON text in a string, or the JSON itself.
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
}

/// Text: a string, or a list of parts whose text counts.
#[derive(Debug, Default)]
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

impl Text<'_> {
    pub(super) fn into_owned(self) -> String {
        self.0.into_owned()
    }
}

/// The text of a member that may be absent; an empty string counts as absent.
pub(super) fn some<'a>(text: &'a Option<Text<'_>>) -> Option<&'a str> {
    text.as_ref()
        .map(|text| &*text.0)
        .filter(|text| !text.is_empty())
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(text)))
    }

    fn visit_unit<E: Error>(self) -> Result<Text<'de>, E> {
        Ok(Text::default())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(number.to_string())))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(number.to_string())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Text<'de>, A::Error> {
        let mut whole = String::new();
        while let Some(part) = parts.next_element::<Text<'de>>()? {
            whole.push_str(&part.0);
        }
        Ok(Text(Cow::Owned(whole)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Text<'de>, A::Error> {
        let mut text = Text::default();
        while let Some(name) = members.next_key::<Cow<'de, str>>()? {
            if name == "text" {
                text = members.next_value()?;
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_borrowed_and_other_shapes_are_read() {
        let text = |json| serde_json::from_str::<Text<'_>>(json).unwrap().0;
        assert!(matches!(text(r#""plain""#), Cow::Borrowed("plain")));
        assert_eq!(text(r#""a\nb""#), "a\nb");
        assert_eq!(
            text(r#"[{"type":"text","text":"a"},{"type":"image"},"b"]"#),
            "ab"
        );
        assert_eq!(text("null"), "");
    }

    #[test]
    fn everything_may_be_null_or_absent() {
        let chunk: Chunk<'_> = serde_json::from_str(
            r#"{"choices":[{"delta":{"content":null,"tool_calls":null},"finish_reason":null},{"delta":null}],"usage":null}"#,
        )
        .unwrap();
        assert_eq!(chunk.choices.unwrap().len(), 2);
        assert!(chunk.usage.is_none() && chunk.error.is_none() && chunk.model.is_none());
    }
}
