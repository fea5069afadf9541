//! A server on a real socket, a client that shows every byte, and a model that says what a test tells
//! it to, when it tells it to.

pub(crate) mod client;
pub(crate) mod model;
pub(crate) mod provider;
pub(crate) mod script;
pub(crate) mod store;

use std::net::SocketAddr;
use std::time::Duration;

use antiphon_agent::Agent;
use antiphon_server::Server;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Longer than anything here takes; only a failing test waits for it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// A server that runs.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Running {
    pub(crate) async fn start(server: Server) -> Self {
        let bound = server.bind("127.0.0.1:0").await.unwrap();
        let address = bound.local_addr();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(bound.serve_until(async move {
            let _ = stopped.await;
        }));
        Self {
            address,
            stop: Some(stop),
            task,
        }
    }

    /// Tells the server to stop.
    pub(crate) fn shut_down(&mut self) {
        let _ = self.stop.take().map(|stop| stop.send(()));
    }

    /// Waits until it has.
    pub(crate) async fn stopped(mut self) {
        self.shut_down();
        within(self.task).await.unwrap();
    }
}

/// Fails when something takes too long.
pub(crate) async fn within<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(PATIENCE, future)
        .await
        .expect("it took too long")
}

/// Waits until a condition holds.
pub(crate) async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let waited = tokio::time::timeout(PATIENCE, async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    waited.await.unwrap_or_else(|_| panic!("never: {what}"));
}

/// A request with one user message.
pub(crate) fn input(thread: &str, run: &str, text: &str) -> Value {
    json!({
        "threadId": thread,
        "runId": run,
        "protocolVersion": "1.0",
        "state": {},
        "messages": [{ "id": format!("u-{run}"), "role": "user", "content": text }],
        "tools": [],
        "context": [],
        "forwardedProps": {},
    })
}

/// The agent that most tests serve.
pub(crate) fn agent(model: impl antiphon_model::Model) -> Agent {
    Agent::new("echo")
        .description("Says what it is told")
        .model(model)
}
