//! What all handlers share.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use antiphon_agent::{BuiltAgent, Runtime};
use tokio::sync::OnceCell;

use crate::auth::Authenticator;
use crate::edge::host::Hosts;
use crate::edge::site::Origins;
use crate::error::ApiError;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::runs::Runs;
use crate::waits::deliver_kept;

/// One server's agents, runs and rules.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) agents: Agents,
    pub(crate) runtime: Runtime,
    pub(crate) runs: Arc<Runs>,
    pub(crate) limits: Limits,
    pub(crate) heartbeat: Duration,
    pub(crate) hosts: Hosts,
    pub(crate) origins: Origins,
    pub(crate) authenticator: Arc<dyn Authenticator>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) recovered: OnceCell<()>,
}

/// The agents that are served.
#[derive(Debug)]
pub(crate) struct Agents {
    by_name: HashMap<String, Arc<BuiltAgent>>,
    /// As they were given.
    in_order: Vec<Arc<BuiltAgent>>,
    default: Arc<BuiltAgent>,
}

impl Agents {
    pub(crate) fn new(in_order: Vec<Arc<BuiltAgent>>, default: Arc<BuiltAgent>) -> Self {
        let named = |agent: &Arc<BuiltAgent>| (agent.name().to_owned(), Arc::clone(agent));
        Self {
            by_name: in_order.iter().map(named).collect(),
            in_order,
            default,
        }
    }

    pub(crate) fn get(&self, name: &str) -> Result<&Arc<BuiltAgent>, ApiError> {
        self.by_name
            .get(name)
            .ok_or_else(|| ApiError::not_found("agent"))
    }

    pub(crate) fn default(&self) -> &Arc<BuiltAgent> {
        &self.default
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<BuiltAgent>> {
        self.in_order.iter()
    }

    /// How large a state may be before any of them has run in its thread, in bytes: any of them may be
    /// the one that does.
    pub(crate) fn state_bytes(&self) -> usize {
        let limits = self.iter().map(|agent| agent.limits().state_bytes);
        limits.max().unwrap_or_default()
    }
}

impl App {
    /// Waits until what a crash left behind is decided. The first caller starts that; while the store
    /// is away it is tried again with each call.
    pub(crate) async fn ready(self: &Arc<Self>) -> Result<(), ApiError> {
        let recover = || async {
            let app = Arc::clone(self);
            // On its own task: a caller that leaves must not leave a thread half claimed.
            let recovered = self.runs.tasks().spawn(async move { app.recover().await });
            recovered
                .await
                .unwrap_or_else(|_| Err(ApiError::internal()))
        };
        self.recovered.get_or_try_init(recover).await.copied()
    }

    async fn recover(self: &Arc<Self>) -> Result<(), ApiError> {
        for run in self.runtime.recover(&self.agents.by_name).await? {
            self.runs.adopt(run);
        }
        for id in self.runtime.kept().await? {
            deliver_kept(self, id);
        }
        Ok(())
    }
}
