//! An axum application that has an agent: both work on the same notes.

use std::sync::{Arc, Mutex, PoisonError};

use antiphon::prelude::*;
use axum::{Json, Router, extract, routing::get};
use tokio::net::TcpListener;

/// The application's own data.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn add(&self, text: String) -> usize {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notes.push(text);
        notes.len()
    }

    fn all(&self) -> Vec<String> {
        let notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notes.clone()
    }
}

/// Write a note down.
#[tool]
async fn add_note(text: String, notes: Resource<Notes>) -> String {
    format!("Note {} is written.", notes.add(text))
}

async fn list(extract::State(notes): extract::State<Notes>) -> Json<Vec<String>> {
    Json(notes.all())
}

#[tokio::main]
async fn main() -> Result<()> {
    tracing_subscriber::fmt().init();
    let listener = TcpListener::bind("127.0.0.1:3000").await?;
    axum::serve(listener, app()?).await?;
    Ok(())
}

fn app() -> Result<Router> {
    let notes = Notes::default();
    let script: Script = serde_json::from_str(include_str!("script.json"))?;
    let agent = Agent::new("secretary")
        .model(ScriptModel::new("secretary", script))
        .resource(notes.clone())
        .tools(add_note);
    Ok(Router::new()
        .route("/notes", get(list))
        .with_state(notes)
        .nest("/api", antiphon::router(Server::new([agent]))?))
}

#[cfg(test)]
mod tests;
