//! How much of a growing value readers hold, and the operations that show them the rest.
//!
//! A tree grows at its last leaf. So what readers lack lies along one way down from the root:
//! children behind those they hold in the arrays and objects that were open when the last patch
//! went out, and the rest of the string that was open then. Nothing else has to be remembered,
//! and nothing else is looked at.

use serde_json::Value;

use super::OPERATION;
use crate::patch::{Operation, Patch};
use crate::pointer::Pointer;
use crate::projection::outline::Outline;

/// The bytes that replacing a level must save. Readers that watch a member or an element would
/// rather see it added than all its neighbours replaced.
const WORTH_REPLACING: usize = 200;

/// What readers hold of a value; the default is all of it.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// What was written when readers were told last.
    written: usize,
    /// The arrays and objects that were open then, from the root of the value downwards.
    levels: Vec<Level>,
    /// How many of them are open still.
    open: usize,
    /// The string that was open then, in the innermost of them.
    text: Option<Text>,
}

/// An array or object that readers hold a part of.
#[derive(Debug)]
struct Level {
    start: usize,
    end: Option<usize>,
    path_len: usize,
    /// The number of children that readers hold. The last of them is the next level.
    held: usize,
    /// The bytes that operations for the other children take besides their values.
    overhead: usize,
    /// Whether a member that readers hold has been replaced, which operations on the last
    /// children cannot tell.
    is_rewritten: bool,
}

/// A string that readers hold a part of.
#[derive(Debug)]
struct Text {
    path_len: usize,
    /// The bytes of JSON that readers hold.
    held: usize,
    is_open: bool,
    has_grown: bool,
}

/// What to tell readers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// The bytes of the operations.
    pub(super) cost: usize,
    /// The level that is replaced whole, because that is shorter than its missing children.
    pub(super) whole: Option<usize>,
}

impl Shown {
    /// Returns that readers hold all that is there now of the value that has `root_depth` arrays
    /// and objects around it. Its path in the state is longer by `path_len` than in the arguments;
    /// it wraps around where it is shorter.
    pub(super) fn now(outline: &Outline, root_depth: usize, path_len: usize) -> Self {
        let mut levels: Vec<Level> = Vec::new();
        let mut text = outline.text().map(|text| Text {
            path_len: text.path_len.wrapping_add(path_len),
            held: outline.written() - text.start,
            is_open: true,
            has_grown: false,
        });
        let open = outline.open().get(root_depth..).unwrap_or_default();
        for (level, next) in open.iter().zip(1..) {
            let has_open_child = next < open.len() || text.is_some();
            levels.push(Level {
                start: level.start,
                end: None,
                path_len: level.path_len.wrapping_add(path_len),
                held: level.children,
                overhead: 0,
                is_rewritten: level.again && has_open_child,
            });
            if level.again {
                // The open child is not the last one; whatever comes in it rewrites this level.
                text = None;
                break;
            }
        }
        Self {
            written: outline.written(),
            open: levels.len(),
            levels,
            text,
        }
    }

    /// A value began in the array or object at `level`.
    pub(super) fn begin(&mut self, level: usize, again: bool) {
        if level >= self.open {
            return;
        }
        if let Some(level) = self.levels.get_mut(level) {
            level.is_rewritten |= again;
            level.overhead += OPERATION + level.path_len;
        }
    }

    /// A string grew.
    pub(super) fn grow(&mut self) {
        if let Some(text) = self.text.as_mut().filter(|text| text.is_open) {
            text.has_grown = true;
        }
    }

    /// A value at `depth` ended, when so much was written.
    pub(super) fn end(&mut self, depth: usize, written: usize) {
        if let Some(text) = self.text.as_mut().filter(|text| text.is_open) {
            text.is_open = false;
        } else if depth < self.open {
            self.open = depth;
            if let Some(level) = self.levels.get_mut(depth) {
                level.end = Some(written);
            }
        }
    }

    /// Says whether readers lack anything.
    pub(super) fn is_behind(&self) -> bool {
        let lacks = |level: &Level| level.overhead > 0 || level.is_rewritten;
        self.levels.iter().any(lacks) || self.text.as_ref().is_some_and(|text| text.has_grown)
    }

    /// Returns a short way to tell readers what they lack of a value that reaches to `end`.
    pub(super) fn plan(&self, end: usize) -> Plan {
        let mut best = Plan {
            cost: usize::MAX,
            whole: None,
        };
        let mut above = 0;
        for (index, level) in self.levels.iter().enumerate() {
            let level_end = level.end.unwrap_or(end);
            let whole = OPERATION + level.path_len + (level_end - level.start);
            let cost = above + whole + (end - level_end);
            if cost < best.cost {
                best = Plan {
                    cost,
                    whole: Some(index),
                };
            }
            if level.is_rewritten {
                return best;
            }
            above += level.overhead;
        }
        let text = self.text.as_ref().filter(|text| text.has_grown);
        let again = text.map_or(0, |text| OPERATION + text.path_len + text.held);
        let cost = above + again + (end - self.written);
        if cost < best.cost.saturating_add(WORTH_REPLACING) {
            best = Plan { cost, whole: None };
        }
        best
    }

    /// Appends what readers lack of `value` at `path`, with the level `whole` replaced whole.
    pub(super) fn tell(
        &self,
        value: &Value,
        mut path: Pointer,
        whole: Option<usize>,
        patch: &mut Patch,
    ) {
        self.tell_level(0, value, &mut path, whole, patch);
    }

    fn tell_level(
        &self,
        index: usize,
        value: &Value,
        path: &mut Pointer,
        whole: Option<usize>,
        patch: &mut Patch,
    ) {
        let level = self.levels.get(index).filter(|_| whole != Some(index));
        match (level, value) {
            (Some(level), Value::Array(elements)) => {
                let (held, lacking) = elements.split_at(level.held.min(elements.len()));
                if let (true, Some(last)) = (self.goes_on(index), held.last()) {
                    path.push_index(held.len() - 1);
                    self.tell_level(index + 1, last, path, whole, patch);
                    path.pop();
                }
                let end = path.join("-");
                patch.extend(lacking.iter().map(|element| Operation::Add {
                    path: end.clone(),
                    value: element.clone(),
                }));
            }
            (Some(level), Value::Object(members)) => {
                // From behind, so that members that readers hold are not walked over.
                let lacking = members.len().saturating_sub(level.held);
                let mut young = members.iter().rev();
                let lacking: Vec<_> = young.by_ref().take(lacking).collect();
                if let (true, Some((key, last))) = (self.goes_on(index), young.next()) {
                    path.push(key);
                    self.tell_level(index + 1, last, path, whole, patch);
                    path.pop();
                }
                patch.extend(lacking.iter().rev().map(|(key, member)| Operation::Add {
                    path: path.join(key),
                    value: (*member).clone(),
                }));
            }
            _ => {
                let is_whole = whole == Some(index);
                if is_whole || self.text.as_ref().is_some_and(|text| text.has_grown) {
                    patch.push(Operation::Replace {
                        path: path.clone(),
                        value: value.clone(),
                    });
                }
            }
        }
    }

    /// Says whether the last child that readers hold at this level is one they lack a part of.
    const fn goes_on(&self, index: usize) -> bool {
        index + 1 < self.levels.len() || self.text.is_some()
    }
}
