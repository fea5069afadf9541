//! Whether the JSON text read so far is a whole object or array. Looks at each byte once and keeps nothing.

/// Progress through one JSON value.
#[derive(Debug, Default)]
pub(super) struct Completeness {
    depth: usize,
    in_string: bool,
    escaped: bool,
    complete: bool,
}

impl Completeness {
    /// Reads more of the text.
    pub(super) fn push(&mut self, text: &str) {
        for byte in text.bytes() {
            if self.escaped {
                self.escaped = false;
            } else if self.in_string {
                match byte {
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
            } else {
                self.structure(byte);
            }
        }
    }

    /// Whether the outermost object or array has been closed.
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }

    fn structure(&mut self, byte: u8) {
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => {
                self.depth += 1;
                self.complete = false;
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.complete = self.depth == 0;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete(pieces: &[&str]) -> bool {
        let mut progress = Completeness::default();
        for piece in pieces {
            progress.push(piece);
        }
        progress.is_complete()
    }

    #[test]
    fn an_object_is_complete_with_its_last_brace() {
        assert!(complete(&["{\"a\":[", "1,{}]}"]));
        assert!(complete(&["{}"]));
        assert!(!complete(&["{\"a\":[1,{}]"]));
        assert!(!complete(&[""]));
    }

    #[test]
    fn braces_in_strings_do_not_count() {
        assert!(!complete(&["{\"a\":\"}\\", "\"}"]));
        assert!(complete(&["{\"a\":\"}\\\\", "\"}"]));
    }
}
