//! How a line begins, as soon as that can be told.

/// What a line is, by its first characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Start {
    Blank,
    /// Its level, 1 to 6.
    Heading(usize),
    /// What stands before the item, with the spaces that nest it.
    Item(String),
    Quote,
    Rule,
    /// The characters that close the block.
    Fence(String),
    Table,
    Text,
}

/// Tells what a line is that begins like this, and how many bytes of it say so. `None`: it takes
/// more characters to tell. `whole` is whether there are no more.
pub(super) fn start(line: &str, whole: bool) -> Option<(Start, usize)> {
    let body = line.trim_start_matches(' ');
    let spaces = line.len() - body.len();
    let Some(first) = body.chars().next() else {
        return whole.then_some((Start::Blank, line.len()));
    };
    let told = match first {
        '#' => heading(body),
        '-' | '*' | '+' | '_' => bullet(body, first, spaces, whole),
        '0'..='9' => number(body, spaces),
        '`' | '~' => fence(body, first, whole),
        '>' => quote(body),
        '|' => Told::Is(Start::Table, 0),
        _ => Told::Text,
    };
    match told {
        Told::Is(start, bytes) => Some((start, spaces + bytes)),
        Told::Text => Some((Start::Text, spaces)),
        Told::NotYet if whole => Some((Start::Text, spaces)),
        Told::NotYet => None,
    }
}

enum Told {
    Is(Start, usize),
    Text,
    NotYet,
}

/// How many of this character the text begins with, and the character behind them.
fn run(text: &str, of: char) -> (usize, Option<char>) {
    let rest = text.trim_start_matches(of);
    let count = (text.len() - rest.len()) / of.len_utf8();
    (count, rest.chars().next())
}

fn heading(body: &str) -> Told {
    match run(body, '#') {
        (level @ 1..=6, Some(' ')) => Told::Is(Start::Heading(level), level + 1),
        (1..=6, None) => Told::NotYet,
        _ => Told::Text,
    }
}

fn bullet(body: &str, mark: char, spaces: usize, whole: bool) -> Told {
    let (count, next) = run(body, mark);
    match (count, next) {
        (1, Some(' ')) if mark != '_' => Told::Is(Start::Item(format!("{:spaces$}• ", "")), 2),
        (3.., None) if whole && mark != '+' => Told::Is(Start::Rule, body.len()),
        (_, None) => Told::NotYet,
        _ => Told::Text,
    }
}

fn number(body: &str, spaces: usize) -> Told {
    let digits = body.chars().take_while(char::is_ascii_digit).count();
    let rest = body.get(digits..).unwrap_or_default();
    let mut behind = rest.chars();
    match (digits, behind.next(), behind.next()) {
        (1..=9, Some(mark @ ('.' | ')')), Some(' ')) => {
            let number = body.get(..digits).unwrap_or_default();
            let item = format!("{:spaces$}{number}{mark} ", "");
            Told::Is(Start::Item(item), digits + 2)
        }
        (1..=9, None, _) | (1..=9, Some('.' | ')'), None) => Told::NotYet,
        _ => Told::Text,
    }
}

fn fence(body: &str, mark: char, whole: bool) -> Told {
    let (count, next) = run(body, mark);
    match (count, next) {
        (..3, None) => Told::NotYet,
        (3.., _) => {
            let info = body.get(count..).unwrap_or_default();
            if mark == '`' && info.contains('`') {
                Told::Text
            } else if whole {
                Told::Is(Start::Fence(mark.to_string().repeat(count)), body.len())
            } else {
                Told::NotYet
            }
        }
        _ => Told::Text,
    }
}

fn quote(body: &str) -> Told {
    match body.chars().nth(1) {
        None => Told::NotYet,
        Some(' ') => Told::Is(Start::Quote, 2),
        Some(_) => Told::Is(Start::Quote, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> Start {
        start(line, true).unwrap().0
    }

    #[test]
    fn lines_are_told_apart() {
        assert_eq!(told("## x"), Start::Heading(2));
        assert_eq!(told("#hashtag"), Start::Text);
        assert_eq!(told("####### x"), Start::Text);
        assert_eq!(told("  - x"), Start::Item("  • ".to_owned()));
        assert_eq!(told("12. x"), Start::Item("12. ".to_owned()));
        assert_eq!(told("1.5 litres"), Start::Text);
        assert_eq!(told("**bold**"), Start::Text);
        assert_eq!(told("---"), Start::Rule);
        assert_eq!(told("--flag"), Start::Text);
        assert_eq!(told("> x"), Start::Quote);
        assert_eq!(told("```rust"), Start::Fence("```".to_owned()));
        assert_eq!(told("```inline```"), Start::Text);
        assert_eq!(told("| a | b |"), Start::Table);
        assert_eq!(told("   "), Start::Blank);
        assert_eq!(told("-"), Start::Text);
    }

    #[test]
    fn a_line_is_told_as_early_as_can_be() {
        for early in ["# ", "- ", "a", "1. ", "**b", "> "] {
            assert!(start(early, false).is_some(), "{early:?}");
        }
        for late in ["", "#", "-", "*", "1", "1.", "``", "```ru", ">", "---"] {
            assert!(start(late, false).is_none(), "{late:?}");
        }
    }
}
