//! What a person sees of Markdown, whole and in pieces.

use super::*;
use crate::chat::console::Looks;

const ALL: &str = "# Title\nSome **bold**, *slanted* and `code`, a [link](https://x.example/a_b).\n\n\n- one\n  - two\n1. three\n\n> said\n\n```rust\nlet a = b * c;\n\n  indented\n```\n| a | b |\n|---|---|\nsnake_case 2 * 3 \\*no\\* ![cat](c.png) [ ] todo\n---\nend";

fn shown(pieces: &[&str], styled: bool) -> String {
    let looks = Looks {
        width: 60,
        styled,
        moves: false,
        newline: "\n",
    };
    let mut out = Vec::new();
    let mut screen = Screen::new(&mut out, looks);
    let mut markdown = Markdown::default();
    for piece in pieces {
        markdown.push(piece, &mut screen);
    }
    markdown.finish(&mut screen);
    drop(screen);
    String::from_utf8(out).unwrap()
}

#[test]
fn all_of_it_reads_well_without_styles() {
    let expected = "Title
Some bold, slanted and code, a link (https://x.example/a_b).

• one
  • two
1. three

│ said

  let a = b * c;

    indented
| a | b |
|---|---|
snake_case 2 * 3 *no* image: cat (c.png) [ ] todo
───
end
";
    assert_eq!(shown(&[ALL], false), expected);
}

#[test]
fn it_looks_the_same_however_it_arrives() {
    let whole = shown(&[ALL], true);
    for size in 1..40 {
        let bytes = ALL.as_bytes().chunks(size);
        let pieces: Vec<&str> = bytes.map(|piece| str::from_utf8(piece).unwrap()).collect();
        assert_eq!(
            plain(&shown(&pieces, true)),
            plain(&whole),
            "in pieces of {size}"
        );
    }
}

/// Styles without where they begin and end again in the same style.
fn plain(text: &str) -> String {
    text.replace("\x1b[0m\x1b[36m", "")
        .replace("\x1b[0m\x1b[1;4m", "")
}

#[test]
fn emphasis_is_shown_and_its_marks_are_not() {
    assert_eq!(shown(&["a **b** c"], true), "a \x1b[1mb\x1b[0m c\n");
    assert_eq!(
        shown(&["*b*, `x*y`"], true),
        "\x1b[3mb\x1b[0m, \x1b[36mx*y\x1b[0m\n"
    );
    assert_eq!(shown(&["***b***"], true), "\x1b[1;3mb\x1b[0m\n");
    assert_eq!(
        shown(&["**open\n\nplain"], true),
        "\x1b[1mopen\x1b[0m\n\nplain\n"
    );
}

#[test]
fn what_only_looks_like_markup_is_kept() {
    for text in [
        "2 * 3 * 4",
        "a_b_c",
        "5*6",
        "[x] y",
        "[a](b c)",
        "wow!",
        "a ! b",
        "(1)",
        "#1",
        "C:\\dir",
    ] {
        assert_eq!(shown(&[text], false), format!("{text}\n"));
    }
}

#[test]
fn text_goes_out_before_its_paragraph_ends() {
    let looks = Looks {
        width: 60,
        styled: false,
        moves: false,
        newline: "\n",
    };
    let mut out = Vec::new();
    let mut screen = Screen::new(&mut out, looks);
    let mut markdown = Markdown::default();
    markdown.push("one two thr", &mut screen);
    drop(screen);
    assert_eq!(String::from_utf8(out).unwrap(), "one two");
}

#[test]
fn escape_sequences_in_any_place_are_dropped() {
    let hostile =
        "\x1b[2Jx\n```\n\x1b]0;t\x07\n```\n[a\x1b[1m](http://\x1b[0m)\n| \u{9b}31m\n\u{9b}2J";
    let shown = shown(&[hostile], false);
    assert!(
        !shown.contains(|char: char| char.is_control() && char != '\n'),
        "{shown:?}"
    );
}

#[test]
fn work_is_in_proportion_to_the_text() {
    let brackets = "[".repeat(100_000);
    let stars = "*".repeat(100_000);
    let ticks = "`".repeat(100_000);
    for text in [brackets, stars, ticks] {
        let began = std::time::Instant::now();
        shown(&[&text], false);
        assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
    }
}
