//! What is inside of a line: emphasis, code, links. Told as the characters come; only what may
//! still become a link or a mark is held back.

use std::io::Write;

use crate::chat::console::{Screen, Style};

/// A link whose end does not come within this many bytes is none.
const LONGEST_LINK: usize = 2048;

/// The text of a paragraph as it arrives.
#[derive(Debug, Default)]
pub(super) struct Inline {
    /// How everything looks: a heading is bold.
    pub(super) base: Style,
    bold: bool,
    italic: bool,
    /// How many backticks close the code that is open.
    code: Option<usize>,
    /// A run of marks, or what may become a link.
    held: String,
    escaped: bool,
    /// The character before the held ones.
    last: Option<char>,
}

impl Inline {
    pub(super) fn push<W: Write>(&mut self, char: char, screen: &mut Screen<W>) {
        if self.escaped {
            self.escaped = false;
            if !char.is_ascii_punctuation() {
                self.put("\\", screen);
            }
            return self.put(char.encode_utf8(&mut [0; 4]), screen);
        }
        match self.held.chars().next() {
            Some('[' | '!') => self.hold_link(char, screen),
            Some(mark) if mark == char => self.held.push(char),
            Some(mark) => {
                let count = std::mem::take(&mut self.held).len();
                self.mark(mark, count, Some(char), screen);
                self.push(char, screen);
            }
            None => match char {
                '`' => self.held.push(char),
                '*' | '_' | '[' | '!' if self.code.is_none() => self.held.push(char),
                '\\' if self.code.is_none() => self.escaped = true,
                char => self.put(char.encode_utf8(&mut [0; 4]), screen),
            },
        }
    }

    /// Ends a line: a link or a mark does not go on in the next one, emphasis does.
    pub(super) fn end_line<W: Write>(&mut self, screen: &mut Screen<W>) {
        if std::mem::take(&mut self.escaped) {
            self.put("\\", screen);
        }
        // What was held for a link may hold marks itself, hence the loop.
        while let Some(mark) = self.held.chars().next() {
            match mark {
                '[' | '!' => self.release(screen),
                mark => {
                    let count = std::mem::take(&mut self.held).len();
                    self.mark(mark, count, None, screen);
                }
            }
        }
        self.last = None;
    }

    /// Ends a paragraph: everything that is open is closed.
    pub(super) fn end<W: Write>(&mut self, screen: &mut Screen<W>) {
        self.end_line(screen);
        *self = Self::default();
    }

    /// Takes a run of marks for what it is, given what comes behind it.
    fn mark<W: Write>(
        &mut self,
        mark: char,
        count: usize,
        next: Option<char>,
        screen: &mut Screen<W>,
    ) {
        let run = mark.to_string().repeat(count);
        if mark == '`' {
            match self.code {
                None => self.code = Some(count),
                Some(open) if open == count => self.code = None,
                Some(_) => self.put(&run, screen),
            }
            return;
        }
        let opens = next.is_some_and(|next| !next.is_whitespace());
        let closes = self.last.is_some_and(|last| !last.is_whitespace());
        let is_alphanumeric = |char: Option<char>| char.is_some_and(char::is_alphanumeric);
        let in_word = is_alphanumeric(self.last) && is_alphanumeric(next);
        let is_literal = in_word && (mark == '_' || count == 1);
        let toggle = |open: &mut bool| {
            let turns = if *open { closes } else { opens };
            *open ^= turns;
            turns
        };
        let is_taken = !is_literal
            && match count {
                1 => toggle(&mut self.italic),
                2 => toggle(&mut self.bold),
                3 => toggle(&mut self.bold) | toggle(&mut self.italic),
                _ => false,
            };
        if !is_taken {
            self.put(&run, screen);
        }
    }

    fn hold_link<W: Write>(&mut self, char: char, screen: &mut Screen<W>) {
        self.held.push(char);
        match link(&self.held) {
            Link::Whole { text, url, image } => {
                let label = if image {
                    format!("image: {text}")
                } else {
                    text.to_owned()
                };
                let url = if url == text {
                    String::new()
                } else {
                    format!(" ({url})")
                };
                self.held.clear();
                let style = Style {
                    bold: self.base.bold || self.bold,
                    ..Style::LINK
                };
                screen.write(style, &label);
                screen.write(Style::DIM, &url);
                self.last = Some(')');
            }
            Link::None => self.release(screen),
            Link::NotYet if self.held.len() > LONGEST_LINK => self.release(screen),
            Link::NotYet => {}
        }
    }

    /// Takes what was held as no link: its first character is text, the others are looked at
    /// again.
    fn release<W: Write>(&mut self, screen: &mut Screen<W>) {
        let held = std::mem::take(&mut self.held);
        let mut chars = held.chars();
        if let Some(first) = chars.next() {
            self.put(first.encode_utf8(&mut [0; 4]), screen);
        }
        for char in chars {
            self.push(char, screen);
        }
    }

    fn put<W: Write>(&mut self, text: &str, screen: &mut Screen<W>) {
        let style = match self.code {
            Some(_) => Style {
                bold: self.base.bold,
                ..Style::CODE
            },
            None => Style {
                bold: self.base.bold || self.bold,
                italic: self.base.italic || self.italic,
                ..self.base
            },
        };
        self.last = text.chars().next_back();
        screen.write(style, text);
    }
}

enum Link<'a> {
    Whole {
        text: &'a str,
        url: &'a str,
        image: bool,
    },
    NotYet,
    None,
}

/// Reads `[text](url)` or `![text](url)`.
fn link(held: &str) -> Link<'_> {
    let image = held.starts_with('!');
    let body = held.strip_prefix('!').unwrap_or(held);
    let Some(body) = body.strip_prefix('[') else {
        return if body.is_empty() {
            Link::NotYet
        } else {
            Link::None
        };
    };
    let Some((text, behind)) = body.split_once(']') else {
        return if body.contains('[') {
            Link::None
        } else {
            Link::NotYet
        };
    };
    let Some(url) = behind.strip_prefix('(') else {
        return if behind.is_empty() {
            Link::NotYet
        } else {
            Link::None
        };
    };
    match url.strip_suffix(')') {
        _ if url.contains(char::is_whitespace) || text.is_empty() => Link::None,
        Some(url) => Link::Whole { text, url, image },
        None => Link::NotYet,
    }
}
