//! Turns a JSON object that arrives in pieces into JSON Patch operations, one per leaf: the least that
//! still shows a page the state as it grows.

/// A growing string is sent again once it has grown by this part of what was sent.
const GROWTH: usize = 64;

enum At {
    Between,
    Key,
    Text,
    /// In a number, `true`, `false` or `null`.
    Word,
}

struct Container {
    /// Length of the path that leads to the container.
    path: usize,
    /// The index of the next element; absent in an object.
    next: Option<usize>,
}

/// Reads one object.
pub struct Leaves {
    at: At,
    /// Bytes that still belong to an escape.
    escape: u8,
    open: Vec<Container>,
    path: String,
    key_next: bool,
    token: String,
    /// How much of the growing string was sent.
    sent: Option<usize>,
}

impl Default for Leaves {
    fn default() -> Self {
        Self {
            at: At::Between,
            escape: 0,
            open: vec![],
            path: String::new(),
            key_next: false,
            token: String::new(),
            sent: None,
        }
    }
}

impl Leaves {
    /// Reads on; appends operations to `out`, separated by commas.
    pub fn read(&mut self, piece: &str, out: &mut String) {
        for c in piece.chars() {
            match self.at {
                At::Word if matches!(c, ',' | ']' | '}' | ' ' | '\n') => {
                    operation(out, "add", &self.path, &self.token);
                    self.at = At::Between;
                    self.between(c, out);
                }
                At::Word => self.token.push(c),
                At::Between => self.between(c, out),
                At::Key | At::Text => self.quoted(c, out),
            }
        }
        let grown = self.sent.is_none_or(|sent| self.token.len() > sent + sent / GROWTH);
        if matches!(self.at, At::Text) && self.escape == 0 && grown && !ends_in_high_surrogate(&self.token) {
            self.text(out);
        }
    }

    fn between(&mut self, c: char, out: &mut String) {
        match c {
            '{' | '[' => {
                if !self.open.is_empty() {
                    self.step();
                    operation(out, "add", &self.path, if c == '{' { "{}" } else { "[]" });
                }
                self.open.push(Container { path: self.path.len(), next: (c == '[').then_some(0) });
                self.key_next = c == '{';
            }
            '}' | ']' => drop(self.open.pop()),
            ',' => self.key_next = self.open.last().is_some_and(|container| container.next.is_none()),
            '"' => {
                self.token.clear();
                self.sent = None;
                self.at = if std::mem::take(&mut self.key_next) { At::Key } else { At::Text };
                if matches!(self.at, At::Text) {
                    self.step();
                }
            }
            ':' | ' ' | '\n' => {}
            first => {
                self.step();
                self.token.clear();
                self.token.push(first);
                self.at = At::Word;
            }
        }
    }

    /// Puts the path at the value that begins; in an object its key has done so.
    fn step(&mut self) {
        let Some(Container { path, next: Some(next) }) = self.open.last_mut() else { return };
        self.path.truncate(*path);
        self.path.push('/');
        self.path.push_str(&next.to_string());
        *next += 1;
    }

    fn quoted(&mut self, c: char, out: &mut String) {
        match (self.escape, c) {
            (0, '"') if matches!(self.at, At::Key) => {
                let path = self.open.last().map_or(0, |container| container.path);
                self.path.truncate(path);
                self.path.push('/');
                self.path.push_str(&self.token.replace('~', "~0").replace('/', "~1"));
                self.at = At::Between;
                return;
            }
            (0, '"') => {
                self.text(out);
                self.at = At::Between;
                return;
            }
            (0, '\\') => self.escape = 1,
            (0, _) => {}
            (1, 'u') => self.escape = 4,
            (left, _) => self.escape = left - 1,
        }
        self.token.push(c);
    }

    /// Sends the string as far as it is there; its text is still escaped as JSON.
    fn text(&mut self, out: &mut String) {
        if self.sent == Some(self.token.len()) {
            return;
        }
        let op = if self.sent.is_none() { "add" } else { "replace" };
        operation(out, op, &self.path, &format!("\"{}\"", self.token));
        self.sent = Some(self.token.len());
    }
}

fn ends_in_high_surrogate(text: &str) -> bool {
    let tail = text.len().checked_sub(6).and_then(|at| text.get(at..)).and_then(|tail| tail.strip_prefix("\\u"));
    tail.and_then(|hex| u32::from_str_radix(hex, 16).ok()).is_some_and(|unit| (0xd800..0xdc00).contains(&unit))
}

fn operation(out: &mut String, op: &str, path: &str, value: &str) {
    let comma = if out.is_empty() { "" } else { "," };
    for part in [comma, r#"{"op":""#, op, r#"","path":""#, path, r#"","value":"#, value, "}"] {
        out.push_str(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Turn;
    use serde_json::{Value, json};

    fn replay(text: &str, size: usize) -> (Value, usize) {
        let (mut leaves, mut state, mut bytes) = (Leaves::default(), json!({}), 0);
        let letters: Vec<char> = text.chars().collect();
        for piece in letters.chunks(size) {
            let mut out = String::new();
            leaves.read(&piece.iter().collect::<String>(), &mut out);
            bytes += out.len();
            let operations: json_patch::Patch = serde_json::from_str(&format!("[{out}]")).expect("a patch");
            json_patch::patch(&mut state, &operations).expect("it applies");
        }
        (state, bytes)
    }

    #[test]
    fn the_state_follows_the_text_however_it_is_cut() {
        let odd =
            r#"{"a":{"b/c":[1,-2.5e3,true,null,"x\"\\\u00e9\ud83e\udd55\n"],"~d":{}},"e":[[],[{"f":"g"}]],"h":""}"#;
        let (_, recipe) = Turn::Recipe(2048).call().expect("a call");
        for text in [odd, &recipe] {
            for size in 1..30 {
                assert_eq!(replay(text, size).0, serde_json::from_str::<Value>(text).expect("JSON"), "{size}");
            }
        }
    }

    #[test]
    fn bytes_grow_with_the_text_and_not_with_its_square() {
        let (_, document) = Turn::Document(65536).call().expect("a call");
        assert!(replay(&document, 4).1 < (GROWTH + 6) * document.len());
    }
}
