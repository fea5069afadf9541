//! Drawing a line while it is written, over as many rows as it takes.

use std::io::Write;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::clean::clean;
use super::line::Line;
use super::screen::Screen;
use super::style::Style;

/// Where the last drawing has left the cursor.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    /// The cursor's row, counted from the first row of the prompt.
    row: usize,
}

impl Drawing {
    /// Draws prompt and line in place of what was drawn before.
    pub(super) fn draw<W: Write>(
        &mut self,
        prompt: &str,
        style: Style,
        line: &Line,
        screen: &mut Screen<W>,
    ) {
        let width = screen.width();
        let (end_row, _) = place(prompt, line.text(), width);
        let (row, column) = place(prompt, line.before(), width);
        self.clear(screen);
        let sequence = if screen.looks().styled {
            style.sequence()
        } else {
            String::new()
        };
        screen.raw(&sequence);
        screen.raw(&clean(prompt));
        if !sequence.is_empty() {
            screen.raw("\x1b[0m");
        }
        let rows = rows(prompt, line.text(), width);
        for (number, text) in rows.iter().enumerate() {
            if number > 0 {
                screen.raw("\r\n");
            }
            screen.raw(text);
        }
        if end_row > row {
            screen.raw(&format!("\x1b[{}A", end_row - row));
        }
        screen.raw("\r");
        if column > 0 {
            screen.raw(&format!("\x1b[{column}C"));
        }
        self.row = row;
        screen.flush();
    }

    /// Takes the drawing away.
    pub(super) fn clear<W: Write>(&mut self, screen: &mut Screen<W>) {
        if self.row > 0 {
            screen.raw(&format!("\x1b[{}A", self.row));
        }
        screen.raw("\r\x1b[J");
        self.row = 0;
    }

    /// Leaves the drawing as it is and goes to the line below it.
    pub(super) fn leave<W: Write>(&mut self, prompt: &str, line: &Line, screen: &mut Screen<W>) {
        let (end_row, _) = place(prompt, line.text(), screen.width());
        if end_row > self.row {
            screen.raw(&format!("\x1b[{}B", end_row - self.row));
        }
        screen.raw("\r\n");
        screen.flush();
        self.row = 0;
    }
}

/// Splits the text into the rows that it takes behind a prompt.
fn rows(prompt: &str, text: &str, width: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    let mut column = prompt.width();
    for grapheme in text.graphemes(true) {
        let columns = grapheme.width();
        if grapheme == "\n" || column + columns > width {
            rows.push(String::new());
            column = 0;
        }
        if grapheme != "\n" {
            if let Some(row) = rows.last_mut() {
                row.push_str(grapheme);
            }
            column += columns;
        }
    }
    // A cursor behind the last column belongs to the next row.
    if column >= width {
        rows.push(String::new());
    }
    rows
}

/// Where the cursor stands behind this text.
fn place(prompt: &str, text: &str, width: usize) -> (usize, usize) {
    let rows = rows(prompt, text, width);
    let last = rows.last().map_or(0, |row| row.width());
    let column = if rows.len() == 1 {
        prompt.width() + last
    } else {
        last
    };
    (rows.len() - 1, column)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::console::Looks;

    #[test]
    fn long_lines_take_more_rows() {
        assert_eq!(place("> ", "abc", 20), (0, 5));
        assert_eq!(place("> ", &"x".repeat(18), 20), (1, 0));
        assert_eq!(place("> ", &"x".repeat(19), 20), (1, 1));
        assert_eq!(place("> ", "a\nbc", 20), (1, 2));
        assert_eq!(place("> ", &"漢".repeat(10), 20), (1, 2));
    }

    #[test]
    fn drawing_again_takes_the_old_drawing_away() {
        let looks = Looks {
            width: 20,
            styled: false,
            moves: false,
            newline: "\r\n",
        };
        let mut out = Vec::new();
        let mut screen = Screen::new(&mut out, looks);
        let mut drawing = Drawing::default();
        drawing.draw("> ", Style::PLAIN, &Line::new(&"x".repeat(19)), &mut screen);
        drawing.draw("> ", Style::PLAIN, &Line::new("y"), &mut screen);
        drop(screen);
        let out = String::from_utf8(out).unwrap();
        let again = format!(
            "\r\x1b[J> {}\r\nx\r\x1b[1C\x1b[1A\r\x1b[J> y\r\x1b[3C",
            "x".repeat(18)
        );
        assert_eq!(out, again);
    }
}
