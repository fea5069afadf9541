//! What a thread is played on: a provider, a home and the server in it.

use serde_json::{Value, json};

use super::Step;
use crate::{
    agent::{self, AgentSpec},
    binary::{Home, Server, Store},
    provider::Provider,
};

/// The name of the agent in every agent file of a stage.
pub const AGENT: &str = "agent";

/// A provider, a home and the server that runs in it.
#[derive(Debug)]
pub struct Stage {
    /// The fake provider.
    pub provider: Provider,
    /// The folder of the server.
    pub home: Home,
    /// The server.
    pub server: Server,
    /// The agent.
    pub agent: AgentSpec,
}

/// How a stage differs from the plain one.
#[derive(Debug, Clone, Default)]
pub struct Setting {
    /// The store.
    pub store: Store,
    /// Members of the agent file beside the agent.
    pub top: Value,
    /// Variables of the process.
    pub env: Vec<(String, String)>,
    /// Arguments after `serve`.
    pub args: Vec<String>,
}

impl Stage {
    /// Starts a provider and a server with this agent.
    ///
    /// # Errors
    ///
    /// The server does not start.
    pub async fn new(agent: AgentSpec, setting: Setting) -> Step<Self> {
        let provider = Provider::start().await?;
        agent.teach(&provider);
        let top = if setting.top.is_null() {
            json!({})
        } else {
            setting.top
        };
        let file = agent::file(&[(AGENT, agent.entry(&provider.url()))], &top);
        let args: Vec<&str> = setting.args.iter().map(String::as_str).collect();
        let mut home = Home::new(&file)?.store(setting.store).args(&args);
        for (name, value) in &setting.env {
            home = home.env(name, value);
        }
        let server = home.serve().await?;
        Ok(Self {
            provider,
            home,
            server,
            agent,
        })
    }

    /// `kill -9`, and starts again in the same home.
    ///
    /// # Errors
    ///
    /// The server does not start.
    pub async fn kill_and_restart(&mut self) -> Step {
        self.server.kill().await?;
        self.restart().await
    }

    /// Starts a new server in the same home; the old one is gone.
    ///
    /// # Errors
    ///
    /// The server does not start.
    pub async fn restart(&mut self) -> Step {
        self.server = self.home.serve().await?;
        Ok(())
    }
}
