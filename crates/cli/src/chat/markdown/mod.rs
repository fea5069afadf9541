//! Markdown on a terminal while it arrives.
//!
//! Nothing is drawn twice: each line is told by its first characters, then its words go out as
//! they come. So the work is in proportion to the text, whatever its length, and what has
//! scrolled away stays right. What it costs: text that begins like emphasis and never ends is
//! shown as emphasis to the end of its paragraph.

mod inline;
mod start;

use std::io::Write;

use super::console::{Screen, Style};
use inline::Inline;
use start::{Start, start};

/// A line whose beginning can't be told within this many bytes is text.
const LONGEST_START: usize = 512;

/// A text in Markdown that arrives in pieces.
#[derive(Debug, Default)]
pub(super) struct Markdown {
    inline: Inline,
    /// The beginning of the line, while it is not told what it is.
    begun: String,
    line: Line,
    /// What closes the code block that is open.
    fence: Option<String>,
    /// A blank line is shown once, and only between other lines.
    is_blank: bool,
    has_text: bool,
}

/// What the line under way is.
#[derive(Debug, Default, PartialEq, Eq)]
enum Line {
    #[default]
    Untold,
    Text,
    Verbatim(Style),
}

impl Markdown {
    pub(super) fn push<W: Write>(&mut self, text: &str, screen: &mut Screen<W>) {
        for char in text.chars().filter(|char| *char != '\r') {
            match (char, &self.line) {
                ('\n', _) => self.end_line(screen),
                (char, Line::Text) => self.inline.push(char, screen),
                (char, Line::Verbatim(style)) => {
                    screen.verbatim(*style, char.encode_utf8(&mut [0; 4]));
                }
                (char, Line::Untold) => {
                    self.begun.push(char);
                    self.tell(false, screen);
                }
            }
        }
    }

    /// Ends the text.
    pub(super) fn finish<W: Write>(&mut self, screen: &mut Screen<W>) {
        if self.line != Line::Untold || !self.begun.is_empty() {
            self.end_line(screen);
        }
        self.inline.end(screen);
        screen.set_indent(0);
        screen.end_line();
        *self = Self::default();
    }

    fn end_line<W: Write>(&mut self, screen: &mut Screen<W>) {
        if self.line == Line::Untold {
            self.tell(true, screen);
        }
        match std::mem::take(&mut self.line) {
            Line::Untold => {}
            Line::Text => {
                self.inline.end_line(screen);
                screen.newline();
            }
            Line::Verbatim(_) => screen.newline(),
        }
    }

    /// Finds out what the line is, if its beginning says so already.
    fn tell<W: Write>(&mut self, whole: bool, screen: &mut Screen<W>) {
        if self.fence.is_some() {
            return self.tell_code(whole, screen);
        }
        let told = if self.begun.len() > LONGEST_START {
            Some((Start::Text, 0))
        } else {
            start(&self.begun, whole)
        };
        let Some((start, bytes)) = told else { return };
        let begun = std::mem::take(&mut self.begun);
        if start == Start::Blank {
            self.inline.end(screen);
            screen.set_indent(0);
            self.is_blank = self.has_text;
            return;
        }
        if std::mem::take(&mut self.is_blank) {
            screen.newline();
        }
        self.has_text = true;
        if start != Start::Text {
            self.inline.end(screen);
            screen.set_indent(0);
        }
        self.begin(start, screen);
        self.push(begun.get(bytes..).unwrap_or_default(), screen);
    }

    fn begin<W: Write>(&mut self, start: Start, screen: &mut Screen<W>) {
        self.line = Line::Text;
        match start {
            Start::Blank | Start::Text => {}
            Start::Heading(level) => {
                self.inline.base = Style {
                    underlined: level == 1,
                    ..Style::BOLD
                };
            }
            Start::Item(mark) => {
                screen.verbatim(Style::PLAIN, &mark);
                screen.set_indent(mark.chars().count());
            }
            Start::Quote => {
                screen.verbatim(Style::DIM, "│ ");
                screen.set_indent(2);
                self.inline.base = Style::DIM;
            }
            Start::Rule => screen.verbatim(Style::DIM, "───"),
            Start::Table => self.line = Line::Verbatim(Style::PLAIN),
            Start::Fence(fence) => {
                self.fence = Some(fence);
                self.line = Line::Untold;
                screen.set_indent(2);
            }
        }
    }

    /// A line of a code block goes out at once, unless it may be the end of the block.
    fn tell_code<W: Write>(&mut self, whole: bool, screen: &mut Screen<W>) {
        let Some(fence) = &self.fence else { return };
        let mark = fence.chars().next().unwrap_or_default();
        let body = self.begun.trim();
        let is_close = body.starts_with(fence.as_str()) && body.chars().all(|char| char == mark);
        let may_close = self.begun.len() <= LONGEST_START && body.chars().all(|char| char == mark);
        if whole && is_close {
            self.fence = None;
            self.begun.clear();
            screen.set_indent(0);
        } else if whole || !may_close {
            self.line = Line::Verbatim(Style::CODE);
            let begun = std::mem::take(&mut self.begun);
            screen.verbatim(Style::CODE, &begun);
        }
    }
}

#[cfg(test)]
mod tests;
