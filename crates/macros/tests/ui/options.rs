use antiphon::prelude::*;

/// Misspell.
#[tool(approvl)]
async fn misspelt() {}

/// Say it twice.
#[tool(idempotent, idempotent)]
async fn twice() {}

/// Wait for an unknown time.
#[tool(timeout = "30")]
async fn unitless() {}

/// Ask about nothing.
#[tool(approval(message = "Delete customer {di}?"))]
async fn delete_customer(id: u32) {}

/// Call it what no provider takes.
#[tool(name = "delete customer")]
async fn spaced() {}

/// Retry what the page does.
#[client_tool(idempotent)]
fn paint(color: String);

fn main() {}
