//! A value that must be found nowhere, in any of the forms in which it might slip out.

use std::path::Path;

use serde_json::json;

/// The letters of base64.
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A marked value with its disguises.
#[derive(Debug, Clone)]
pub struct Secret {
    forms: Vec<(&'static str, String)>,
}

impl Secret {
    /// An ASCII value of at least twelve characters.
    pub fn new(value: &str) -> Self {
        let reversed: String = value.chars().rev().collect();
        let middle = value.len() / 2;
        let half = |text: &str, range: (usize, usize)| {
            let half = text.get(range.0..range.1).unwrap_or_default();
            half.to_owned()
        };
        let json = json!(value).to_string();
        let json = json.trim_matches('"');
        let mut forms = vec![
            ("plain", value.to_owned()),
            ("JSON-escaped", json.to_owned()),
            (
                "JSON-escaped twice",
                json!(json).to_string().trim_matches('"').to_owned(),
            ),
            ("URL-encoded", url_encoded(value)),
            ("hexadecimal", hex(value.as_bytes())),
            ("first half", half(value, (0, middle))),
            ("second half", half(value, (middle, value.len()))),
            ("first half reversed", half(&reversed, (0, middle))),
            (
                "second half reversed",
                half(&reversed, (middle, value.len())),
            ),
        ];
        // In base64 a text looks different at each of three offsets; its inner letters are the same.
        for offset in 0..3 {
            forms.push(("base64", base64_core(value.as_bytes(), offset)));
        }
        for (_, form) in &mut forms {
            form.make_ascii_lowercase();
        }
        Self { forms }
    }

    /// The forms in which the value occurs in these bytes, in any case.
    pub fn found_in(&self, bytes: &[u8]) -> Vec<&'static str> {
        let text = String::from_utf8_lossy(bytes).to_ascii_lowercase();
        let found = self.forms.iter().filter(|(_, form)| text.contains(form));
        found.map(|(name, _)| *name).collect()
    }

    /// Looks into every file of a folder; says which file holds which form.
    ///
    /// # Errors
    ///
    /// A file cannot be read.
    pub fn found_in_files(&self, folder: &Path) -> std::io::Result<Vec<String>> {
        let mut out = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                out.extend(self.found_in_files(&path)?);
                continue;
            }
            let forms = self.found_in(&std::fs::read(&path)?);
            out.extend(
                forms
                    .iter()
                    .map(|form| format!("{form} in {}", path.display())),
            );
        }
        Ok(out)
    }
}

fn url_encoded(value: &str) -> String {
    let encode = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    value.bytes().map(encode).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The letters that a text contributes alone to the base64 of whatever it stands in, when so many
/// bytes (modulo three) stand before it.
fn base64_core(bytes: &[u8], offset: usize) -> String {
    let bits: Vec<bool> = bytes
        .iter()
        .flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1))
        .collect();
    // The first letter that holds no bit of what stands before.
    let skipped = (6 - offset * 8 % 6) % 6;
    let whole = bits.get(skipped..).unwrap_or_default().chunks_exact(6);
    whole
        .filter_map(|six| {
            let index = six.iter().fold(0, |sum, bit| sum * 2 + usize::from(*bit));
            BASE64.get(index).copied().map(char::from)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_in_every_disguise() {
        let secret = Secret::new("CANARY-\"9f3\"-zeroize");
        for (disguised, form) in [
            ("x CANARY-\"9f3\"-zeroize", "plain"),
            (r#"{"a":"CANARY-\"9f3\"-zeroize"}"#, "JSON-escaped"),
            ("?q=CANARY-%229f3%22-zeroize", "URL-encoded"),
            ("43414e4152592d22396633222d7a65726f697a65", "hexadecimal"),
            ("eziorez-\"3", "first half reversed"),
            // base64 of the value with no, one and two bytes before it
            ("Q0FOQVJZLSI5ZjMiLXplcm9pemU=", "base64"),
            ("eENBTkFSWS0iOWYzIi16ZXJvaXpl", "base64"),
            ("eHhDQU5BUlktIjlmMyItemVyb2l6ZQ==", "base64"),
        ] {
            let found = secret.found_in(disguised.as_bytes());
            assert!(found.contains(&form), "{disguised}: {found:?}");
        }
        assert!(secret.found_in(b"CANARIES and zeros").is_empty());
    }
}
