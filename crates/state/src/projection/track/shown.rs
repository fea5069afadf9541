//! How much of a growing value readers hold, and what it takes to show them the rest.
//!
//! A tree grows at its last leaf. So what readers lack lies along one way down from the root:
//! children behind those they hold in the arrays and objects that were open when the last patch
//! went out, and the rest of the string that was open then. Nothing else has to be remembered,
//! and nothing else is looked at.

use serde_json::Value;

use super::OPERATION;
use crate::patch::{Operation, Patch};
use crate::pointer::Pointer;
use crate::projection::Reach;
use crate::projection::outline::Outline;

/// The bytes that replacing a level must save. Readers that watch a member or an element would
/// rather see it added than all its neighbours replaced.
const WORTH_REPLACING: usize = 200;

/// What readers hold of a value; the default is all of it.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// What was written of the arguments when readers were told last.
    written: usize,
    /// The arrays and objects that were open then, from the root of the value downwards.
    levels: Vec<Level>,
    /// How many of them are open still.
    open: usize,
    /// The string that was open then, in the innermost of them.
    text: Option<Text>,
    /// What was written before the last child of the innermost level that is open, if readers do
    /// not hold that child and it is open too.
    open_child: Option<usize>,
}

/// An array or object that readers hold a part of.
#[derive(Debug)]
struct Level {
    start: usize,
    end: Option<usize>,
    path_len: usize,
    /// The number of children that readers hold. The last of them is the next level.
    held: usize,
    /// The number of children that they lack.
    lacking: usize,
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
    reach: Reach,
}

impl Level {
    /// The bytes that an operation on a child takes besides the child.
    const fn overhead(&self) -> usize {
        OPERATION + self.path_len
    }
}

