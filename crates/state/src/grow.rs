//! A push parser for JSON that is still being written.
//!
//! A model writes the arguments of a tool call a few bytes at a time. Parsing the text so far
//! again for every fragment takes time in proportion to the square of its length; this parser
//! looks at each byte once and keeps the tree so far, which is always a valid document.

mod error;
mod scan;
#[cfg(test)]
mod tests;
mod text;
mod tree;

use std::mem;

use serde_json::{Map, Value};

pub use error::{GrowError, GrowReason};
pub(crate) use scan::escaped_len;
use text::Text;
pub use tree::Place;
use tree::Tree;

use crate::measure::MAX_DEPTH;

/// A JSON document that grows as its text arrives.
///
/// # What is shown
/// [`value`](Self::value) is the tree so far. It only ever grows: strings by suffixes, arrays and
/// objects by children. Nothing is shown that the next byte could turn into something else:
/// - a string never ends in half an escape, half a surrogate pair or half a UTF-8 sequence;
/// - a number, `true`, `false` or `null` is there once the byte behind it has proved it whole;
/// - a key is there once its value has begun.
///
/// The one exception is a key that an object has twice: as in `serde_json` the last value wins,
/// in the place of the first, so the first disappears when the second begins.
///
/// # What is accepted
/// Exactly what [`serde_json::from_str`] accepts as a [`Value`], with the same result, however the
/// text was cut. So these are [errors](GrowReason), at the byte that proves them: control
/// characters in strings, lone surrogates, leading zeros, numbers beyond the range of `f64`,
/// `NaN`, comments, trailing commas, anything but white space behind the value, no value at all,
/// and more than [`MAX_DEPTH`] arrays and objects within each other. After an error the tree
/// stays as it was shown last, and every further call returns the same error.
///
/// (The keys that `serde_json` keeps for itself, `$serde_json::private::…`, are keys like any
/// other here.)
///
/// ```
/// use antiphon_state::GrowingJson;
/// use serde_json::json;
///
/// let mut json = GrowingJson::new();
/// json.push(r#"{"title": "Pas"#)?;
/// assert_eq!(json.value(), Some(&json!({"title": "Pas"})));
/// json.push(r#"ta", "serves": 1"#)?;
/// assert_eq!(json.value(), Some(&json!({"title": "Pasta"})));
/// json.push("2}")?;
/// assert_eq!(json.finish()?, json!({"title": "Pasta", "serves": 12}));
/// # Ok::<(), antiphon_state::GrowError>(())
/// ```
#[derive(Debug)]
pub struct GrowingJson {
    tree: Tree,
    expected: Expected,
    /// The string, key or value, that is being read.
    text: Text,
    /// The text of the number or literal that is being read.
    scalar: String,
    /// The key whose value has not begun.
    key: String,
    /// The first bytes of a UTF-8 sequence that a fragment cut.
    cut: Vec<u8>,
    max_depth: usize,
    /// Bytes taken so far.
    offset: usize,
    error: Option<GrowError>,
}

/// A change of the tree of a [`GrowingJson`], told in the order of the text.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Growth<'a> {
    /// A value is there that was not: a number, boolean or null, which is complete, or an empty
    /// string, array or object, which is open from here to its [`Ended`](Self::Ended).
    Begun {
        /// Where, in the innermost open array or object.
        place: Place<'a>,
        /// The value as it begins.
        value: &'a Value,
        /// Whether it takes the place of an earlier value of the same key.
        again: bool,
    },
    /// The open string is longer by this.
    Grown(&'a str),
    /// The string, array or object that was begun last and is still open is complete.
    Ended,
}

/// What the next byte belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Value,
    /// A value, or the end of an array that has just begun.
    FirstElement,
    /// A key, or the end of an object that has just begun.
    FirstKey,
    Key,
    KeyText,
    Colon,
    ValueText,
    Scalar,
    /// A comma, or the end of the innermost array or object.
    CommaOrEnd,
    Nothing,
}

impl Default for GrowingJson {
    fn default() -> Self {
        Self::new()
    }
}

impl GrowingJson {
    /// Returns a document of which nothing has arrived.
    #[must_use]
    pub fn new() -> Self {
        Self::with_max_depth(MAX_DEPTH)
    }

    /// Returns a document that may nest at most `max_depth` arrays and objects, and never more
    /// than [`MAX_DEPTH`].
    #[must_use]
    pub fn with_max_depth(max_depth: usize) -> Self {
        Self {
            tree: Tree::default(),
            expected: Expected::Value,
            text: Text::default(),
            scalar: String::new(),
            key: String::new(),
            cut: Vec::new(),
            max_depth: max_depth.min(MAX_DEPTH),
            offset: 0,
            error: None,
        }
    }

    /// Takes the next fragment, which may be cut anywhere, even within a UTF-8 sequence.
    ///
    /// # Errors
    /// The text cannot be the beginning of a JSON document; [see above](Self#what-is-accepted).
    pub fn push(&mut self, fragment: impl AsRef<[u8]>) -> Result<(), GrowError> {
        self.push_with(fragment, &mut |_| {})
    }

