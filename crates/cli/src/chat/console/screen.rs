//! Writing to a terminal: words that wrap, and a line for progress that goes away again.
//!
//! Everything is appended, nothing that was said is drawn again: so it works in every terminal,
//! at any length, and the scroll-back holds what was said. The one exception is the line for
//! progress, which is only there while the cursor stands at the start of a line.

use std::io::{self, Write};

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::clean::clean;
use super::style::Style;

/// The narrowest width that text is wrapped to.
const MIN_WIDTH: usize = 20;
/// A word that is longer than this is printed before its end is there.
const LONGEST_WORD: usize = 4096;

/// What the terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Looks {
    /// Columns.
    pub(crate) width: usize,
    /// Whether styles are shown.
    pub(crate) styled: bool,
    /// Whether a line can be taken back, as that for progress is.
    pub(crate) moves: bool,
    /// How a line ends: raw terminals need a carriage return.
    pub(crate) newline: &'static str,
}

/// A terminal to write to. What could not be written is kept as the first error, and everything
/// after it is dropped.
#[derive(Debug)]
pub(crate) struct Screen<W> {
    out: W,
    looks: Looks,
    /// Columns that are filled in the current line.
    column: usize,
    /// Columns that a wrapped line begins with.
    indent: usize,
    /// The word that is not complete yet, and its columns.
    word: Vec<(Style, String)>,
    word_width: usize,
    /// Whether a space goes before the word.
    space: bool,
    has_status: bool,
    failed: Option<io::Error>,
}

impl<W: Write> Screen<W> {
    pub(crate) fn new(out: W, looks: Looks) -> Self {
        Self {
            out,
            looks,
            column: 0,
            indent: 0,
            word: Vec::new(),
            word_width: 0,
            space: false,
            has_status: false,
            failed: None,
        }
    }

    pub(crate) fn looks(&self) -> Looks {
        self.looks
    }

    /// Takes note of another size of the terminal.
    pub(crate) fn resize(&mut self, width: usize) {
        self.looks.width = width;
    }

    pub(crate) fn width(&self) -> usize {
        self.looks.width.max(MIN_WIDTH)
    }

    /// Returns whether the cursor is at the start of a line, with nothing held back.
    pub(crate) fn is_at_start(&self) -> bool {
        self.column == 0 && self.word.is_empty()
    }

    /// Sets where lines begin that text wraps into.
    pub(crate) fn set_indent(&mut self, columns: usize) {
        self.indent = columns.min(self.width() / 2);
    }

    /// Writes text, wrapped between words. The last word is held back until it is complete.
    pub(crate) fn write(&mut self, style: Style, text: &str) {
        for part in clean(text).split_word_bounds() {
            match part {
                "\n" => self.newline(),
                space if space.chars().all(char::is_whitespace) => {
                    self.flush_word();
                    self.space = self.column > 0;
                }
                part => {
                    self.word_width += part.width();
                    match self.word.last_mut() {
                        Some((last, word)) if *last == style => word.push_str(part),
                        _ => self.word.push((style, part.to_owned())),
                    }
                    // Lines may break after each character of scripts that put no spaces.
                    let is_wide = part.width() >= 2 * part.chars().count();
                    if is_wide || self.word_width > LONGEST_WORD {
                        self.flush_word();
                    }
                }
            }
        }
    }

    /// Writes text as it is, spaces included, broken where the line is full.
    pub(crate) fn verbatim(&mut self, style: Style, text: &str) {
        self.flush_word();
        if std::mem::take(&mut self.space) {
            self.put(Style::PLAIN, " ");
        }
        for (number, line) in clean(text).split('\n').enumerate() {
            if number > 0 {
                self.newline();
            }
            self.put_broken(style, line);
        }
    }

    /// Writes a line of its own.
    pub(crate) fn line(&mut self, style: Style, text: &str) {
        self.end_line();
        self.write(style, text);
        self.newline();
    }

    /// Writes a line of its own, below what it belongs to.
    pub(crate) fn indented(&mut self, style: Style, text: &str) {
        self.end_line();
        self.set_indent(2);
        self.write(style, text);
        self.newline();
        self.set_indent(0);
    }

    /// Ends the line that is under way, if there is one.
    pub(crate) fn end_line(&mut self) {
        self.flush_word();
        if self.column > 0 {
            self.newline();
        }
    }

    pub(crate) fn newline(&mut self) {
        self.flush_word();
        self.hide_status();
        self.raw(self.looks.newline);
        self.column = 0;
        self.space = false;
    }

    /// Shows progress, where the cursor is at the start of a line and the terminal can.
    pub(crate) fn status(&mut self, text: &str) {
        if !self.looks.moves || !self.is_at_start() {
            return;
        }
        let text = clean(text);
        let room = self.width() - 1;
        let mut line = String::new();
        let mut width = 0;
        for part in text.graphemes(true).filter(|part| *part != "\n") {
            width += part.width();
            if width > room {
                break;
            }
            line.push_str(part);
        }
        let (on, off) = if self.looks.styled {
            (Style::DIM.sequence(), "\x1b[0m")
        } else {
            (String::new(), "")
        };
        self.raw(&format!("\r\x1b[2K{on}{line}{off}"));
        self.has_status = true;
        self.flush();
    }

