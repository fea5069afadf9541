//! Makes documents and texts out of arbitrary bytes.

use std::fmt::Write as _;

use antiphon_state::Pointer;
use serde_json::{Map, Number, Value};

/// Bytes that decide what is made; when they run out, everything made is small.
#[derive(Debug)]
pub(super) struct Source<'a> {
    bytes: std::slice::Iter<'a, u8>,
}

impl<'a> Source<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes: bytes.iter(),
        }
    }

    pub(super) fn byte(&mut self) -> u8 {
        self.bytes.next().copied().unwrap_or_default()
    }

    /// A number below `limit`.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        usize::from(self.byte()) % limit.max(1)
    }

    pub(super) fn rest(self) -> &'a [u8] {
        self.bytes.as_slice()
    }

    pub(super) fn text(&mut self) -> String {
        const PIECES: [&str; 16] = [
            "a",
            "b",
            "~",
            "/",
            "\"",
            "\\",
            "\n",
            "é",
            "東",
            "🚀",
            "\u{0}",
            " ",
            "0",
            "e",
            "\u{7f}",
            "the quick brown fox jumps over the lazy dog",
        ];
        (0..self.below(6))
            .map(|_| PIECES[self.below(PIECES.len())])
            .collect()
    }

    fn key(&mut self) -> String {
        if self.byte().is_multiple_of(8) {
            return self.text();
        }
        ["a", "b", "c", "d", "title", "a/b", "m~n", ""][self.below(8)].to_owned()
    }

    fn number(&mut self) -> Number {
        let integer = i64::from(self.byte());
        match self.byte() % 6 {
            0 => Number::from(-integer),
            1 => Number::from(u64::MAX - integer.unsigned_abs()),
            2 => Number::from_f64(integer as f64 / 8.0).unwrap(),
            3 => Number::from_f64(integer as f64 * 1e10).unwrap(),
            _ => Number::from(integer),
        }
    }

    pub(super) fn value(&mut self, depth: usize) -> Value {
        let kinds = if depth == 0 { 6 } else { 12 };
        match self.below(kinds) {
            0 => Value::Null,
            1 => Value::Bool(self.byte().is_multiple_of(2)),
            2 => Value::Number(self.number()),
            3..=5 => Value::String(self.text()),
            6..=8 => (0..self.below(6)).map(|_| self.value(depth - 1)).collect(),
            _ => Value::Object(self.object(depth - 1)),
        }
    }

    pub(super) fn object(&mut self, depth: usize) -> Map<String, Value> {
        (0..self.below(7))
            .map(|_| (self.key(), self.value(depth)))
            .collect()
    }

    /// A pointer that often names something in `document`.
    pub(super) fn pointer(&mut self, document: &Value) -> Pointer {
        let mut pointer = Pointer::root();
        let mut value = document;
        for _ in 0..self.below(4) {
            match value {
                Value::Array(elements) if !elements.is_empty() => {
                    let index = self.below(elements.len());
                    pointer.push_index(index);
                    value = &elements[index];
                }
                Value::Object(members) if !members.is_empty() => {
                    let (key, member) = members.iter().nth(self.below(members.len())).unwrap();
                    pointer.push(key);
                    value = member;
                }
                _ => break,
            }
        }
        match self.byte() % 8 {
            0 => pointer.push("-"),
            1 => pointer.push(&self.key()),
            2 => pointer.push_index(self.below(4)),
            _ => {}
        }
        pointer
    }

    /// The document with a few changes.
    pub(super) fn changed(&mut self, document: &Value) -> Value {
        let mut changed = document.clone();
        for _ in 0..self.below(6) {
            let place = self.pointer(document);
            let new = self.value(2);
            let Some(value) = changed.pointer_mut(place.as_str()) else {
                continue;
            };
            match (self.byte() % 4, value) {
                (0, Value::Array(elements)) => elements.insert(self.below(elements.len() + 1), new),
                (1, Value::Array(elements)) if !elements.is_empty() => {
                    elements.remove(self.below(elements.len()));
                }
                (2, Value::Array(elements)) => elements.reverse(),
                (0, Value::Object(members)) => {
                    members.insert(self.key(), new);
                }
                (1, Value::Object(members)) => {
                    members.shift_remove(&self.key());
                }
                (_, value) => *value = new,
            }
        }
        changed
    }

    /// The text of a document as some model might write it.
    pub(super) fn written(&mut self, value: &Value) -> String {
        match self.byte() % 3 {
            0 => value.to_string(),
            1 => serde_json::to_string_pretty(value).unwrap(),
            _ => ascii(&value.to_string()),
        }
    }

    /// Cuts `bytes` into fragments of at most 8 bytes, or some longer ones.
    pub(super) fn cut<'t>(&mut self, bytes: &'t [u8]) -> Vec<&'t [u8]> {
        let longest = [1, 2, 4, 8, 64][self.below(5)];
        let mut rest = bytes;
        let mut fragments = Vec::new();
        while !rest.is_empty() {
            let (fragment, behind) = rest.split_at((1 + self.below(longest)).min(rest.len()));
            fragments.push(fragment);
            rest = behind;
        }
        fragments
    }
}

/// Escapes all that is not ASCII, in UTF-16 code units as JSON does.
fn ascii(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        if character.is_ascii() {
            escaped.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(escaped, "\\u{unit:04X}").unwrap();
            }
        }
    }
    escaped
}
