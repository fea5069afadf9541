//! JSON pointers (RFC 6901).
//!
//! A pointer is kept as its escaped text, because that is what goes over the wire and what a
//! projection builds thousands of times; its tokens are unescaped as they are read.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A place in a JSON document, such as `/steps/0/title`.
///
/// The empty pointer names the whole document. In a token `~0` stands for `~` and `~1` for `/`.
///
/// ```
/// use antiphon_state::Pointer;
///
/// let mut place: Pointer = "/files".parse()?;
/// place.push("src/main.rs");
/// assert_eq!(place.to_string(), "/files/src~1main.rs");
/// assert_eq!(place.tokens().last().as_deref(), Some("src/main.rs"));
/// # Ok::<(), antiphon_state::PointerError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pointer {
    text: String,
}

/// The text is not a JSON pointer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PointerError {
    /// A pointer is empty or begins with a slash.
    #[error("pointer {0:?} does not begin with a slash")]
    NoSlash(String),
    /// A tilde stands only before `0` or `1`.
    #[error("pointer {0:?} has a tilde that is not ~0 or ~1")]
    LoneTilde(String),
}

impl Pointer {
    /// Returns the pointer to the whole document.
    #[must_use]
    pub const fn root() -> Self {
        Self {
            text: String::new(),
        }
    }

    /// Reads a pointer from its escaped text.
    ///
    /// # Errors
    /// The text is neither empty nor begins with a slash, or holds a tilde that escapes nothing.
    pub fn parse(text: impl Into<String>) -> Result<Self, PointerError> {
        let text = text.into();
        if !text.is_empty() && !text.starts_with('/') {
            return Err(PointerError::NoSlash(text));
        }
        let mut after_tildes = text.split('~');
        after_tildes.next();
        if after_tildes.any(|rest| !rest.starts_with(['0', '1'])) {
            return Err(PointerError::LoneTilde(text));
        }
        Ok(Self { text })
    }

    /// Returns the pointer to a member of the document, whatever characters its key holds.
    #[must_use]
    pub fn member(key: &str) -> Self {
        let mut pointer = Self::root();
        pointer.push(key);
        pointer
    }

    /// Goes one step deeper, to the member or element that the unescaped `token` names.
    pub fn push(&mut self, token: &str) {
        self.text.push('/');
        escape_into(token, &mut self.text);
    }

    /// Goes one step deeper, to the element at `index`.
    pub fn push_index(&mut self, index: usize) {
        use fmt::Write as _;
        // Writing to a String does not fail.
        let _ = write!(self.text, "/{index}");
    }

    /// Returns this pointer, one step deeper.
    #[must_use]
    pub fn join(&self, token: &str) -> Self {
        let mut deeper = self.clone();
        deeper.push(token);
        deeper
    }

    /// Goes one step up and says whether there was a step to go.
    pub fn pop(&mut self) -> bool {
        match self.text.rfind('/') {
            Some(slash) => {
                self.text.truncate(slash);
                true
            }
            None => false,
        }
    }

    /// Returns the unescaped tokens from the root downwards.
    #[must_use]
    pub fn tokens(&self) -> impl DoubleEndedIterator<Item = Cow<'_, str>> {
        tokens(&self.text)
    }

    /// Returns the number of tokens: 0 for the root.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.text.bytes().filter(|&byte| byte == b'/').count()
    }

    /// Says whether this is the pointer to the whole document.
    #[must_use]
    pub const fn is_root(&self) -> bool {
        self.text.is_empty()
    }

    /// Says whether `other` names a place inside the one named here; no place is inside itself.
    #[must_use]
    pub fn is_above(&self, other: &Self) -> bool {
        other
            .text
            .strip_prefix(&self.text)
            .is_some_and(|rest| rest.starts_with('/'))
    }

    /// Returns the escaped text.
    #[must_use]
    pub const fn as_str(&self) -> &str {
        self.text.as_str()
    }

    /// Returns the escaped text of the pointer to the parent, and the last token, unescaped.
    /// The root has neither.
    pub(crate) fn split_last(&self) -> Option<(&str, Cow<'_, str>)> {
        let (parent, last) = self.text.rsplit_once('/')?;
        Some((parent, unescape(last)))
    }
}

