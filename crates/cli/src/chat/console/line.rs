//! A line that is being written: its text, the cursor, and what keys do to them.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation;
use zeroize::Zeroize;

/// The longest text that is taken, in bytes.
const LONGEST: usize = 1 << 20;

/// A line that is being written. It is wiped from memory when it is dropped: it may hold a
/// password.
#[derive(Default)]
pub(crate) struct Line {
    text: String,
    /// In bytes, between two characters.
    cursor: usize,
}

/// What a key did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Did {
    Nothing,
    Changed,
    /// The line is done.
    Entered,
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D on an empty line.
    Ended,
    /// An earlier line is wanted.
    Earlier,
    /// A later line is wanted.
    Later,
}

impl Line {
    pub(crate) fn new(text: &str) -> Self {
        let mut line = Self::default();
        line.replace(text);
        line
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text up to the cursor.
    pub(crate) fn before(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or_default()
    }

    fn behind(&self) -> &str {
        self.text.get(self.cursor..).unwrap_or_default()
    }

    pub(crate) fn replace(&mut self, text: &str) {
        self.text.zeroize();
        self.cursor = 0;
        self.insert(text);
    }

    /// Inserts text at the cursor. Control characters of a paste, but for line breaks, are left
    /// out.
    pub(crate) fn insert(&mut self, text: &str) {
        let mut after_return = false;
        for char in text.chars() {
            let is_second = std::mem::replace(&mut after_return, char == '\r') && char == '\n';
            let char = if char == '\r' { '\n' } else { char };
            let is_text = !char.is_control() || (char == '\n' && !is_second);
            if is_text && self.text.len() < LONGEST {
                self.reserve(char.len_utf8());
                self.text.insert(self.cursor, char);
                self.cursor += char.len_utf8();
            }
        }
    }

    /// Makes room without leaving a copy of the old text in memory.
    fn reserve(&mut self, more: usize) {
        if self.text.capacity() < self.text.len() + more {
            let mut larger = String::with_capacity((self.text.len() + more) * 2 + 64);
            larger.push_str(&self.text);
            self.text.zeroize();
            self.text = larger;
        }
    }

    pub(crate) fn press(&mut self, key: KeyEvent) -> Did {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        match key.code {
            KeyCode::Enter if alt => self.typed('\n'),
            KeyCode::Enter => Did::Entered,
            KeyCode::Char(char) if control => self.command(char),
            KeyCode::Char(char) if !alt => self.typed(char),
            KeyCode::Backspace if alt => self.delete(self.word_before()),
            KeyCode::Backspace => self.delete(self.one_before()),
            KeyCode::Delete => self.delete_behind(self.one_behind()),
            KeyCode::Left => self.go(self.cursor - self.one_before()),
            KeyCode::Right => self.go(self.cursor + self.one_behind()),
            KeyCode::Home => self.go(0),
            KeyCode::End => self.go(self.text.len()),
            KeyCode::Up => Did::Earlier,
            KeyCode::Down => Did::Later,
            _ => Did::Nothing,
        }
    }

    /// The keys that shells know.
    fn command(&mut self, char: char) -> Did {
        match char {
            'c' => Did::Interrupted,
            'd' if self.text.is_empty() => Did::Ended,
            'd' => self.delete_behind(self.one_behind()),
            // Enter, as it arrives when it was pressed before this program had the terminal.
            'j' | 'm' => Did::Entered,
            'a' => self.go(0),
            'e' => self.go(self.text.len()),
            'b' => self.go(self.cursor - self.one_before()),
            'f' => self.go(self.cursor + self.one_behind()),
            'h' => self.delete(self.one_before()),
            'w' => self.delete(self.word_before()),
            'u' => self.delete(self.cursor),
            'k' => self.delete_behind(self.behind().len()),
            'p' => Did::Earlier,
            'n' => Did::Later,
            _ => Did::Nothing,
        }
    }

    fn typed(&mut self, char: char) -> Did {
        self.insert(char.encode_utf8(&mut [0; 4]));
        Did::Changed
    }

    fn go(&mut self, to: usize) -> Did {
        self.cursor = to;
        Did::Changed
    }

    /// Deletes this many bytes before the cursor.
    fn delete(&mut self, bytes: usize) -> Did {
        self.cursor -= bytes;
        self.delete_behind(bytes)
    }

    fn delete_behind(&mut self, bytes: usize) -> Did {
        self.text.drain(self.cursor..self.cursor + bytes);
        Did::Changed
    }

    fn one_before(&self) -> usize {
        self.before()
            .graphemes(true)
            .next_back()
            .map_or(0, str::len)
    }

    fn one_behind(&self) -> usize {
        self.behind().graphemes(true).next().map_or(0, str::len)
    }

    fn word_before(&self) -> usize {
        let before = self.before();
        let word = before.trim_end();
        let start = word
            .char_indices()
            .rev()
            .find(|(_, char)| char.is_whitespace())
            .map_or(0, |(at, char)| at + char.len_utf8());
        before.len() - start
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.text.zeroize();
    }
}

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Line").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(line: &mut Line, keys: &[(KeyCode, KeyModifiers)]) -> Did {
        let mut did = Did::Nothing;
        for (code, modifiers) in keys {
            did = line.press(KeyEvent::new(*code, *modifiers));
        }
        did
    }

    const NONE: KeyModifiers = KeyModifiers::NONE;
    const CONTROL: KeyModifiers = KeyModifiers::CONTROL;

    #[test]
    fn keys_write_move_and_delete_whole_characters() {
        let mut line = Line::new("héllo 👩‍🍳");
        keys(&mut line, &[(KeyCode::Backspace, NONE)]);
        assert_eq!(line.text(), "héllo ");
        let left = (KeyCode::Left, NONE);
        keys(
            &mut line,
            &[left, left, left, left, left, (KeyCode::Delete, NONE)],
        );
        assert_eq!((line.text(), line.before()), ("hllo ", "h"));
        keys(
            &mut line,
            &[(KeyCode::Char('é'), NONE), (KeyCode::End, NONE)],
        );
        assert_eq!(line.before(), "héllo ");
    }

    #[test]
    fn the_keys_of_shells_work() {
        let mut line = Line::new("one two  ");
        keys(&mut line, &[(KeyCode::Char('w'), CONTROL)]);
        assert_eq!(line.text(), "one ");
        keys(
            &mut line,
            &[(KeyCode::Char('a'), CONTROL), (KeyCode::Char('k'), CONTROL)],
        );
        assert_eq!(line.text(), "");
        assert_eq!(
            keys(&mut line, &[(KeyCode::Char('d'), CONTROL)]),
            Did::Ended
        );
        assert_eq!(
            keys(&mut line, &[(KeyCode::Char('c'), CONTROL)]),
            Did::Interrupted
        );
        assert_eq!(keys(&mut line, &[(KeyCode::Enter, NONE)]), Did::Entered);
        assert_eq!(
            keys(&mut line, &[(KeyCode::Char('j'), CONTROL)]),
            Did::Entered
        );
        keys(&mut line, &[(KeyCode::Enter, KeyModifiers::ALT)]);
        assert_eq!(line.text(), "\n");
        keys(&mut line, &[(KeyCode::Backspace, NONE)]);
        for code in [
            KeyCode::Backspace,
            KeyCode::Delete,
            KeyCode::Left,
            KeyCode::Right,
        ] {
            keys(&mut line, &[(code, NONE)]);
            assert_eq!(line.text(), "");
        }
    }

    #[test]
    fn a_paste_keeps_its_lines_and_loses_its_escapes() {
        let mut line = Line::new("");
        line.insert("a\r\nb\x1b[31mc\rd");
        assert_eq!(line.text(), "a\nb[31mc\nd");
    }
}
