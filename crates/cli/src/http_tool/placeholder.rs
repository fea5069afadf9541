//! `{name}` in a text.

/// A text that is cut at its placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Text as it is.
    Text(String),
    /// The name of an argument.
    Name(String),
}

/// Cuts a text at its placeholders. Braces around anything but a name are text.
pub(super) fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut plain = String::new();
    while let Some((before, after)) = rest.split_once('{') {
        plain.push_str(before);
        match after.split_once('}').filter(|(name, _)| is_name(name)) {
            Some((name, after)) => {
                if !plain.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut plain)));
                }
                pieces.push(Piece::Name(name.to_owned()));
                rest = after;
            }
            None => {
                plain.push('{');
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        pieces.push(Piece::Text(plain));
    }
    pieces
}

/// The names of a text's placeholders, in order.
pub(crate) fn names_in(text: &str) -> Vec<&str> {
    let after_braces = text.split('{').skip(1);
    after_braces
        .filter_map(|after| after.split_once('}'))
        .map(|(name, _)| name)
        .filter(|name| is_name(name))
        .collect()
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_are_placeholders() {
        let text = |text: &str| Piece::Text(text.to_owned());
        let name = |name: &str| Piece::Name(name.to_owned());
        assert_eq!(
            pieces("/a/{b}/{c_1}"),
            [text("/a/"), name("b"), text("/"), name("c_1")]
        );
        assert_eq!(pieces("{a}{b}"), [name("a"), name("b")]);
        assert_eq!(pieces("{} {1} {a b} {"), [text("{} {1} {a b} {")]);
        assert_eq!(pieces("{{a}}"), [text("{"), name("a"), text("}")]);
        assert_eq!(pieces(""), []);
        assert_eq!(
            names_in("Delete {id} of {user}? {no thing}"),
            ["id", "user"]
        );
    }
}
