//! Arguments of tool calls as models write them, of any size.

use serde_json::{Value, json};

/// A recipe with as many ingredients as fit: `{"recipe": {"title", "ingredients": [...]}}`.
pub(crate) fn recipe(bytes: usize) -> Value {
    let mut ingredients = Vec::new();
    let mut written = 60;
    while written < bytes {
        let index = ingredients.len();
        let ingredient = json!({
            "name": format!("item {index}"),
            "amount": index * 3,
            "fresh": index.is_multiple_of(2),
            "note": "as ripe as possible",
        });
        written += ingredient.to_string().len() + 1;
        ingredients.push(ingredient);
    }
    json!({"recipe": {"title": "Big", "ingredients": ingredients}})
}

/// A report that is one long string: `{"document": "..."}`.
pub(crate) fn report(bytes: usize) -> Value {
    let mut text = String::new();
    for line in 0.. {
        if text.len() >= bytes {
            break;
        }
        text.push_str(&format!("A line of the report, number {line:05}.\n"));
    }
    text.truncate(bytes);
    json!({"document": text})
}

/// Cuts a text into fragments of `size` bytes; the texts here are ASCII.
pub(crate) fn fragments(text: &str, size: usize) -> impl Iterator<Item = &str> {
    (0..text.len())
        .step_by(size)
        .filter_map(move |start| text.get(start..(start + size).min(text.len())))
}
