//! Text of others, made safe for a terminal.
//!
//! What a model or a server says may hold escape sequences: they could move the cursor, retitle
//! the window, write to the clipboard, or show an approval for something else than what is
//! asked. So no control character of theirs is ever printed.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Returns the text without control characters, but for line breaks. Tabs become spaces.
///
/// Marks that turn the direction of writing go too: they make a text read otherwise than it is.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\t' => cleaned.push_str("    "),
            '\u{2028}' | '\u{2029}' => cleaned.push('\n'),
            char if is_unsafe(char) => {}
            char => cleaned.push(char),
        }
    }
    Cow::Owned(cleaned)
}

/// Returns the text cleaned and in one line, cut to this many columns with a note of how many
/// characters are left out.
pub(crate) fn fold(text: &str, room: usize) -> String {
    let cleaned = clean(text);
    let words = cleaned.split_whitespace();
    let line = words.collect::<Vec<_>>().join(" ");
    if line.width() <= room {
        return line;
    }
    let length = line.chars().count();
    let note = |left_out: usize| format!("… (+{left_out} characters)");
    // As wide as the note can become.
    let mut left = room.saturating_sub(note(length).width());
    let mut start = String::new();
    for grapheme in line.graphemes(true) {
        if grapheme.width() > left {
            break;
        }
        left -= grapheme.width();
        start.push_str(grapheme);
    }
    let left_out = length - start.chars().count();
    format!("{start}{}", note(left_out))
}

fn is_unsafe(char: char) -> bool {
    let is_control = char.is_control() && char != '\n';
    let breaks_line = matches!(char, '\u{2028}' | '\u{2029}');
    let turns = matches!(char, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    is_control || breaks_line || turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_escape_sequence_survives() {
        assert_eq!(
            clean("a\x1b[31mred\x1b]0;title\x07\u{9b}2J\r\x08\x7fb"),
            "a[31mred]0;title2Jb"
        );
        assert_eq!(clean("user\u{202e}gnp.exe\u{2066}"), "usergnp.exe");
        assert!(matches!(clean("plain\nübung 🍝"), Cow::Borrowed(_)));
        assert_eq!(clean("a\tb\u{2028}c"), "a    b\nc");
    }

    #[test]
    fn long_texts_are_folded_into_one_line() {
        assert_eq!(fold("{\n  \"a\": 1\n}", 40), "{ \"a\": 1 }");
        let folded = fold(&"x".repeat(100), 30);
        assert_eq!(folded, "xxxxxxxxxxx… (+89 characters)");
        assert!(fold(&"漢".repeat(50), 30).width() <= 30);
    }
}
