use antiphon::prelude::*;

#[derive(serde::Deserialize)]
struct Recipe;

#[derive(Debug)]
struct Unsaid;

/// Read a type that has no schema.
#[tool]
async fn unread(recipe: Recipe) -> u8 {
    0
}

/// Return what is no JSON.
#[tool]
async fn unwritten() -> Recipe {
    Recipe
}

/// Fail without words.
#[tool]
async fn unsaid() -> Result<u8, Unsaid> {
    Err(Unsaid)
}

fn main() {}
