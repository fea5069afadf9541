use antiphon::prelude::*;

/// Borrow what a call can't lend.
#[tool]
async fn borrowing(title: &str, steps: &[String]) -> u8 {
    0
}

/// Take apart what has no name.
#[tool]
async fn nameless((x, y): (u8, u8)) -> u8 {
    0
}

struct Kitchen;

impl Kitchen {
    /// Hang on a value.
    #[tool]
    async fn method(&self) -> u8 {
        0
    }
}

/// Take anything.
#[tool]
async fn generic<T>(value: T) -> u8 {
    0
}

fn main() {}
