//! Aligns two arrays: which elements stay, and where some come and go.
//!
//! Myers' shortest edit script, with bounded effort: arrays that differ in more than
//! [`MAX_EDITS`] places are not worth the search, since a patch of so many operations is hardly
//! shorter than the array.

use std::collections::HashMap;

use serde_json::Value;

/// The most insertions and removals that are searched for. The search remembers half the square
/// of them as machine words.
const MAX_EDITS: usize = 400;

/// A stretch of two aligned arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Run {
    /// As many elements that are equal in both.
    Same(usize),
    /// Elements of the old array in whose place there are others in the new one.
    Different { old: usize, new: usize },
}

/// Returns the runs that make up both arrays.
pub(super) fn align(old: &[Value], new: &[Value]) -> Vec<Run> {
    let prefix = old.iter().zip(new).take_while(|(o, n)| o == n).count();
    let (old, new) = (
        old.get(prefix..).unwrap_or_default(),
        new.get(prefix..).unwrap_or_default(),
    );
    let pairs = old.iter().rev().zip(new.iter().rev());
    let suffix = pairs.take_while(|(o, n)| o == n).count();
    let old = old.get(..old.len() - suffix).unwrap_or_default();
    let new = new.get(..new.len() - suffix).unwrap_or_default();

    let mut runs = Runs::default();
    runs.same(prefix);
    let (old_names, new_names) = name_elements(old, new);
    match edits(&old_names, &new_names) {
        Some(edits) => edits.into_iter().for_each(|edit| runs.edit(edit)),
        None => runs.different(old.len(), new.len()),
    }
    runs.same(suffix);
    runs.runs
}

/// One step through both arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edit {
    Keep,
    Remove,
    Insert,
}

#[derive(Default)]
struct Runs {
    runs: Vec<Run>,
}

impl Runs {
    fn edit(&mut self, edit: Edit) {
        match edit {
            Edit::Keep => self.same(1),
            Edit::Remove => self.different(1, 0),
            Edit::Insert => self.different(0, 1),
        }
    }

    fn same(&mut self, count: usize) {
        match self.runs.last_mut() {
            Some(Run::Same(before)) => *before += count,
            _ if count > 0 => self.runs.push(Run::Same(count)),
            _ => {}
        }
    }

    fn different(&mut self, old_count: usize, new_count: usize) {
        match self.runs.last_mut() {
            Some(Run::Different { old, new }) => {
                *old += old_count;
                *new += new_count;
            }
            _ if old_count + new_count > 0 => self.runs.push(Run::Different {
                old: old_count,
                new: new_count,
            }),
            _ => {}
        }
    }
}

/// Gives equal elements equal numbers, so that large elements are compared once.
fn name_elements(old: &[Value], new: &[Value]) -> (Vec<usize>, Vec<usize>) {
    let mut names: HashMap<&Value, usize> = HashMap::new();
    let mut name = |element| {
        let next = names.len();
        *names.entry(element).or_insert(next)
    };
    let old = old.iter().map(&mut name).collect();
    let new = new.iter().map(&mut name).collect();
    (old, new)
}

/// How far each diagonal has come after a number of edits. Diagonal `k` holds the positions
/// where the old array is ahead of the new one by `k`.
struct Reach {
    /// Positions in the old array, for the diagonals from `-edits` to `edits` in steps of two.
    old: Vec<usize>,
}

impl Reach {
    /// Returns the position in the old array that the diagonal has come to with `edits` edits.
    fn on(&self, diagonal: isize, edits: usize) -> Option<usize> {
        let place = diagonal.checked_add_unsigned(edits)?;
        self.old.get(usize::try_from(place).ok()? / 2).copied()
    }
}

/// Returns the shortest way from `old` to `new`, or `None` if it has too many edits.
fn edits(old: &[usize], new: &[usize]) -> Option<Vec<Edit>> {
    let mut history: Vec<Reach> = Vec::new();
    for count in 0..=MAX_EDITS.min(old.len() + new.len()) {
        let mut reach = Reach {
            old: Vec::with_capacity(count + 1),
        };
        for place in 0..=count {
            let diagonal = (2 * place).cast_signed() - count.cast_signed();
            let (mut at, _) = arrive(history.last(), diagonal, count);
            // A diagonal may lead out of the new array; it stays there and is never the end.
            let mut there = at.checked_add_signed(-diagonal).unwrap_or(usize::MAX);
            while let (Some(o), Some(n)) = (old.get(at), new.get(there)) {
                if o != n {
                    break;
                }
                at += 1;
                there += 1;
            }
            reach.old.push(at);
            if at == old.len() && there == new.len() {
                history.push(reach);
                return Some(trace(&history, old.len(), new.len()));
            }
        }
        history.push(reach);
    }
    None
}

