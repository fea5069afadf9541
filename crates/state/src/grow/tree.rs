//! The tree of a growing document and the way to where it grows.

use serde_json::Value;
use serde_json::map::Entry;

use super::Growth;

/// Where a value is within its array or object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// The value is the whole document.
    Root,
    /// The value of this key.
    Member(&'a str),
    /// The element at this index.
    Element(usize),
}

/// The values so far, and which of them are still open.
///
/// A tree grows at its last leaf only. So the way there is the last child of every open array
/// and object, which takes no look-up by key; the one exception is a key that came twice.
#[derive(Debug, Default)]
pub(super) struct Tree {
    root: Option<Value>,
    /// The open arrays and objects, from the root to the innermost.
    open: Vec<Open>,
}

#[derive(Debug)]
struct Open {
    is_object: bool,
    /// The key of the youngest member, if the object had it before: it is not the last one then.
    again: Option<String>,
}

impl Tree {
    pub(super) const fn root(&self) -> Option<&Value> {
        self.root.as_ref()
    }

    pub(super) fn into_root(self) -> Option<Value> {
        self.root
    }

    /// Returns the number of open arrays and objects.
    pub(super) const fn depth(&self) -> usize {
        self.open.len()
    }

    /// Says whether the innermost open value is an object.
    pub(super) fn in_object(&self) -> bool {
        self.open.last().is_some_and(|open| open.is_object)
    }

    /// Adds a value to the innermost open array or object, which uses `key` if it is an object.
    pub(super) fn insert(&mut self, key: String, value: Value, see: &mut impl FnMut(Growth<'_>)) {
        let Some((innermost, ways)) = self.open.split_last_mut() else {
            see(begun(Place::Root, &value, false));
            self.root = Some(value);
            return;
        };
        innermost.again = None;
        match descend(self.root.as_mut(), ways) {
            Some(Value::Array(elements)) => {
                see(begun(Place::Element(elements.len()), &value, false));
                elements.push(value);
            }
            Some(Value::Object(members)) => match members.entry(key) {
                Entry::Vacant(entry) => {
                    see(begun(Place::Member(entry.key()), &value, false));
                    entry.insert(value);
                }
                Entry::Occupied(mut entry) => {
                    see(begun(Place::Member(entry.key()), &value, true));
                    innermost.again = Some(entry.key().clone());
                    entry.insert(value);
                }
            },
            // What is open is an array or an object.
            _ => {}
        }
    }

    /// Opens the array or object that was inserted last.
    pub(super) fn open(&mut self, is_object: bool) {
        self.open.push(Open {
            is_object,
            again: None,
        });
    }

    /// Closes the innermost open array or object.
    pub(super) fn close(&mut self) {
        self.open.pop();
    }

    /// Appends to the string that was inserted last.
    pub(super) fn grow(&mut self, suffix: &str) {
        if let Some(Value::String(text)) = descend(self.root.as_mut(), &self.open) {
            text.push_str(suffix);
        }
    }
}

const fn begun<'a>(place: Place<'a>, value: &'a Value, again: bool) -> Growth<'a> {
    Growth::Begun {
        place,
        value,
        again,
    }
}

/// Returns the youngest child of the youngest child and so on, one step for each of `ways`.
fn descend<'t>(root: Option<&'t mut Value>, ways: &[Open]) -> Option<&'t mut Value> {
    ways.iter().try_fold(root?, |value, open| match value {
        Value::Array(elements) => elements.last_mut(),
        Value::Object(members) => match &open.again {
            None => members.values_mut().next_back(),
            Some(key) => members.get_mut(key),
        },
        _ => None,
    })
}
