//! The sizes of what is open in growing arguments, without their contents.

use serde_json::Value;

use crate::grow::{Growth, Place, escaped_len};
use crate::measure::json_len;

/// The arrays, objects and the string that are open, and how much JSON they are so far.
///
/// Sizes are those of the values written as compact JSON, which is what a patch costs, and not
/// those of the text that arrived. They are differences of [`written`](Self::written).
#[derive(Debug, Default)]
pub(super) struct Outline {
    /// From the root to the innermost.
    open: Vec<Open>,
    /// The string that is open, innermost of all.
    text: Option<Text>,
    written: usize,
}

/// An open array or object.
#[derive(Debug)]
pub(super) struct Open {
    /// What was written before it.
    pub(super) start: usize,
    pub(super) children: usize,
    /// The length of its path below the root of the arguments.
    pub(super) path_len: usize,
    /// Whether its youngest member has taken the place of an earlier one.
    pub(super) again: bool,
}

/// An open string.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text {
    pub(super) start: usize,
    pub(super) path_len: usize,
}

/// What a [`Growth`] means for sizes and depths.
#[derive(Debug)]
pub(super) struct Change {
    /// The number of arrays and objects around the value that began, grew or ended.
    pub(super) depth: usize,
    /// What was written before a value that began and its key; else the same as `end`.
    pub(super) before: usize,
    /// What was written before a value that began; else the same as `end`.
    pub(super) start: usize,
    /// What is written now.
    pub(super) end: usize,
    /// The length of the path of a value that began.
    pub(super) path_len: usize,
}

impl Outline {
    /// Returns the size of the arguments so far.
    pub(super) const fn written(&self) -> usize {
        self.written
    }

    /// Returns the open arrays and objects from the root to the innermost.
    pub(super) fn open(&self) -> &[Open] {
        &self.open
    }

    pub(super) const fn text(&self) -> Option<Text> {
        self.text
    }

    /// Returns the size of the open string so far, or 0.
    pub(super) fn open_text(&self) -> usize {
        self.text.map_or(0, |text| self.written - text.start)
    }

    pub(super) fn see(&mut self, growth: Growth<'_>) -> Change {
        match growth {
            Growth::Begun {
                place,
                value,
                again,
            } => self.begin(place, value, again),
            Growth::Grown(suffix) => {
                self.written += escaped_len(suffix);
                self.change(self.open.len())
            }
            Growth::Ended => {
                if self.text.take().is_none() {
                    self.open.pop();
                }
                self.change(self.open.len())
            }
        }
    }

    fn begin(&mut self, place: Place<'_>, value: &Value, again: bool) -> Change {
        let depth = self.open.len();
        let before = self.written;
        let mut path_len = 0;
        if let Some(parent) = self.open.last_mut() {
            let (token, key) = match place {
                Place::Member(key) => (token_len(key), escaped_len(key) + r#","":"#.len()),
                Place::Element(index) => (digits(index), 1),
                Place::Root => (0, 0),
            };
            path_len = parent.path_len + 1 + token;
            parent.children += usize::from(!again);
            parent.again = again;
            self.written += key;
        }
        let start = self.written;
        match value {
            Value::Array(_) | Value::Object(_) => self.open.push(Open {
                start,
                children: 0,
                path_len,
                again: false,
            }),
            Value::String(_) => self.text = Some(Text { start, path_len }),
            _ => {}
        }
        self.written += json_len(value);
        Change {
            depth,
            before,
            start,
            end: self.written,
            path_len,
        }
    }

    const fn change(&self, depth: usize) -> Change {
        Change {
            depth,
            before: self.written,
            start: self.written,
            end: self.written,
            path_len: 0,
        }
    }
}

/// The bytes that a key takes in a path that is written as JSON.
pub(super) fn token_len(key: &str) -> usize {
    let tildes = key.bytes().filter(|byte| matches!(byte, b'~' | b'/'));
    escaped_len(key) + tildes.count()
}

/// The bytes that an index takes.
fn digits(index: usize) -> usize {
    index.checked_ilog10().map_or(1, |log| log as usize + 1)
}
