//! Shows state that a tool call is about to set, while its arguments are still being written.
//!
//! RFC 6902 cannot append to a string, an operation costs some thirty bytes besides its value,
//! and an event as many again. Telling readers about every fragment would cost a multiple of the
//! arguments that grows with their length. So changes are gathered, changes of the same value
//! merge, and a [budget](budget) decides when a patch goes out.

mod budget;
mod outline;
mod track;

use std::mem;

use serde_json::{Map, Value};

use self::budget::Budget;
use self::outline::Outline;
use self::track::Track;
use crate::grow::{GrowError, GrowingJson, Growth};
use crate::patch::{Operation, Patch};
use crate::pointer::Pointer;

/// Which part of a tool call's arguments is shown under which key of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The key at the top level of the state, unescaped.
    pub state_key: String,
    /// What is shown there.
    pub argument: Argument,
}

/// A part of a tool call's arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The whole arguments. Configurations write it as `*`.
    All,
    /// The argument of this name.
    Named(String),
}

impl Mapping {
    /// Returns the mapping of an argument to a key of the state; the argument `*` is all of them.
    ///
    /// ```
    /// use antiphon_state::{Argument, Mapping};
    ///
    /// assert_eq!(Mapping::new("recipe", "*").argument, Argument::All);
    /// ```
    pub fn new(state_key: impl Into<String>, argument: impl Into<String>) -> Self {
        let argument = argument.into();
        Self {
            state_key: state_key.into(),
            argument: if argument == "*" {
                Argument::All
            } else {
                Argument::Named(argument)
            },
        }
    }
}

/// The state that one tool call will set, as far as its arguments have been written.
///
/// A projection turns fragments of the arguments into [patches](Patch) to what the readers hold.
/// It changes nothing itself: the caller sends every patch to the readers, and what they hold
/// beside the keys of the mappings is none of its business.
///
/// - The value that readers hold under a key is replaced when the first of the new one is there
///   to see: by `add` if the key is missing, else by `replace`. From then on it grows.
/// - Nothing is shown that might turn into something else; see [`GrowingJson`]. An array, object
///   or string that is still empty waits for its first content.
/// - The last patch comes from [`finish`](Self::finish), which always completes the picture. If
///   readers held the final values all along, there is nothing to send.
/// - When the arguments turn out not to be JSON, the projection stops. What it has shown stays
///   until the caller sends the state as it was.
///
/// # What it costs
/// All patches of a call, sent as events, take at most about three and a half times the bytes of
/// the arguments, thirteen times where one long string is most of them, and two thousand bytes
/// more for a lively start. Time and memory are in proportion to the arguments.
///
/// # Several calls at once
/// Every call has its own projection. Where two calls map the same key, the one that began last
/// shows it: call [`release`](Self::release) on the other.
///
/// ```
/// use antiphon_state::{Mapping, Projection};
/// use serde_json::json;
///
/// let mut readers = json!({"recipe": {"title": "Old"}, "lang": "en"});
/// let mut projection = Projection::new([Mapping::new("recipe", "recipe")], &readers);
/// for fragment in [r#"{"recipe": {"tit"#, r#"le": "Pas"#, r#"ta", "serves""#, ": 12}}"] {
///     if let Some(patch) = projection.push(fragment) {
///         patch.apply(&mut readers)?;
///     }
/// }
/// if let Some(patch) = projection.finish() {
///     patch.apply(&mut readers)?;
/// }
/// assert_eq!(readers, json!({"recipe": {"title": "Pasta", "serves": 12}, "lang": "en"}));
/// # Ok::<(), antiphon_state::PatchError>(())
/// ```
#[derive(Debug)]
pub struct Projection {
    json: GrowingJson,
    outline: Outline,
    tracks: Vec<Track>,
    budget: Budget,
    /// Whether readers hold something that has no keys; it becomes an object first.
    lacks_root: bool,
    finished: bool,
}

impl Projection {
    /// Returns the projection of a call whose arguments are about to arrive, to readers that hold
    /// `held` now.
    ///
    /// Of two mappings to the same key the later one counts.
    #[must_use]
    pub fn new(mappings: impl IntoIterator<Item = Mapping>, held: &Value) -> Self {
        let mut tracks: Vec<Track> = Vec::new();
        for mapping in mappings {
            tracks.retain(|track| track.key() != mapping.state_key);
            let before = held.get(&mapping.state_key).cloned();
            tracks.push(Track::new(mapping, before));
        }
        Self {
            json: GrowingJson::new(),
            outline: Outline::default(),
            tracks,
            budget: Budget::default(),
            lacks_root: !held.is_object(),
            finished: false,
        }
    }

