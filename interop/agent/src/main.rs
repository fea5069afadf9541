//! The agent that other people's clients are tried on: every word it knows brings one situation of the
//! protocol, from plain text to an approval.
//!
//! It is set up by its environment, so that a test can start it in one line:
//!
//! | variable | what it says | without it |
//! | --- | --- | --- |
//! | `LISTEN` | where to listen | a free port of 127.0.0.1 |
//! | `ORIGINS` | origins whose pages may call, with commas between | none |
//! | `TOKENS` | `token=user` pairs, with commas between | everybody is one user |
//! | `STORE` | the file that keeps the threads | they are kept in memory |

mod model;
mod seen;
mod tools;

use std::io::Write;
use std::net::SocketAddr;

use antiphon::prelude::*;
use antiphon::protocol::{Event, EventType};
use antiphon::server::StaticTokens;
use antiphon::{Filter, Middleware, OnDisconnect, Outgoing};

use model::Witness;
use tools::{Desk, ask_the_old_way, delete_file, get_weather, update_recipe};

#[tokio::main]
async fn main() -> Result<()> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .init();
    let mut server = Server::new([agent()?]).cors(pieces("ORIGINS"));
    if let Some(tokens) = tokens()? {
        server = server.authenticator(tokens);
    }
    if let Ok(file) = std::env::var("STORE") {
        server = server.store(Sqlite::open(file).await?);
    }
    let address = std::env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:0".to_owned());
    let bound = server.bind(&address).await?;
    announce(bound.local_addr())?;
    bound.serve_until(told_to_stop()).await;
    Ok(())
}

fn agent() -> Result<Agent> {
    Ok(Agent::new("interop")
        .description("Shows each situation of the protocol on a word")
        .model(Witness::new()?)
        .state::<Desk>()
        .context(seen::provide)
        .predict("recipe", update_recipe.argument("recipe"))
        .tools((get_weather, update_recipe, delete_file, ask_the_old_way))
        .middleware(CountAnswers)
        .on_disconnect(OnDisconnect::Detach))
}

/// Counts in the shared state what the agent has said.
struct CountAnswers;

impl Middleware for CountAnswers {
    fn begin(&self, run: RunContext<'_>) -> Box<dyn Filter> {
        let mut turns = run.state::<Desk>().get().map_or(0, |desk| desk.turns);
        Box::new(move |event: Event, out: &mut Outgoing| {
            if event.kind() == EventType::TextMessageEnd {
                turns += 1;
                let counted = [("turns".to_owned(), turns.into())];
                out.change_state(StateChange::Merge(counted.into_iter().collect()));
            }
            out.send(event);
        })
    }
}

/// The parts of a variable that are not empty.
fn pieces(variable: &str) -> Vec<String> {
    let text = std::env::var(variable).unwrap_or_default();
    let parts = text.split(',').map(str::trim);
    parts
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

fn tokens() -> Result<Option<StaticTokens>> {
    let mut tokens = None;
    for piece in pieces("TOKENS") {
        if let Some((token, user)) = piece.split_once('=') {
            tokens = Some(tokens.unwrap_or_else(StaticTokens::new).user(token, user)?);
        }
    }
    Ok(tokens)
}

/// The one line for programs that start this one.
fn announce(address: SocketAddr) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "listening on http://{address}")?;
    Ok(out.flush()?)
}

/// SIGTERM.
async fn told_to_stop() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return std::future::pending().await;
    };
    terminate.recv().await;
}
