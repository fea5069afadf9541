//! `.env` files: lines `NAME=value`, maybe after `export`.
//!
//! A value in single quotes is taken as it is, one in double quotes knows `\n`, `\r`, `\t`, `\"`, `\\`
//! and `\$`; a bare one ends before ` #`. Nothing is expanded, and no value spans lines.

use std::collections::HashMap;

use super::variables::is_name;

/// Reads all lines.
///
/// # Errors
/// `LINE: what is wrong`, without the line's text.
pub(super) fn parse(text: &str) -> Result<HashMap<String, String>, String> {
    let mut values = HashMap::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, value) = assignment(line).map_err(|what| format!("{}: {what}", index + 1))?;
        values.insert(name, value);
    }
    Ok(values)
}

fn assignment(line: &str) -> Result<(String, String), &'static str> {
    let line = match line.strip_prefix("export") {
        Some(rest) if rest.starts_with([' ', '\t']) => rest.trim_start(),
        _ => line,
    };
    let (name, value) = line.split_once('=').ok_or("expected NAME=value")?;
    let name = name.trim_end();
    if !is_name(name) {
        return Err("the name before \"=\" must be letters, digits and \"_\"");
    }
    Ok((name.to_owned(), read_value(value.trim())?))
}

fn read_value(text: &str) -> Result<String, &'static str> {
    match text.chars().next() {
        Some('\'') => {
            let (value, after) = text[1..]
                .split_once('\'')
                .ok_or("the closing quote is missing")?;
            nothing_more(after)?;
            Ok(value.to_owned())
        }
        Some('"') => double_quoted(&text[1..]),
        _ => {
            let end = [" #", "\t#"]
                .iter()
                .filter_map(|mark| text.find(mark))
                .min();
            let bare = end.map_or(text, |end| &text[..end]);
            Ok(bare.trim_end().to_owned())
        }
    }
}

fn double_quoted(text: &str) -> Result<String, &'static str> {
    let mut value = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => {
                nothing_more(letters.as_str())?;
                return Ok(value);
            }
            '\\' => match letters.next() {
                Some('n') => value.push('\n'),
                Some('r') => value.push('\r'),
                Some('t') => value.push('\t'),
                Some(same @ ('"' | '\\' | '$')) => value.push(same),
                Some(other) => value.extend(['\\', other]),
                None => break,
            },
            other => value.push(other),
        }
    }
    Err("the closing quote is missing")
}

fn nothing_more(after: &str) -> Result<(), &'static str> {
    let after = after.trim_start();
    if after.is_empty() || after.starts_with('#') {
        Ok(())
    } else {
        Err("there is text after the closing quote")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_shells_and_docker_write_them() {
        let text = "\u{feff}# comment\n\nA=1\nexport B = two words # note\nC='it is # raw \\n'\nD=\"a\\nb \\\"c\\\" \\x\" # note\nE=\nF=a#b\r\nA=2\n";
        let values = parse(text).unwrap();
        let get = |name: &str| values.get(name).map(String::as_str);
        assert_eq!(get("A"), Some("2"));
        assert_eq!(get("B"), Some("two words"));
        assert_eq!(get("C"), Some("it is # raw \\n"));
        assert_eq!(get("D"), Some("a\nb \"c\" \\x"));
        assert_eq!(get("E"), Some(""));
        assert_eq!(get("F"), Some("a#b"));
    }

    #[test]
    fn errors_name_the_line_and_never_the_value() {
        for (text, start) in [
            ("A=1\nsecret words", "2: expected NAME=value"),
            ("A-B=secret", "1: the name"),
            ("A='secret", "1: the closing quote"),
            ("A=\"secret\\\"", "1: the closing quote"),
            ("A='x' secret", "1: there is text"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(start), "{text}: {error}");
            assert!(!error.contains("secret"));
        }
    }
}