    /// Takes the next fragment and tells `see` what has changed, in order.
    ///
    /// A string that is cut by many escapes still grows by one suffix for a fragment.
    ///
    /// # Errors
    /// As [`push`](Self::push). What changed before the error has been told.
    pub fn push_with(
        &mut self,
        fragment: impl AsRef<[u8]>,
        see: &mut impl FnMut(Growth<'_>),
    ) -> Result<(), GrowError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        self.take_bytes(fragment.as_ref(), see)
            .map_err(|reason| self.fail(reason))
    }

    /// Returns the tree so far, or `None` while no value has begun.
    #[must_use]
    pub const fn value(&self) -> Option<&Value> {
        self.tree.root()
    }

    /// Returns the number of bytes taken so far.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.offset
    }

    /// Says whether nothing has arrived.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.offset == 0
    }

    /// Returns why the text is not JSON, if that is known already.
    #[must_use]
    pub const fn error(&self) -> Option<&GrowError> {
        self.error.as_ref()
    }

    /// Returns the whole document.
    ///
    /// # Errors
    /// The text was not JSON, or ends too early.
    pub fn finish(mut self) -> Result<Value, GrowError> {
        self.end(&mut |_| {})?;
        Ok(self.tree.into_root().unwrap_or_default())
    }

    /// Takes the end of the text, which completes a number at its end.
    pub(crate) fn end(&mut self, see: &mut impl FnMut(Growth<'_>)) -> Result<(), GrowError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let result = if self.cut.is_empty() {
            self.take_end(see)
        } else {
            Err(GrowReason::NotUtf8)
        };
        result.map_err(|reason| self.fail(reason))
    }

    /// Says whether nothing but white space has arrived.
    pub(crate) fn is_blank(&self) -> bool {
        self.expected == Expected::Value && self.tree.root().is_none() && self.error.is_none()
    }

    fn fail(&mut self, reason: GrowReason) -> GrowError {
        let error = GrowError {
            offset: self.offset,
            reason,
        };
        self.error = Some(error.clone());
        error
    }

    /// Splits off what is not yet a whole UTF-8 sequence and takes the rest.
    fn take_bytes(
        &mut self,
        fragment: &[u8],
        see: &mut impl FnMut(Growth<'_>),
    ) -> Result<(), GrowReason> {
        let joined;
        let bytes = if self.cut.is_empty() {
            fragment
        } else {
            let mut cut = mem::take(&mut self.cut);
            cut.extend_from_slice(fragment);
            joined = cut;
            &joined
        };
        match str::from_utf8(bytes) {
            Ok(text) => self.take_text(text, see),
            Err(error) => {
                let (whole, rest) = bytes.split_at(error.valid_up_to());
                // The split is where the standard library says that UTF-8 ends.
                self.take_text(str::from_utf8(whole).unwrap_or_default(), see)?;
                if error.error_len().is_some() {
                    return Err(GrowReason::NotUtf8);
                }
                self.cut.extend_from_slice(rest);
                Ok(())
            }
        }
    }

    fn take_text(
        &mut self,
        text: &str,
        see: &mut impl FnMut(Growth<'_>),
    ) -> Result<(), GrowReason> {
        let mut rest = text;
        while let Some(&byte) = rest.as_bytes().first() {
            let taken = match self.expected {
                Expected::ValueText | Expected::KeyText => self.take_string(rest, see)?,
                Expected::Scalar => self.take_scalar(byte, see)?,
                _ if matches!(byte, b' ' | b'\n' | b'\t' | b'\r') => 1,
                _ => {
                    self.take_mark(byte, see)?;
                    1
                }
            };
            self.offset += taken;
            // All but string contents is ASCII, and those end before a quote or at the end.
            rest = rest.get(taken..).unwrap_or_default();
        }
        if self.expected == Expected::ValueText {
            self.show_text(see);
        }
        Ok(())
    }

    /// Takes a byte outside of strings, numbers and literals.
    fn take_mark(&mut self, byte: u8, see: &mut impl FnMut(Growth<'_>)) -> Result<(), GrowReason> {
        match (self.expected, byte) {
            (Expected::FirstElement, b']') | (Expected::FirstKey, b'}') => self.close(see),
            (Expected::Value | Expected::FirstElement, _) => return self.begin(byte, see),
            (Expected::FirstKey | Expected::Key, b'"') => self.expected = Expected::KeyText,
            (Expected::CommaOrEnd, b',') if self.tree.in_object() => {
                self.expected = Expected::Key;
            }
            (Expected::Colon, b':') | (Expected::CommaOrEnd, b',') => {
                self.expected = Expected::Value;
            }
            (Expected::CommaOrEnd, b'}') if self.tree.in_object() => self.close(see),
            (Expected::CommaOrEnd, b']') if !self.tree.in_object() => self.close(see),
            (Expected::Nothing, _) => return Err(GrowReason::Trailing),
            (expected, _) => return Err(GrowReason::Expected(expected.name())),
        }
        Ok(())
    }

    /// Takes the first byte of a value.
    fn begin(&mut self, byte: u8, see: &mut impl FnMut(Growth<'_>)) -> Result<(), GrowReason> {
        match byte {
            b'{' => self.open(Value::Object(Map::new()), Expected::FirstKey, see),
            b'[' => self.open(Value::Array(Vec::new()), Expected::FirstElement, see),
            b'"' => {
                self.insert(Value::String(String::new()), see);
                self.expected = Expected::ValueText;
                Ok(())
            }
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
                self.scalar.clear();
                self.scalar.push(char::from(byte));
                self.expected = Expected::Scalar;
                Ok(())
            }
            _ => Err(GrowReason::Expected(Expected::Value.name())),
        }
    }

    fn open(
        &mut self,
        empty: Value,
        expected: Expected,
        see: &mut impl FnMut(Growth<'_>),
    ) -> Result<(), GrowReason> {
        if self.tree.depth() >= self.max_depth {
            return Err(GrowReason::TooDeep(self.max_depth));
        }
        let is_object = empty.is_object();
        self.insert(empty, see);
        self.tree.open(is_object);
        self.expected = expected;
        Ok(())
    }

    fn close(&mut self, see: &mut impl FnMut(Growth<'_>)) {
        self.tree.close();
        self.end_value(see);
    }

    /// Takes what a fragment has of a string.
    fn take_string(
        &mut self,
        rest: &str,
        see: &mut impl FnMut(Growth<'_>),
    ) -> Result<usize, GrowReason> {
        let (taken, closed) = self.text.take(rest)?;
        if closed && self.expected == Expected::KeyText {
            self.key = self.text.drain();
            self.expected = Expected::Colon;
        } else if closed {
            self.show_text(see);
            self.end_value(see);
        }
        Ok(taken)
    }

    /// Appends what has been read of the open string to the tree.
    fn show_text(&mut self, see: &mut impl FnMut(Growth<'_>)) {
        if !self.text.fresh().is_empty() {
            self.tree.grow(self.text.fresh());
            see(Growth::Grown(self.text.fresh()));
            self.text.clear();
        }
    }

    /// Takes a byte of a number or literal, or none if the byte proves that it has ended.
    fn take_scalar(
        &mut self,
        byte: u8,
        see: &mut impl FnMut(Growth<'_>),
    ) -> Result<usize, GrowReason> {
        if !matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'a'..=b'z' | b'A'..=b'Z') {
            self.end_scalar(see)?;
            return Ok(0);
        }
        self.scalar.push(char::from(byte));
        let is_number = self
            .scalar
            .starts_with(|c: char| c == '-' || c.is_ascii_digit());
        if is_number {
            let fits = matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
            return if fits { Ok(1) } else { Err(GrowReason::Number) };
        }
        let literals = ["true", "false", "null"];
        if literals.iter().any(|whole| whole.starts_with(&self.scalar)) {
            Ok(1)
        } else {
            Err(GrowReason::Literal)
        }
    }

    /// Shows the number or literal, which is whole.
    fn end_scalar(&mut self, see: &mut impl FnMut(Growth<'_>)) -> Result<(), GrowReason> {
        // serde_json itself decides what the text means, so that no number ever differs.
        let value: Value = serde_json::from_str(&self.scalar).map_err(|_| {
            if self.scalar.starts_with(|c: char| c.is_ascii_alphabetic()) {
                GrowReason::Literal
            } else {
                GrowReason::Number
            }
        })?;
        self.insert(value, see);
        self.expected = self.behind_value();
        Ok(())
    }

    fn insert(&mut self, value: Value, see: &mut impl FnMut(Growth<'_>)) {
        self.tree.insert(mem::take(&mut self.key), value, see);
    }

    fn end_value(&mut self, see: &mut impl FnMut(Growth<'_>)) {
        see(Growth::Ended);
        self.expected = self.behind_value();
    }

    const fn behind_value(&self) -> Expected {
        if self.tree.depth() == 0 {
            Expected::Nothing
        } else {
            Expected::CommaOrEnd
        }
    }

    fn take_end(&mut self, see: &mut impl FnMut(Growth<'_>)) -> Result<(), GrowReason> {
        if self.expected == Expected::Scalar {
            self.end_scalar(see)?;
        }
        match self.expected {
            Expected::Nothing => Ok(()),
            Expected::Value if self.tree.root().is_none() => Err(GrowReason::Empty),
            _ => Err(GrowReason::EndsEarly),
        }
    }
}

impl Expected {
    const fn name(self) -> &'static str {
        match self {
            Self::Value => "a value",
            Self::FirstElement => "a value or the end of the array",
            Self::FirstKey => "a key or the end of the object",
            Self::Key => "a key",
            Self::Colon => "a colon",
            Self::CommaOrEnd => "a comma or the end",
            Self::KeyText | Self::ValueText => "text",
            Self::Scalar => "a number or literal",
            Self::Nothing => "nothing more",
        }
    }
}
