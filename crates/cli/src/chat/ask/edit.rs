//! Editing JSON: in the person's editor where there is one, else in a line.

use std::io::{Read, Seek, Write};
use std::process::Command;

use serde_json::Value;

use crate::chat::console::{Console, Reply, Style};

/// The largest file that is taken back, in bytes.
const LARGEST: u64 = 4 << 20;

/// Lets the person change a JSON text; `None`: they leave it.
pub(super) async fn json(console: &mut Console, text: &str) -> Option<Value> {
    let value = serde_json::from_str::<Value>(text);
    let editor = ["VISUAL", "EDITOR"].into_iter().find_map(|name| {
        let editor = std::env::var(name).ok();
        editor.filter(|editor| !editor.trim().is_empty())
    });
    let (pretty, short) = match &value {
        Ok(value) => (format!("{value:#}\n"), value.to_string()),
        Err(_) => (text.to_owned(), text.to_owned()),
    };
    let mut draft = match editor {
        None => short,
        Some(editor) => match console.lend(|| in_editor(&editor, &pretty)) {
            Ok(Ok(edited)) => match serde_json::from_str(&edited) {
                Ok(value) => return Some(value),
                Err(error) => {
                    complain(console, &error.to_string());
                    edited
                }
            },
            Ok(Err(error)) => {
                let line = format!("{editor:?} can't be used: {error}");
                console.screen.line(Style::BAD, &line);
                short
            }
            Err(_) => return None,
        },
    };
    loop {
        match console.ask("arguments > ", Style::ASKING, &draft).await {
            Reply::Line(line) => match serde_json::from_str(&line) {
                Ok(value) => return Some(value),
                Err(error) => {
                    complain(console, &error.to_string());
                    draft = line;
                }
            },
            Reply::Interrupted | Reply::Ended => return None,
        }
    }
}

fn complain(console: &mut Console, why: &str) {
    console
        .screen
        .line(Style::BAD, &format!("that is no JSON: {why}"));
}

/// Has a text edited in a file that only this user can read.
fn in_editor(editor: &str, text: &str) -> std::io::Result<String> {
    let mut file = tempfile::Builder::new()
        .prefix("antiphon-")
        .suffix(".json")
        .tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    // `EDITOR` may hold options, as in `code --wait`.
    let mut words = editor.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    let status = command.args(words).arg(file.path()).status()?;
    if !status.success() {
        return Err(std::io::Error::other(format!("it ended with {status}")));
    }
    // Editors may put another file in its place.
    let mut edited = std::fs::File::open(file.path())?;
    edited.rewind()?;
    let mut text = String::new();
    edited.take(LARGEST).read_to_string(&mut text)?;
    Ok(text)
}
