//! Finds the bytes of a string that are not themselves.

/// Returns how many bytes at the beginning stand for themselves within a JSON string: up to a
/// quote, a backslash or a control character.
///
/// Most bytes of most documents are within such runs. Blocks without an early exit become vector
/// instructions; only the last block is looked through byte by byte.
pub(crate) fn plain_len(bytes: &[u8]) -> usize {
    const BLOCK: usize = 16;
    let is_plain = |byte: &u8| (*byte >= 0x20) & (*byte != b'"') & (*byte != b'\\');
    let all_plain = |block: &&[u8]| block.iter().fold(true, |all, byte| all & is_plain(byte));
    let skipped = BLOCK * bytes.chunks_exact(BLOCK).take_while(all_plain).count();
    let rest = bytes.get(skipped..).unwrap_or_default();
    skipped + rest.iter().take_while(|byte| is_plain(byte)).count()
}

/// Returns the number of bytes that `text` takes within a JSON string as `serde_json` writes it.
pub(crate) fn escaped_len(text: &str) -> usize {
    let mut rest = text.as_bytes();
    let mut total = 0;
    loop {
        let plain = plain_len(rest);
        total += plain;
        let Some(special) = rest.get(plain) else {
            return total;
        };
        total += match special {
            b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0C => 2,
            _ => 6,
        };
        rest = rest.get(plain + 1..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_at_the_first_special_byte_wherever_it_is() {
        for special in [b'"', b'\\', 0, 0x1F, b'\n'] {
            for before in 0..70 {
                let mut bytes = vec![b'x'; 80];
                bytes[before] = special;
                assert_eq!(plain_len(&bytes), before);
            }
        }
        assert_eq!(plain_len("é\u{7f} ☃".as_bytes()), 7);
        assert_eq!(plain_len(b""), 0);
    }

    #[test]
    fn the_escaped_length_is_what_serde_json_writes() {
        let all: String = (0..0x300).filter_map(char::from_u32).collect();
        let written = serde_json::to_string(&all).unwrap();
        assert_eq!(escaped_len(&all), written.len() - 2);
    }
}
