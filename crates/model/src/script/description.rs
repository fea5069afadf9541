//! A script as it is written down.

use std::{num::NonZeroUsize, time::Duration};

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::duration;
use crate::{ErrorKind, FinishReason};

/// A whole script: see the [module](super) for its format.
///
/// ```
/// use antiphon_model::script::Script;
///
/// let script: Script = serde_json::from_str(r#"{"pace": "5ms", "turns": [{"say": "Hello {{user}}"}]}"#)?;
/// assert_eq!(script.turns.len(), 1);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Script {
    /// What can be played; the first turn that fits wins.
    pub turns: Vec<ScriptTurn>,
    /// The pause before each fragment.
    #[serde(default = "default_pace", deserialize_with = "duration::read")]
    pub pace: Duration,
    /// Characters of text or arguments in one fragment.
    #[serde(default = "default_fragment")]
    pub fragment: NonZeroUsize,
}

impl Script {
    /// A script of these turns at the default pace.
    #[must_use]
    pub fn new(turns: Vec<ScriptTurn>) -> Self {
        Self {
            turns,
            pace: default_pace(),
            fragment: default_fragment(),
        }
    }

    /// Changes the pause before each fragment; zero makes none.
    #[must_use]
    pub fn pace(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }
}

fn default_pace() -> Duration {
    Duration::from_millis(20)
}

fn default_fragment() -> NonZeroUsize {
    NonZeroUsize::MIN.saturating_add(11)
}

/// One turn: what it needs, then what it does, in this order.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScriptTurn {
    /// When it fits.
    pub when: When,
    /// Reasoning.
    pub think: Option<String>,
    /// Visible text.
    pub say: Option<String>,
    /// Tool calls.
    pub calls: Vec<ScriptCall>,
    /// The call fails after all that.
    pub fail: Option<Fail>,
    /// How the turn ends, if not as its content says.
    pub finish: Option<FinishWord>,
}

/// The conditions of a turn; an absent one always holds.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct When {
    /// Texts of which the last user message contains one, in upper or lower case.
    #[serde(deserialize_with = "one_or_more")]
    pub user: Vec<String>,
    /// The tool of one of the latest results; `*` is any.
    pub after_tool: Option<String>,
    /// Texts of which the last tool result contains one, in upper or lower case.
    #[serde(deserialize_with = "one_or_more")]
    pub result: Vec<String>,
    /// A tool that the request offers.
    pub tool_offered: Option<String>,
    /// The number of this answer since the last user message, from 1.
    pub turn: Option<usize>,
}

/// A tool call of a turn.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "WrittenCall")]
#[non_exhaustive]
pub struct ScriptCall {
    /// The tool's name; it need not exist.
    pub tool: String,
    /// Its id; made if absent, made unique if it is used already.
    pub id: Option<String>,
    /// The arguments.
    pub arguments: Arguments,
}

/// The arguments of a scripted call.
#[derive(Debug, Clone)]
pub enum Arguments {
    /// JSON, whose strings may hold placeholders.
    Json(Value),
    /// Text as it is, for arguments that are no JSON.
    Text(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCall {
    tool: String,
    id: Option<String>,
    arguments: Option<Value>,
    arguments_text: Option<String>,
}

impl TryFrom<WrittenCall> for ScriptCall {
    type Error = String;

    fn try_from(written: WrittenCall) -> Result<Self, String> {
        let arguments = match (written.arguments, written.arguments_text) {
            (Some(_), Some(_)) => {
                return Err(format!(
                    "the call of {:?} has both arguments and arguments_text",
                    written.tool
                ));
            }
            (None, Some(text)) => Arguments::Text(text),
            (json, None) => {
                Arguments::Json(json.unwrap_or_else(|| Value::Object(serde_json::Map::new())))
            }
        };
        Ok(Self {
            tool: written.tool,
            id: written.id,
            arguments,
        })
    }
}

/// A failure of the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fail {
    /// What kind of failure.
    pub kind: FailKind,
}

/// The failures that can be played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailKind {
    /// [`ErrorKind::Connect`].
    Connect,
    /// [`ErrorKind::Timeout`].
    Timeout,
    /// [`ErrorKind::RateLimited`].
    RateLimited,
    /// [`ErrorKind::Unauthorized`].
    Unauthorized,
    /// [`ErrorKind::BadRequest`].
    BadRequest,
    /// [`ErrorKind::Refused`].
    Refused,
    /// [`ErrorKind::Unavailable`].
    Unavailable,
    /// [`ErrorKind::Truncated`]: the answer stops without a finish.
    Truncated,
    /// [`ErrorKind::Malformed`].
    Malformed,
    /// [`ErrorKind::Other`].
    Other,
}

impl From<FailKind> for ErrorKind {
    fn from(kind: FailKind) -> Self {
        match kind {
            FailKind::Connect => Self::Connect,
            FailKind::Timeout => Self::Timeout,
            FailKind::RateLimited => Self::RateLimited,
            FailKind::Unauthorized => Self::Unauthorized,
            FailKind::BadRequest => Self::BadRequest,
            FailKind::Refused => Self::Refused,
            FailKind::Unavailable => Self::Unavailable,
            FailKind::Truncated => Self::Truncated,
            FailKind::Malformed => Self::Malformed,
            FailKind::Other => Self::Other,
        }
    }
}

/// The ways to end that can be played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishWord {
    /// The turn is whole.
    Stop,
    /// It was cut by the limit of output tokens.
    Length,
    /// It was cut by a filter.
    ContentFilter,
    /// The model declined.
    Refusal,
}

impl From<FinishWord> for FinishReason {
    fn from(word: FinishWord) -> Self {
        match word {
            FinishWord::Stop => Self::Stop,
            FinishWord::Length => Self::Length,
            FinishWord::ContentFilter => Self::ContentFilter,
            FinishWord::Refusal => Self::Refusal,
        }
    }
}

/// A string, or a list of strings.
fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a text or a list of texts")]
    enum Texts {
        One(String),
        More(Vec<String>),
    }
    Ok(match Texts::deserialize(deserializer)? {
        Texts::One(text) => vec![text],
        Texts::More(texts) => texts,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(json: &str) -> String {
        serde_json::from_str::<Script>(json)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn unknown_members_are_errors() {
        assert!(error(r#"{"turns": [], "speed": 1}"#).contains("unknown field `speed`"));
        assert!(error(r#"{"turns": [{"says": "x"}]}"#).contains("unknown field `says`"));
        assert!(
            error(r#"{"turns": [{"when": {"users": "x"}}]}"#).contains("unknown field `users`")
        );
        assert!(
            error(r#"{"turns": [{"fail": {"kind": "sulk"}}]}"#).contains("unknown variant `sulk`")
        );
    }

    #[test]
    fn a_call_has_one_kind_of_arguments() {
        let both =
            r#"{"turns": [{"calls": [{"tool": "t", "arguments": {}, "arguments_text": ""}]}]}"#;
        assert!(error(both).contains("both arguments and arguments_text"));
    }

    #[test]
    fn defaults_are_watchable() {
        let script: Script = serde_json::from_str(r#"{"turns": []}"#).unwrap();
        assert_eq!(
            (script.pace, script.fragment.get()),
            (Duration::from_millis(20), 12)
        );
        assert!(error(r#"{"turns": [], "fragment": 0}"#).contains("nonzero"));
    }
}