    /// Takes the next fragment of the arguments and returns what readers should be told now.
    ///
    /// After an [`error`](Self::error) and after [`finish`](Self::finish) there is nothing to tell.
    pub fn push(&mut self, fragment: &str) -> Option<Patch> {
        if self.finished {
            return None;
        }
        self.take(fragment).ok()?;
        let (text, written) = (self.outline.open_text(), self.outline.written());
        self.budget.earn(fragment.len(), text, written);
        self.skip_what_is_held();
        self.tell(self.affordable()?)
    }

    /// Takes the end of the arguments and returns what readers lack of the final values.
    ///
    /// Arguments that are blank count as `{}`, since some models write nothing for a call without
    /// parameters.
    pub fn finish(&mut self) -> Option<Patch> {
        if self.finished {
            return None;
        }
        if self.json.is_blank() {
            self.take("{}").ok()?;
        }
        self.finished = true;
        let Self {
            json,
            outline,
            tracks,
            ..
        } = self;
        json.end(&mut |growth| see(growth, outline, tracks)).ok()?;
        self.skip_what_is_held();
        self.tell(Reach::Everything)
    }

    /// Returns why the arguments are not JSON, if that is known already.
    ///
    /// An early end is known from [`finish`](Self::finish) on.
    #[must_use]
    pub const fn error(&self) -> Option<&GrowError> {
        self.json.error()
    }

    /// Says whether the arguments are complete, so that the values are final.
    #[must_use]
    pub const fn is_settled(&self) -> bool {
        self.finished && self.json.error().is_none()
    }

    /// Returns the arguments so far.
    #[must_use]
    pub const fn arguments(&self) -> Option<&Value> {
        self.json.value()
    }

    /// Returns the arguments, giving up the projection.
    ///
    /// # Errors
    /// The arguments are not JSON, or not complete.
    pub fn into_arguments(self) -> Result<Value, GrowError> {
        self.json.finish()
    }

    /// Returns the keys that this projection shows.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.tracks.iter().map(Track::key)
    }

    /// Returns what will be under `key`, as far as it is known, whether readers hold it or not.
    #[must_use]
    pub fn value_for(&self, key: &str) -> Option<&Value> {
        let track = self.tracks.iter().find(|track| track.key() == key)?;
        track.value(&self.json)
    }

    /// Returns the keys whose values have begun, with the values so far; they are final once the
    /// projection [is settled](Self::is_settled).
    pub fn values(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.tracks
            .iter()
            .filter_map(|track| Some((track.key(), track.value(&self.json)?)))
    }

    /// Stops showing `key`, which another projection shows from now on.
    ///
    /// What readers hold there stays. The other projection must be made after the last patch of
    /// this one was applied, from what readers hold then.
    pub fn release(&mut self, key: &str) {
        self.tracks.retain(|track| track.key() != key);
    }

    fn take(&mut self, text: &str) -> Result<(), GrowError> {
        let Self {
            json,
            outline,
            tracks,
            ..
        } = self;
        json.push_with(text, &mut |growth| see(growth, outline, tracks))
    }

    fn skip_what_is_held(&mut self) {
        for track in &mut self.tracks {
            track.skip_if_held(&self.json);
        }
    }

    /// Returns how far readers should be told now, if there is anything to see that can be paid.
    fn affordable(&self) -> Option<Reach> {
        let cuts = self.tracks.iter().any(Track::cuts_a_value);
        [(Reach::Everything, cuts), (Reach::Complete, false)]
            .into_iter()
            .find(|&(reach, cuts)| {
                self.cost(reach)
                    .is_some_and(|cost| self.budget.affords(cost, cuts))
            })
            .map(|(reach, _)| reach)
    }

    /// Returns what it costs to tell readers all that they lack within `reach`, if there is
    /// anything to see.
    fn cost(&self, reach: Reach) -> Option<usize> {
        if !self.tracks.iter().any(|track| track.is_due(reach)) {
            return None;
        }
        let written = self.outline.written();
        Some(
            self.tracks
                .iter()
                .map(|track| track.cost(written, reach))
                .sum(),
        )
    }

    /// Returns a patch with all that readers lack within `reach`, if there is anything to see.
    fn tell(&mut self, reach: Reach) -> Option<Patch> {
        self.budget.spend(self.cost(reach)?);
        let mut patch = Patch::default();
        if mem::take(&mut self.lacks_root) {
            patch.push(Operation::Replace {
                path: Pointer::root(),
                value: Value::Object(Map::new()),
            });
        }
        for track in &mut self.tracks {
            track.tell(&self.json, &self.outline, reach, &mut patch);
        }
        Some(patch)
    }
}

/// How far a patch goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// To the last byte that has arrived.
    Everything,
    /// To the last complete child of what readers hold. A child that has just begun is kept back
    /// to be told in one operation; once readers hold a part of it, each of its members takes
    /// one.
    Complete,
}

/// Takes note of a change of the arguments.
fn see(growth: Growth<'_>, outline: &mut Outline, tracks: &mut [Track]) {
    let change = outline.see(growth);
    for track in tracks {
        track.see(&growth, &change);
    }
}

#[cfg(test)]
mod tests;
