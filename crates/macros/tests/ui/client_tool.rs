use antiphon::prelude::*;

/// Do the page's work.
#[client_tool]
fn change_background(color: String) -> String {
    color
}

/// Take what the page does not have.
#[client_tool]
fn greet(run: RunContext<'_>) -> String;

/// Wait for nothing.
#[client_tool]
async fn wait() -> String;

fn main() {}