/// Returns where a diagonal begins with one more edit than `before`, and that edit: an insertion
/// from the diagonal above or a removal from the one below, whichever comes further.
fn arrive(before: Option<&Reach>, diagonal: isize, count: usize) -> (usize, Option<Edit>) {
    let (Some(before), Some(edits)) = (before, count.checked_sub(1)) else {
        return (0, None);
    };
    let inserted = before.on(diagonal + 1, edits);
    let removed = before.on(diagonal - 1, edits).map(|at| at + 1);
    match (inserted, removed) {
        (Some(inserted), removed) if removed.is_none_or(|removed| inserted >= removed) => {
            (inserted, Some(Edit::Insert))
        }
        (_, Some(removed)) => (removed, Some(Edit::Remove)),
        _ => (0, None),
    }
}

/// Walks back through the history and returns the edits from the start.
fn trace(history: &[Reach], old: usize, new: usize) -> Vec<Edit> {
    let mut edits = Vec::with_capacity(old.max(new));
    let mut at = old;
    let mut diagonal = old.cast_signed() - new.cast_signed();
    for count in (0..history.len()).rev() {
        let before = count.checked_sub(1).and_then(|edits| history.get(edits));
        let (start, edit) = arrive(before, diagonal, count);
        edits.extend(std::iter::repeat_n(Edit::Keep, at.saturating_sub(start)));
        at = start;
        match edit {
            Some(Edit::Insert) => diagonal += 1,
            Some(Edit::Remove) => {
                diagonal -= 1;
                at = at.saturating_sub(1);
            }
            Some(Edit::Keep) | None => {}
        }
        edits.extend(edit);
    }
    edits.reverse();
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(old: &str, new: &str) -> Vec<Run> {
        let elements = |text: &str| -> Vec<Value> {
            text.chars().map(|c| Value::String(c.to_string())).collect()
        };
        let (old, new) = (elements(old), elements(new));
        let runs = align(&old, &new);
        let (mut o, mut n) = (0, 0);
        for run in &runs {
            match run {
                Run::Same(count) => {
                    assert_eq!(old[o..o + count], new[n..n + count]);
                    (o, n) = (o + count, n + count);
                }
                Run::Different { old, new } => (o, n) = (o + old, n + new),
            }
        }
        assert_eq!((o, n), (old.len(), new.len()));
        runs
    }

    fn edits_in(runs: &[Run]) -> usize {
        runs.iter()
            .map(|run| match run {
                Run::Same(_) => 0,
                Run::Different { old, new } => old + new,
            })
            .sum()
    }

    #[test]
    fn equal_and_empty_arrays_align_trivially() {
        assert_eq!(runs("abc", "abc"), [Run::Same(3)]);
        assert_eq!(runs("", ""), []);
        assert_eq!(runs("", "ab"), [Run::Different { old: 0, new: 2 }]);
        assert_eq!(runs("ab", ""), [Run::Different { old: 2, new: 0 }]);
    }

    #[test]
    fn the_script_is_as_short_as_it_can_be() {
        // The example of Myers' paper has five edits.
        assert_eq!(edits_in(&runs("abcabba", "cbabac")), 5);
        assert_eq!(edits_in(&runs("xaxbxc", "abc")), 3);
        assert_eq!(edits_in(&runs("abcdef", "zabcdez")), 3);
        assert_eq!(edits_in(&runs("aaaa", "aa")), 2);
    }

    #[test]
    fn scripts_agree_with_the_longest_common_subsequence() {
        let words = [
            "", "a", "ab", "ba", "abab", "bbaab", "abba", "aabbaab", "babab",
        ];
        for old in words {
            for new in words {
                let expected = old.len() + new.len() - 2 * common(old.as_bytes(), new.as_bytes());
                assert_eq!(edits_in(&runs(old, new)), expected, "{old:?} {new:?}");
            }
        }
    }

    fn common(old: &[u8], new: &[u8]) -> usize {
        match (old.split_last(), new.split_last()) {
            (Some((o, old)), Some((n, new))) if o == n => common(old, new) + 1,
            (Some((_, shorter_old)), Some((_, shorter_new))) => {
                common(shorter_old, new).max(common(old, shorter_new))
            }
            _ => 0,
        }
    }
}