    /// Takes the line for progress away.
    pub(crate) fn hide_status(&mut self) {
        if std::mem::take(&mut self.has_status) {
            self.raw("\r\x1b[2K");
        }
    }

    /// Writes sequences of this program's own.
    pub(crate) fn raw(&mut self, text: &str) {
        if self.failed.is_none()
            && let Err(error) = self.out.write_all(text.as_bytes())
        {
            self.failed = Some(error);
        }
    }

    /// Hands on what was written.
    pub(crate) fn flush(&mut self) {
        if self.failed.is_none()
            && let Err(error) = self.out.flush()
        {
            self.failed = Some(error);
        }
    }

    /// Returns why nothing can be written any more, once.
    pub(crate) fn take_error(&mut self) -> Option<io::Error> {
        self.failed.take()
    }

    /// Writes the word that was held back.
    pub(crate) fn flush_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        let width = std::mem::take(&mut self.word_width);
        let space = std::mem::take(&mut self.space);
        if word.is_empty() {
            self.space = space;
            return;
        }
        let needed = width + usize::from(space);
        if self.column > self.indent && self.column + needed > self.width() {
            self.newline();
        } else if space {
            self.put(Style::PLAIN, " ");
        }
        for (style, text) in &word {
            self.put_broken(*style, text);
        }
    }

    /// Writes text that may be longer than the line.
    fn put_broken(&mut self, style: Style, text: &str) {
        let mut part = String::new();
        let mut width = 0;
        for grapheme in text.graphemes(true) {
            let more = grapheme.width();
            if self.column.max(self.indent) + width + more > self.width() {
                self.put(style, &part);
                self.newline();
                (part, width) = (String::new(), 0);
            }
            part.push_str(grapheme);
            width += more;
        }
        self.put(style, &part);
    }

    fn put(&mut self, style: Style, text: &str) {
        if text.is_empty() {
            return;
        }
        self.hide_status();
        if self.column == 0 && self.indent > 0 {
            self.raw(&" ".repeat(self.indent));
            self.column = self.indent;
        }
        self.column += text.width();
        let sequence = if self.looks.styled {
            style.sequence()
        } else {
            String::new()
        };
        self.raw(&sequence);
        self.raw(text);
        if !sequence.is_empty() {
            self.raw("\x1b[0m");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(width: usize, styled: bool) -> Screen<Vec<u8>> {
        let newline = "\n";
        Screen::new(
            Vec::new(),
            Looks {
                width,
                styled,
                moves: styled,
                newline,
            },
        )
    }

    fn shown(screen: Screen<Vec<u8>>) -> String {
        String::from_utf8(screen.out).unwrap()
    }

    #[test]
    fn lines_wrap_between_words_however_they_arrive() {
        let text = "one two three four five six seven eight";
        let expected = "one two three four\nfive six seven eight\n";
        for size in 1..text.len() {
            let mut screen = screen(20, false);
            for piece in text.as_bytes().chunks(size) {
                screen.write(Style::PLAIN, str::from_utf8(piece).unwrap());
            }
            screen.end_line();
            assert_eq!(shown(screen), expected, "in pieces of {size}");
        }
    }

    #[test]
    fn wide_characters_take_two_columns_and_long_words_are_broken() {
        let mut screen = screen(20, false);
        screen.write(Style::PLAIN, &"漢".repeat(11));
        screen.end_line();
        assert_eq!(shown(screen), format!("{}\n漢\n", "漢".repeat(10)));
    }

    #[test]
    fn wrapped_lines_are_indented() {
        let mut screen = screen(20, false);
        screen.verbatim(Style::PLAIN, "- ");
        screen.set_indent(2);
        screen.write(Style::PLAIN, "a list item that is wrapped");
        screen.end_line();
        assert_eq!(shown(screen), "- a list item that\n  is wrapped\n");
    }

    #[test]
    fn progress_goes_away_before_the_next_text_and_is_only_for_terminals() {
        let mut terminal = screen(20, true);
        terminal.status("working on a very long thing");
        terminal.write(Style::PLAIN, "hi ");
        terminal.status("not in the middle of a line");
        assert_eq!(
            shown(terminal),
            "\r\x1b[2K\x1b[2mworking on a very l\x1b[0m\r\x1b[2Khi"
        );
        let mut colourless = screen(20, false);
        colourless.looks.moves = true;
        colourless.status("working");
        colourless.hide_status();
        assert_eq!(shown(colourless), "\r\x1b[2Kworking\r\x1b[2K");
        let mut plain = screen(20, false);
        plain.status("working");
        plain.line(Style::BAD, "no colour");
        assert_eq!(shown(plain), "no colour\n");
    }

    #[test]
    fn escape_sequences_of_others_are_not_passed_on() {
        let mut screen = screen(40, true);
        screen.write(Style::PLAIN, "a\x1b[2Jb ");
        screen.verbatim(Style::PLAIN, "c\x1b]52;c;eA==\x07d");
        assert_eq!(shown(screen), "a[2Jb c]52;c;eA==d");
    }
}