impl Shown {
    /// Returns that readers hold all that is there now of the value that has `root_depth` arrays
    /// and objects around it. Its path in the state is longer by `path_len` than in the arguments;
    /// it wraps around where it is shorter.
    pub(super) fn everything(outline: &Outline, root_depth: usize, path_len: usize) -> Self {
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
                lacking: 0,
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
            open_child: None,
        }
    }

    /// Readers have been told all but the child that is open.
    pub(super) fn all_but_open_child(&mut self) {
        self.text = None;
        self.levels.truncate(self.open);
        let innermost = self.levels.len().saturating_sub(1);
        for (index, level) in self.levels.iter_mut().enumerate() {
            let kept_back = usize::from(index == innermost && self.open_child.is_some());
            level.held += level.lacking - kept_back.min(level.lacking);
            level.lacking = kept_back;
        }
        if let Some(before_child) = self.open_child {
            self.written = before_child;
        }
    }

    /// A value began in the array or object at `level`, before which so much was `written`. It may
    /// be one that `opens`, or one that takes the place of an earlier one `again`.
    pub(super) fn begin(&mut self, level: usize, written: usize, opens: bool, again: bool) {
        if level >= self.open {
            return;
        }
        if let Some(level) = self.levels.get_mut(level) {
            level.is_rewritten |= again;
            level.lacking += usize::from(!again);
            self.open_child = opens.then_some(written);
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
        if depth <= self.open {
            self.open_child = None;
        }
        if let Some(text) = self.text.as_mut().filter(|text| text.is_open) {
            text.is_open = false;
        } else if depth < self.open {
            self.open = depth;
            if let Some(level) = self.levels.get_mut(depth) {
                level.end = Some(written);
            }
        }
    }

    /// Says whether readers lack anything within `reach`.
    pub(super) fn is_behind(&self, reach: Reach) -> bool {
        let lacking: usize = self.levels.iter().map(|level| level.lacking).sum();
        let is_rewritten = self.levels.iter().any(|level| level.is_rewritten);
        let has_grown = self.text.as_ref().is_some_and(|text| text.has_grown);
        match reach {
            Reach::Everything => lacking > 0 || is_rewritten || has_grown,
            // What is rewritten cannot be told in part.
            Reach::Complete => {
                !is_rewritten && self.open_child.is_some() && (lacking > 1 || has_grown)
            }
        }
    }

    /// Says whether telling everything would show a part of a value that is still growing.
    pub(super) fn cuts_a_value(&self) -> bool {
        self.open_child.is_some() || self.text.as_ref().is_some_and(|text| text.is_open)
    }

    /// Returns a short way to tell readers what they lack of a value that reaches to `end`.
    pub(super) fn plan(&self, end: usize, reach: Reach) -> Plan {
        let kept_back = self.open_child.filter(|_| reach == Reach::Complete);
        let end = kept_back.unwrap_or(end);
        let mut best = Plan {
            cost: usize::MAX,
            whole: None,
            reach,
        };
        let mut above = 0;
        for (index, level) in self.levels.iter().enumerate() {
            // A level that is replaced whole shows the child that is open as well.
            if kept_back.is_none() || level.end.is_some() {
                let level_end = level.end.unwrap_or(end);
                let whole = level.overhead() + (level_end - level.start);
                let cost = above + whole + (end - level_end);
                if cost < best.cost {
                    (best.cost, best.whole) = (cost, Some(index));
                }
            }
            if level.is_rewritten {
                return best;
            }
            above += level.lacking * level.overhead();
            if kept_back.is_some() && index + 1 == self.open {
                above -= level.overhead();
            }
        }
        let text = self.text.as_ref().filter(|text| text.has_grown);
        let again = text.map_or(0, |text| OPERATION + text.path_len + text.held);
        let cost = above + again + (end - self.written);
        if cost < best.cost.saturating_add(WORTH_REPLACING) {
            (best.cost, best.whole) = (cost, None);
        }
        best
    }

    /// Appends what readers lack of `value` at `path` according to the plan.
    pub(super) fn tell(&self, value: &Value, mut path: Pointer, plan: Plan, patch: &mut Patch) {
        self.tell_level(0, value, &mut path, plan, patch);
    }

    fn tell_level(
        &self,
        index: usize,
        value: &Value,
        path: &mut Pointer,
        plan: Plan,
        patch: &mut Patch,
    ) {
        let is_whole = plan.whole == Some(index);
        let level = self.levels.get(index).filter(|_| !is_whole);
        let Some(level) = level else {
            if is_whole || self.text.as_ref().is_some_and(|text| text.has_grown) {
                patch.push(Operation::Replace {
                    path: path.clone(),
                    value: value.clone(),
                });
            }
            return;
        };
        let keeps_back = plan.reach == Reach::Complete && index + 1 == self.open;
        let told = level.lacking.saturating_sub(usize::from(keeps_back));
        // From behind, so that children that readers hold are not walked over.
        match value {
            Value::Array(elements) => {
                let held = level.held.min(elements.len());
                let (held, lacking) = elements.split_at(held);
                if let (true, Some(last)) = (self.goes_on(index), held.last()) {
                    path.push_index(held.len() - 1);
                    self.tell_level(index + 1, last, path, plan, patch);
                    path.pop();
                }
                let end = path.join("-");
                patch.extend(lacking.iter().take(told).map(|element| Operation::Add {
                    path: end.clone(),
                    value: element.clone(),
                }));
            }
            Value::Object(members) => {
                let mut young = members.iter().rev();
                let lacking = members.len().saturating_sub(level.held);
                let lacking: Vec<_> = young.by_ref().take(lacking).collect();
                if let (true, Some((key, last))) = (self.goes_on(index), young.next()) {
                    path.push(key);
                    self.tell_level(index + 1, last, path, plan, patch);
                    path.pop();
                }
                let told = lacking.iter().rev().take(told);
                patch.extend(told.map(|(key, member)| Operation::Add {
                    path: path.join(key),
                    value: (*member).clone(),
                }));
            }
            // A level is an array or an object.
            _ => {}
        }
    }

    /// Says whether the last child that readers hold at this level is one they lack a part of.
    const fn goes_on(&self, index: usize) -> bool {
        index + 1 < self.levels.len() || self.text.is_some()
    }
}
