//! Looking at JSON text without parsing it.

/// Returns whether no value in the JSON text is nested deeper than `max`.
///
/// It reads the bytes once, without recursion and without checking that they are JSON, so a
/// hostile document costs nothing before it is refused. A scalar has depth 0, `[]` depth 1.
///
/// ```
/// use antiphon_protocol::depth_within;
///
/// assert!(depth_within(br#"{"a": ["[[[["]}"#, 2));
/// assert!(!depth_within(br#"{"a": [[]]}"#, 2));
/// ```
#[must_use]
pub fn depth_within(json: &[u8], max: usize) -> bool {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for byte in json {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => {
                depth += 1;
                if depth > max {
                    return false;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::depth_within;

    #[test]
    fn brackets_in_strings_do_not_count() {
        assert!(depth_within(br#""[[[[{{{{""#, 0));
        assert!(depth_within(br#"["\"[[[[", "\\"]"#, 1));
        assert!(!depth_within(br#"["\\", []]"#, 1));
    }

    #[test]
    fn the_limit_itself_is_within() {
        for depth in [0, 1, 2, 100] {
            let json = ["[".repeat(depth), "]".repeat(depth)].concat();
            assert!(depth_within(json.as_bytes(), depth));
            assert!(depth == 0 || !depth_within(json.as_bytes(), depth - 1));
        }
    }

    #[test]
    fn siblings_do_not_add_up_and_garbage_does_not_panic() {
        assert!(depth_within(b"[[],[],{},[{}]]", 3));
        assert!(depth_within(b"]]]]}}[", 1));
        assert!(depth_within(b"\xff\"\\", 0));
    }
}
