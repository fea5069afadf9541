//! One key of the state as a projection shows it.

mod shown;

use serde_json::Value;

use self::shown::Shown;
use super::outline::{Change, Outline, token_len};
use super::{Argument, Mapping, Reach};
use crate::grow::{GrowingJson, Growth, Place};
use crate::patch::{Operation, Patch};
use crate::pointer::Pointer;

/// The bytes that an operation takes besides its path and its value; `add` takes a few less.
const OPERATION: usize = r#"{"op":"replace","path":"","value":},"#.len();

/// What will be under a key, and how much of it readers hold.
#[derive(Debug)]
pub(super) struct Track {
    mapping: Mapping,
    path: Pointer,
    /// The length of the path as JSON.
    path_len: usize,
    held: Held,
    /// Whether the values that begin and grow now are within the value of this track.
    is_current: bool,
    value: Option<Extent>,
    /// Whether something came since the last patch that is worth another one: more than an empty
    /// beginning.
    has_news: bool,
}

/// What readers hold under the key.
#[derive(Debug)]
enum Held {
    Nothing,
    /// A value that may turn out to be the final one.
    Before(Value),
    /// A value that has to be replaced.
    Other,
    /// The value of this track, as far as it was shown.
    Shown(Shown),
}

/// Where the value of a track lies in the arguments.
#[derive(Clone, Copy, Debug)]
struct Extent {
    /// What was written before it.
    start: usize,
    /// What was written when it ended, if it has.
    end: Option<usize>,
    /// The length of its path below the root of the arguments.
    path_len: usize,
}

impl Track {
    pub(super) fn new(mapping: Mapping, before: Option<Value>) -> Self {
        Self {
            path: Pointer::member(&mapping.state_key),
            path_len: 1 + token_len(&mapping.state_key),
            held: before.map_or(Held::Nothing, Held::Before),
            is_current: mapping.argument == Argument::All,
            mapping,
            value: None,
            has_news: false,
        }
    }

    pub(super) fn key(&self) -> &str {
        &self.mapping.state_key
    }

    /// Returns the value so far.
    pub(super) fn value<'j>(&self, json: &'j GrowingJson) -> Option<&'j Value> {
        let arguments = json.value()?;
        match &self.mapping.argument {
            Argument::All => Some(arguments),
            Argument::Named(name) => arguments.as_object()?.get(name),
        }
    }

    /// Says whether there is something within `reach` that readers lack and that is worth a patch.
    pub(super) fn is_due(&self, reach: Reach) -> bool {
        self.has_news
            && match &self.held {
                Held::Shown(shown) => shown.is_behind(reach),
                _ => reach == Reach::Everything,
            }
    }

    /// Says whether telling everything would show a part of a value that is still growing.
    pub(super) fn cuts_a_value(&self) -> bool {
        self.is_due(Reach::Everything)
            && match &self.held {
                Held::Shown(shown) => shown.cuts_a_value(),
                _ => self.value.is_some_and(|value| value.end.is_none()),
            }
    }

    /// Takes note of a change of the arguments.
    pub(super) fn see(&mut self, growth: &Growth<'_>, change: &Change) {
        self.look_up(growth, change.depth);
        let Some(depth) = change.depth.checked_sub(self.root_depth()) else {
            return;
        };
        if !self.is_current {
            return;
        }
        match growth {
            Growth::Begun { value, again, .. } => {
                let opens = value.is_array() || value.is_object() || value.is_string();
                self.has_news |= !opens;
                match (depth.checked_sub(1), &mut self.held) {
                    (None, _) => self.begin(change, opens),
                    (Some(level), Held::Shown(shown)) => {
                        shown.begin(level, change.before, opens, *again);
                    }
                    _ => {}
                }
            }
            Growth::Grown(_) => {
                self.has_news = true;
                if let Held::Shown(shown) = &mut self.held {
                    shown.grow();
                }
            }
            Growth::Ended => {
                self.has_news = true;
                if let Held::Shown(shown) = &mut self.held {
                    shown.end(depth, change.end);
                }
                if let (0, Some(value)) = (depth, &mut self.value) {
                    value.end = Some(change.end);
                }
            }
        }
    }

    /// Finds out at the beginning of an argument whether it is the one that is shown.
    fn look_up(&mut self, growth: &Growth<'_>, depth: usize) {
        if let (Growth::Begun { place, .. }, Argument::Named(name)) =
            (growth, &self.mapping.argument)
            && depth <= 1
        {
            self.is_current = *place == Place::Member(name);
        }
    }

    /// The number of arrays and objects around the value.
    const fn root_depth(&self) -> usize {
        match self.mapping.argument {
            Argument::All => 0,
            Argument::Named(_) => 1,
        }
    }

    /// The value of the track begins, or another one of the same name does.
    fn begin(&mut self, change: &Change, opens: bool) {
        if matches!(self.held, Held::Shown(_)) {
            self.held = Held::Other;
        }
        self.value = Some(Extent {
            start: change.start,
            end: (!opens).then_some(change.end),
            path_len: change.path_len,
        });
    }

    /// Notices when readers have held a value all along that is complete by now.
    pub(super) fn skip_if_held(&mut self, json: &GrowingJson) {
        let Held::Before(before) = &self.held else {
            return;
        };
        if self.value.is_some_and(|value| value.end.is_some()) {
            self.held = if self.value(json) == Some(before) {
                Held::Shown(Shown::default())
            } else {
                Held::Other
            };
        }
    }

    /// Returns the bytes of the operations that are due when the arguments are `written` long.
    pub(super) fn cost(&self, written: usize, reach: Reach) -> usize {
        let Some(value) = self.value.filter(|_| self.is_due(reach)) else {
            return 0;
        };
        let end = value.end.unwrap_or(written);
        match &self.held {
            Held::Shown(shown) => shown.plan(end, reach).cost,
            _ => OPERATION + self.path_len + end - value.start,
        }
    }

    /// Appends the operations that are due to `patch`; readers are up to date after them.
    pub(super) fn tell(
        &mut self,
        json: &GrowingJson,
        outline: &Outline,
        reach: Reach,
        patch: &mut Patch,
    ) {
        let (Some(extent), Some(value), true) = (self.value, self.value(json), self.is_due(reach))
        else {
            return;
        };
        self.has_news = false;
        let path = self.path.clone();
        match &mut self.held {
            Held::Nothing => patch.push(Operation::Add {
                path,
                value: value.clone(),
            }),
            Held::Before(_) | Held::Other => patch.push(Operation::Replace {
                path,
                value: value.clone(),
            }),
            Held::Shown(shown) => {
                let plan = shown.plan(extent.end.unwrap_or(outline.written()), reach);
                shown.tell(value, path, plan, patch);
                if reach == Reach::Complete {
                    shown.all_but_open_child();
                    return;
                }
            }
        }
        self.held = Held::Shown(match extent.end {
            Some(_) => Shown::default(),
            None => {
                let outside = self.path_len.wrapping_sub(extent.path_len);
                Shown::everything(outline, self.root_depth(), outside)
            }
        });
    }
}
