//! Why growing text is not JSON.

/// The text is not JSON, from a certain byte on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not JSON at byte {offset}: {reason}")]
pub struct GrowError {
    /// The number of bytes that were still right, counted over all fragments.
    pub offset: usize,
    /// What is wrong.
    pub reason: GrowReason,
}

impl GrowError {
    /// Says whether the text could still have become JSON: it only ends too early.
    #[must_use]
    pub const fn is_early_end(&self) -> bool {
        matches!(self.reason, GrowReason::EndsEarly | GrowReason::Empty)
    }
}

/// What is wrong with text that should be JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GrowReason {
    /// The text ended before any value.
    #[error("there is no value")]
    Empty,
    /// The text ended within the value.
    #[error("the text ends within the value")]
    EndsEarly,
    /// Something else stands where this was expected.
    #[error("expected {0}")]
    Expected(&'static str),
    /// Something other than white space stands behind the value.
    #[error("there is something behind the value")]
    Trailing,
    /// The number has a leading zero, no digits where some are needed, or is out of range.
    #[error("the number is malformed or out of range")]
    Number,
    /// A word that is neither `true` nor `false` nor `null`.
    #[error("the literal is not true, false or null")]
    Literal,
    /// A character below U+0020 stands unescaped in a string.
    #[error("a control character in a string is not escaped")]
    ControlCharacter,
    /// A backslash before a character that it does not escape.
    #[error("a string has an escape that does not exist")]
    Escape,
    /// One half of a surrogate pair stands alone.
    #[error("a string has half a surrogate pair")]
    LoneSurrogate,
    /// Bytes that are no UTF-8.
    #[error("the text is not UTF-8")]
    NotUtf8,
    /// More arrays and objects within each other than are allowed.
    #[error("arrays and objects are nested deeper than {0}")]
    TooDeep(usize),
}