/// Returns the unescaped tokens of the text of a pointer.
pub(crate) fn tokens(text: &str) -> impl DoubleEndedIterator<Item = Cow<'_, str>> {
    // The piece before the first slash is empty and no token.
    let tail = text.strip_prefix('/');
    tail.into_iter()
        .flat_map(|tail| tail.split('/').map(unescape))
}

/// Appends `token` to `text`, escaped as RFC 6901 wants it.
pub(crate) fn escape_into(token: &str, text: &mut String) {
    if !token.contains(['~', '/']) {
        text.push_str(token);
        return;
    }
    for character in token.chars() {
        match character {
            '~' => text.push_str("~0"),
            '/' => text.push_str("~1"),
            other => text.push(other),
        }
    }
}

fn unescape(token: &str) -> Cow<'_, str> {
    if token.contains('~') {
        // The order matters: `~01` is `~1`, not a slash.
        Cow::Owned(token.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(token)
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl FromStr for Pointer {
    type Err = PointerError;

    fn from_str(text: &str) -> Result<Self, PointerError> {
        Self::parse(text)
    }
}

impl<Token: AsRef<str>> FromIterator<Token> for Pointer {
    fn from_iter<Tokens: IntoIterator<Item = Token>>(tokens: Tokens) -> Self {
        let mut pointer = Self::root();
        for token in tokens {
            pointer.push(token.as_ref());
        }
        pointer
    }
}

impl Serialize for Pointer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Pointer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens_of(text: &str) -> Vec<String> {
        Pointer::parse(text)
            .unwrap()
            .tokens()
            .map(Cow::into_owned)
            .collect()
    }

    #[test]
    fn the_examples_of_the_rfc_name_their_tokens() {
        assert!(tokens_of("").is_empty());
        assert_eq!(tokens_of("/foo"), ["foo"]);
        assert_eq!(tokens_of("/foo/0"), ["foo", "0"]);
        assert_eq!(tokens_of("/"), [""]);
        assert_eq!(tokens_of("//"), ["", ""]);
        assert_eq!(tokens_of("/a~1b"), ["a/b"]);
        assert_eq!(tokens_of("/m~0n"), ["m~n"]);
        assert_eq!(tokens_of("/ "), [" "]);
    }

    #[test]
    fn a_tilde_one_is_not_read_as_a_slash_after_a_tilde() {
        assert_eq!(tokens_of("/~01"), ["~1"]);
        assert_eq!(Pointer::member("~1").as_str(), "/~01");
    }

    #[test]
    fn text_that_is_no_pointer_is_refused_by_name() {
        let no_slash = Pointer::parse("foo").unwrap_err();
        assert_eq!(
            no_slash.to_string(),
            "pointer \"foo\" does not begin with a slash"
        );
        for lone in ["/~", "/a~2", "/~~0", "/x/~"] {
            assert_eq!(
                Pointer::parse(lone),
                Err(PointerError::LoneTilde(lone.into()))
            );
        }
    }

    #[test]
    fn pushed_tokens_come_back_unescaped() {
        let path: Pointer = ["a/b", "~", "", "0"].into_iter().collect();
        assert_eq!(path.as_str(), "/a~1b/~0//0");
        assert_eq!(path.depth(), 4);
        assert_eq!(path.tokens().collect::<Vec<_>>(), ["a/b", "~", "", "0"]);
    }

    #[test]
    fn a_place_is_above_its_children_only() {
        let a = Pointer::member("a");
        assert!(a.is_above(&a.join("b")));
        assert!(Pointer::root().is_above(&a));
        assert!(!a.is_above(&a));
        assert!(!a.is_above(&Pointer::member("ab")));
    }

    #[test]
    fn popping_ends_at_the_root() {
        let mut path: Pointer = "/a/b".parse().unwrap();
        assert!(path.pop());
        assert_eq!(path.as_str(), "/a");
        assert!(path.pop());
        assert!(path.is_root());
        assert!(!path.pop());
    }

    #[test]
    fn json_holds_a_pointer_as_a_string() {
        let path: Pointer = serde_json::from_str(r#""/a~1b""#).unwrap();
        assert_eq!(serde_json::to_string(&path).unwrap(), r#""/a~1b""#);
        assert!(serde_json::from_str::<Pointer>(r#""a""#).is_err());
    }
}
