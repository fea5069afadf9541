//! Words that come from the other side, before they go into an error.

/// Returns the text on one line, without control characters, of at most `max` characters.
///
/// Errors are printed on terminals and written to logs: what a server says must not move a
/// cursor, start a line of its own or fill a disk.
pub(crate) fn clean(text: &str, max: usize) -> String {
    let words = text.trim();
    let mut clean: String = words
        .chars()
        .take(max)
        .map(|char| if char.is_control() { ' ' } else { char })
        .collect();
    if words.chars().nth(max).is_some() {
        clean.push('…');
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn control_characters_become_spaces() {
        assert_eq!(clean("a\x1b[2Jb\nc\u{9b}d", 100), "a [2Jb c d");
    }

    #[test]
    fn what_is_too_long_is_cut_between_characters() {
        assert_eq!(clean("日本語", 2), "日本…");
        assert_eq!(clean(" 日本 ", 2), "日本");
    }
}
