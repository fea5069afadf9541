//! Characters that stand in for the signs of `${NAME}` while a file is parsed.
//!
//! In a flow collection such as `{ token: ${TOKEN} }` the braces of a variable would be YAML's. So
//! each sign of a well-formed `${NAME}` is one other character until the file is parsed: as many
//! characters as before, so that places stay right, and none that means something to YAML.

use super::tree::{Content, Node};
use super::variables::is_name;

/// The signs of a variable, in the order of the characters that stand in for them.
const SIGNS: [char; 3] = ['$', '{', '}'];
/// The private-use characters of the basic plane: YAML takes them for letters.
const PRIVATE_USE: std::ops::RangeInclusive<char> = '\u{e000}'..='\u{f8ff}';

/// The characters that stand in for `$`, `{` and `}` in one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StandIns([char; 3]);

impl StandIns {
    /// Three characters that the text neither holds nor writes as an escape; `None` where it leaves no
    /// three of them.
    pub(super) fn for_text(text: &str) -> Option<Self> {
        let lowercase = text.to_ascii_lowercase();
        let is_free =
            |sign: &char| !text.contains(*sign) && !lowercase.contains(&hex_digits(*sign));
        let mut free = PRIVATE_USE.filter(is_free);
        Some(Self([free.next()?, free.next()?, free.next()?]))
    }

    /// The text with these characters in the place of each variable's signs.
    pub(super) fn put_into(self, text: &str) -> String {
        let [dollar, open, close] = self.0;
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            out.push_str(before);
            let named = after.split_once('}').filter(|(name, _)| is_name(name));
            rest = match named {
                Some((name, after)) => {
                    out.extend([dollar, open]);
                    out.push_str(name);
                    out.push(close);
                    after
                }
                None => {
                    out.push_str("${");
                    after
                }
            };
        }
        out.push_str(rest);
        out
    }

    /// The text with the signs back in their place.
    pub(super) fn taken_from(self, text: &str) -> String {
        let sign = |letter: char| {
            let stands_for = self.0.iter().position(|own| *own == letter);
            stands_for.and_then(|at| SIGNS.get(at)).copied()
        };
        text.chars()
            .map(|letter| sign(letter).unwrap_or(letter))
            .collect()
    }

    /// A sentence with the signs back in their place. It may quote a text, which escapes characters that
    /// nobody can see.
    pub(super) fn taken_from_quotes(self, sentence: &str) -> String {
        let own = self.0.into_iter().zip(SIGNS);
        own.fold(self.taken_from(sentence), |sentence, (own, sign)| {
            let escaped = own.escape_debug().to_string();
            sentence.replace(&escaped, sign.encode_utf8(&mut [0; 4]))
        })
    }

    /// Puts the signs back into all strings and keys of a tree.
    pub(super) fn take_from(self, node: &mut Node) {
        match &mut node.content {
            Content::Text(text) => text.text = self.taken_from(&text.text),
            Content::List(items) => items.iter_mut().for_each(|item| self.take_from(item)),
            Content::Map(entries) => {
                for entry in entries {
                    entry.key = self.taken_from(&entry.key);
                    self.take_from(&mut entry.value);
                }
            }
            Content::Null | Content::Bool(_) | Content::Number(_) => {}
        }
    }
}

/// How an escape such as `"\ue000"` writes a character.
fn hex_digits(letter: char) -> String {
    format!("{:x}", u32::from(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sign_has_one_character_in_its_place() {
        let text = "a: ${A} $${B} ${ ${} ${1} ${A-B} ${C";
        let signs = StandIns::for_text(text).unwrap();
        let put = signs.put_into(text);
        assert_eq!(put.chars().count(), text.chars().count());
        assert_eq!(
            put,
            "a: \u{e000}\u{e001}A\u{e002} $\u{e000}\u{e001}B\u{e002} ${ ${} ${1} ${A-B} ${C"
        );
        assert_eq!(signs.taken_from(&put), text);
    }

    #[test]
    fn characters_of_the_text_are_left_alone() {
        let text = "\u{e000} \"\\uE001\" \\U0000e002";
        let StandIns(chosen) = StandIns::for_text(text).unwrap();
        assert_eq!(chosen, ['\u{e003}', '\u{e004}', '\u{e005}']);
        let all: String = PRIVATE_USE.collect();
        assert_eq!(StandIns::for_text(&all), None);
    }
}
