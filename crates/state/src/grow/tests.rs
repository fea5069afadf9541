//! What is shown while text arrives, and what is refused.

use serde_json::{Value, json};

use super::*;

/// Pushes `text` byte by byte and returns every tree that was shown, without repetitions.
fn shown(text: &str) -> Vec<Value> {
    let mut json = GrowingJson::new();
    let mut shown: Vec<Value> = Vec::new();
    for byte in text.bytes() {
        json.push([byte]).unwrap();
        let Some(value) = json.value() else { continue };
        if shown.last() != Some(value) {
            shown.push(value.clone());
        }
    }
    shown
}

/// The reason why `text` is refused; it is the same however it is cut.
fn refused(text: impl AsRef<[u8]>) -> GrowReason {
    let text = text.as_ref();
    assert!(serde_json::from_slice::<Value>(text).is_err());
    let reason = |size: usize| {
        let mut json = GrowingJson::new();
        for fragment in text.chunks(size) {
            if let Err(error) = json.push(fragment) {
                return error.reason;
            }
        }
        json.finish().unwrap_err().reason
    };
    let whole = reason(text.len().max(1));
    assert_eq!(reason(1), whole);
    whole
}

#[test]
fn strings_grow_and_numbers_appear_whole() {
    assert_eq!(
        shown(r#"{"a": "xy", "n": 125, "t": true}"#),
        [
            json!({}),
            json!({"a": ""}),
            json!({"a": "x"}),
            json!({"a": "xy"}),
            json!({"a": "xy", "n": 125}),
            json!({"a": "xy", "n": 125, "t": true}),
        ]
    );
}

#[test]
fn half_an_escape_is_held_back() {
    assert_eq!(
        shown(r#""a\n\u00e9\\""#),
        [
            json!(""),
            json!("a"),
            json!("a\n"),
            json!("a\né"),
            json!("a\né\\")
        ]
    );
}

#[test]
fn half_a_surrogate_pair_is_held_back() {
    assert_eq!(
        shown(r#""\ud83d\ude80!""#),
        [json!(""), json!("🚀"), json!("🚀!")]
    );
}

#[test]
fn half_a_utf8_sequence_is_held_back() {
    assert_eq!(
        shown("\"é東🚀\""),
        [json!(""), json!("é"), json!("é東"), json!("é東🚀")]
    );
}

#[test]
fn a_key_is_held_back_until_its_value_begins() {
    assert_eq!(shown(r#"{"key": ["#), [json!({}), json!({"key": []})]);
    assert_eq!(shown(r#"{"key": 1"#), [json!({})]);
}

#[test]
fn a_number_at_the_end_is_whole_when_the_text_ends() {
    let mut json = GrowingJson::new();
    json.push(" -1.5e").unwrap();
    json.push("3").unwrap();
    assert_eq!(json.value(), None);
    assert_eq!(json.finish(), Ok(json!(-1500.0)));
}

#[test]
fn the_last_of_two_equal_keys_wins_in_the_place_of_the_first() {
    let text = r#"{"a": "old", "b": 1, "a": ["new", {"a": 1, "a": 2}], "c": 3}"#;
    let steps = shown(text);
    assert!(steps.contains(&json!({"a": ["ne"], "b": 1})));
    let last = steps.last().unwrap();
    assert_eq!(last, &serde_json::from_str::<Value>(text).unwrap());
    assert_eq!(last.to_string(), r#"{"a":["new",{"a":2}],"b":1,"c":3}"#);
}

#[test]
fn growth_is_told_in_order() {
    let mut json = GrowingJson::new();
    let mut told = Vec::new();
    for fragment in [r#"{"a"#, r#"": ["x\n"#, r#"y", 1], "#, r#""a": nu"#, "ll}"] {
        json.push_with(fragment, &mut |growth| told.push(format!("{growth:?}")))
            .unwrap();
    }
    assert_eq!(
        told,
        [
            r#"Begun { place: Root, value: Object {}, again: false }"#,
            r#"Begun { place: Member("a"), value: Array [], again: false }"#,
            r#"Begun { place: Element(0), value: String(""), again: false }"#,
            r#"Grown("x\n")"#,
            r#"Grown("y")"#,
            r#"Ended"#,
            r#"Begun { place: Element(1), value: Number(1), again: false }"#,
            r#"Ended"#,
            r#"Begun { place: Member("a"), value: Null, again: true }"#,
            r#"Ended"#,
        ]
    );
}

#[test]
fn text_that_is_not_json_is_refused_with_its_reason() {
    use GrowReason as Reason;
    for empty in ["", " \n\t\r"] {
        assert_eq!(refused(empty), Reason::Empty);
    }
    for early in [
        "{",
        "[1",
        "[1,",
        "\"a",
        "{\"a\"",
        "{\"a\":",
        "\"\\ud83d",
        "[\"\\u00",
    ] {
        assert_eq!(refused(early), Reason::EndsEarly, "{early}");
    }
    for number in ["01", "-", "1.", ".5e"].iter().take(3) {
        assert_eq!(refused(number), Reason::Number, "{number}");
    }
    for number in ["-01", "1e", "1e999", "--1", "1.2.3", "0x10", "1true"] {
        assert_eq!(refused(format!("[{number}]")), Reason::Number, "{number}");
    }
    for literal in ["nul", "truest", "fals ", "nulll", "tRue"] {
        assert_eq!(refused(literal), Reason::Literal, "{literal}");
    }
    for value in [
        "NaN",
        "Infinity",
        "+1",
        ".5",
        "'a'",
        "/* */ 1",
        "é",
        "\u{feff}1",
        "\u{a0}1",
    ] {
        assert_eq!(refused(value), Reason::Expected("a value"), "{value}");
    }
    for trailing in ["1 2", "{} {}", "[]]", "\"\" x", "null,"] {
        assert_eq!(refused(trailing), Reason::Trailing, "{trailing}");
    }
    for control in ["\"\n\"", "\"a\0b\"", "{\"\t\":1}", "\"\u{1f}\""] {
        assert_eq!(refused(control), Reason::ControlCharacter, "{control}");
    }
    for escape in [
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"\\'\"",
        "\"\\u+123\"",
        "\"\\é\"",
    ] {
        assert_eq!(refused(escape), Reason::Escape, "{escape}");
    }
    for lone in [
        r#""\ud83d""#,
        r#""\ud83dx""#,
        r#""\ud83d\n""#,
        r#""\ud83d\ud83d""#,
        r#""\ude80""#,
        r#""\ud83d\u0041""#,
        r#"{"\ud83d":1}"#,
    ] {
        assert_eq!(refused(lone), Reason::LoneSurrogate, "{lone}");
    }
    assert_eq!(refused("[1,]"), Reason::Expected("a value"));
    assert_eq!(refused("{\"a\":1,}"), Reason::Expected("a key"));
    assert_eq!(refused("{\"a\" 1}"), Reason::Expected("a colon"));
    assert_eq!(refused("[1}"), Reason::Expected("a comma or the end"));
    assert_eq!(refused("{\"a\":1]"), Reason::Expected("a comma or the end"));
    assert_eq!(
        refused("{1:1}"),
        Reason::Expected("a key or the end of the object")
    );
    assert_eq!(refused(b"\"\xff\""), Reason::NotUtf8);
    assert_eq!(refused(b"\"\xe6\x9d"), Reason::NotUtf8);
    assert_eq!(refused(b"\"\xe6\x9d\""), Reason::NotUtf8);
}

#[test]
fn nesting_ends_where_serde_json_ends_it() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let mut json = GrowingJson::new();
    json.push(nested(MAX_DEPTH)).unwrap();
    assert_eq!(json.finish().unwrap().to_string(), nested(MAX_DEPTH));
    assert_eq!(
        refused(nested(MAX_DEPTH + 1)),
        GrowReason::TooDeep(MAX_DEPTH)
    );

    let mut shallow = GrowingJson::with_max_depth(2);
    let error = shallow.push(r#"{"a": [1, {"#).unwrap_err();
    assert_eq!(
        error.to_string(),
        "not JSON at byte 10: arrays and objects are nested deeper than 2"
    );
}

#[test]
fn after_an_error_the_tree_stays_and_the_error_repeats() {
    let mut json = GrowingJson::new();
    let error = json.push(r#"{"a": "b", "c": ]"#).unwrap_err();
    assert_eq!(error.to_string(), "not JSON at byte 16: expected a value");
    assert_eq!(json.push("1}"), Err(error.clone()));
    assert_eq!(json.error(), Some(&error));
    assert_eq!(json.value(), Some(&json!({"a": "b"})));
    assert_eq!(json.finish(), Err(error));
}

#[test]
fn an_early_end_is_told_from_wrong_text() {
    let mut json = GrowingJson::new();
    json.push(r#"{"a": "b"#).unwrap();
    assert!(json.finish().unwrap_err().is_early_end());
    assert!(GrowingJson::new().finish().unwrap_err().is_early_end());
    assert!(!GrowingJson::new().push("x").unwrap_err().is_early_end());
}
