//! What is wrong with an agent file, each with its place and its key path.

use std::fmt;
use std::path::Path;

use super::path::KeyPath;
use super::tree::Position;

/// One thing that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Where; line 0 where no place is known.
    pub(crate) at: Position,
    /// The key path of the value.
    pub(crate) path: KeyPath,
    /// What is wrong, and what was expected.
    pub(crate) what: String,
}

impl Problem {
    pub(crate) fn new(at: Position, path: KeyPath, what: impl Into<String>) -> Self {
        Self {
            at,
            path,
            what: what.into(),
        }
    }
}

/// A file that can't be served, with all that is known to be wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileError {
    file: String,
    problems: Vec<Problem>,
}

impl FileError {
    pub(crate) fn new(file: &Path, problems: Vec<Problem>) -> Self {
        Self {
            file: file.display().to_string(),
            problems,
        }
    }

    /// The problems, each as a line `file:line:column: key path: what`.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        self.problems.iter().map(|problem| self.line(problem))
    }

    fn line(&self, problem: &Problem) -> String {
        let Problem { at, path, what } = problem;
        let mut line = self.file.clone();
        if at.line > 0 {
            line = format!("{line}:{}:{}", at.line, at.column);
        }
        if path.is_root() {
            format!("{line}: {what}")
        } else {
            format!("{line}: {path}: {what}")
        }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, line) in self.lines().enumerate() {
            if place > 0 {
                f.write_str("\n")?;
            }
            f.write_str(&line)?;
        }
        Ok(())
    }
}

impl std::error::Error for FileError {}

/// ` (did you mean "near"?)`, where one of the known words is near.
pub(crate) fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let nearest = known
        .into_iter()
        .map(|known| (strsim::damerau_levenshtein(word, known), known))
        .min();
    match nearest {
        Some((distance, near)) if distance <= 2.max(word.chars().count() / 3) => {
            format!(" (did you mean {near:?}?)")
        }
        _ => String::new(),
    }
}

/// Words as people list them: `a, b or c`.
pub(crate) fn one_of<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<&str> = words.into_iter().collect();
    match words.split_last() {
        None => "nothing".to_owned(),
        Some((only, [])) => (*only).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_near_word_is_offered() {
        assert_eq!(
            did_you_mean("instrutions", ["model", "instructions"]),
            " (did you mean \"instructions\"?)"
        );
        assert_eq!(did_you_mean("colour", ["model", "tools"]), "");
        assert_eq!(did_you_mean("x", []), "");
    }

    #[test]
    fn words_are_listed_as_people_do() {
        assert_eq!(one_of(["a"]), "a");
        assert_eq!(one_of(["a", "b", "c"]), "a, b or c");
    }
}
