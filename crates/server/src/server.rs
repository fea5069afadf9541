//! The server, from its description to its router.

use std::collections::HashSet;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use antiphon_agent::clock::SystemClock;
use antiphon_agent::store::{MemoryStore, Store};
use antiphon_agent::{Agent, BuiltAgent, Runtime};
use axum::{Router, middleware};
use tokio::sync::OnceCell;

use crate::app::{Agents, App};
use crate::auth::{Authenticator, Local};
use crate::edge::host::Hosts;
use crate::edge::site::Origins;
use crate::edge::{guard, guard_page};
use crate::embed::Life;
use crate::error::Error;
use crate::limits::Limits;
use crate::listen::{Bound, listen, resolve};
use crate::metrics::{Meter, Metered, Metrics};
use crate::routes;
use crate::runs::Runs;
use crate::waits::Waits;

/// How long a connection stays silent before a comment goes out.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How long running runs have when the server stops.
const DRAIN: Duration = Duration::from_secs(10);

/// Serves agents over HTTP.
pub struct Server {
    agents: Vec<Agent>,
    default: Option<String>,
    store: Option<Arc<dyn Store>>,
    authenticator: Option<Arc<dyn Authenticator>>,
    cors: Vec<String>,
    page: Option<Router>,
    waits: Option<Waits>,
    limits: Limits,
    heartbeat: Duration,
    drain: Duration,
}

impl Server {
    /// A server of these agents. The first one is the default.
    pub fn new(agents: impl IntoIterator<Item = Agent>) -> Self {
        Self {
            agents: agents.into_iter().collect(),
            default: None,
            store: None,
            authenticator: None,
            cors: Vec::new(),
            page: None,
            waits: None,
            limits: Limits::default(),
            heartbeat: HEARTBEAT,
            drain: DRAIN,
        }
    }

    /// The agent at `POST /` and `POST /agui`.
    #[must_use]
    pub fn default_agent(mut self, name: impl Into<String>) -> Self {
        self.default = Some(name.into());
        self
    }

    /// Where threads are kept; in memory unless set.
    #[must_use]
    pub fn store(self, store: impl Store) -> Self {
        self.shared_store(Arc::new(store))
    }

    /// Where threads are kept, already shared.
    #[must_use]
    pub fn shared_store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = Some(store);
        self
    }

    /// Who may call. Without one, everybody is the user `local`, and the server can be reached from
    /// this machine only.
    #[must_use]
    pub fn authenticator(mut self, authenticator: impl Authenticator) -> Self {
        self.authenticator = Some(Arc::new(authenticator));
        self
    }

    /// The origins whose pages may call, such as `http://localhost:3000`; none unless set.
    #[must_use]
    pub fn cors<I>(mut self, origins: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        self.cors = origins.into_iter().map(Into::into).collect();
        self
    }

    /// What clients may send and hold.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How long an event stream stays silent before a comment goes out; 15 s unless set.
    #[must_use]
    pub fn heartbeat(mut self, silence: Duration) -> Self {
        self.heartbeat = silence;
        self
    }

    /// How long running runs have when the server stops; 10 s unless set.
    #[must_use]
    pub fn drain(mut self, grace: Duration) -> Self {
        self.drain = grace;
        self
    }

    /// Routes to serve beside the API, such as a page at `GET /`. Strangers' names for this machine
    /// are refused there too; everything else is up to them.
    #[must_use]
    pub fn page(mut self, routes: Router) -> Self {
        self.page = Some(routes);
        self
    }

    /// Lets code of this process deliver the results of external waits.
    #[must_use]
    pub fn waits(mut self, waits: Waits) -> Self {
        self.waits = Some(waits);
        self
    }

    /// The server as a router, to nest in an application of your own.
    ///
    /// Without an authenticator it answers only to names of this machine, wherever the application
    /// listens. What a crash left behind is decided with the first request, and running runs end with
    /// the process; [`embed`](Self::embed) gives the application a part in both.
    ///
    /// # Errors
    /// When the description is wrong.
    pub fn router(self) -> Result<Router, Error> {
        self.embed().map(|(router, _)| router)
    }

    /// The server as a router, to nest in an application of your own, and its life, for the application
    /// to begin and end.
    ///
    /// ```
    /// # use antiphon_server::{Error, Server};
    /// # use axum::Router;
    /// # async fn example(server: Server) -> Result<(), Box<dyn std::error::Error>> {
    /// let (agents, life) = server.embed()?;
    /// life.ready().await?;
    /// let app = Router::new().nest("/api", agents);
    /// let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    /// let stop = async move {
    ///     let _ = tokio::signal::ctrl_c().await;
    ///     life.drain().await;
    /// };
    /// axum::serve(listener, app).with_graceful_shutdown(stop).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the description is wrong.
    pub fn embed(self) -> Result<(Router, Life), Error> {
        let hosts = match self.authenticator {
            Some(_) => Hosts::Any,
            None => Hosts::Loopback,
        };
        let drain = self.drain;
        let (router, app) = self.build(hosts)?;
        Ok((router, Life::new(app, drain)))
    }

    /// Listens on an address such as `127.0.0.1:8888`; port 0 stands for any that is free.
    ///
    /// What a crash left behind is decided before this returns, unless the store is away: then it is
    /// decided with the first request that finds it back.
    ///
    /// # Errors
    /// When the description is wrong, the address is taken, or it can be reached from other machines
    /// although there is no authenticator.
    pub async fn bind(self, address: &str) -> Result<Bound, Error> {
        let addresses = resolve(address)?;
        let open = addresses.iter().find(|a| !is_loopback(a.ip()));
        if let (Some(open), None) = (open, &self.authenticator) {
            return Err(Error::Unprotected(*open));
        }
        let drain = self.drain;
        let hosts = match open {
            Some(_) => Hosts::Any,
            None => Hosts::Loopback,
        };
        let (router, app) = self.build(hosts)?;
        let (listener, local) = listen(address, &addresses).await?;
        if app.ready().await.is_err() {
            tracing::error!("the store is away; runs are taken as soon as it is back");
        }
        Ok(Bound::new(listener, local, router, app, drain))
    }

    /// Listens and serves until the process is told to stop, with Ctrl-C or SIGTERM.
    ///
    /// # Errors
    /// As [`bind`](Self::bind).
    pub async fn serve(self, address: &str) -> Result<(), Error> {
        let bound = self.bind(address).await?;
        tracing::info!("listening on http://{}", bound.local_addr());
        bound.serve_until(stop_signal()).await;
        Ok(())
    }

    fn build(self, hosts: Hosts) -> Result<(Router, Arc<App>), Error> {
        let (agents, metrics) = build_agents(self.agents, self.default)?;
        let store = self
            .store
            .unwrap_or_else(|| Arc::new(MemoryStore::new(Arc::new(SystemClock))));
        let app = Arc::new(App {
            agents,
            runtime: Runtime::new(store),
            runs: Runs::new(&self.limits, Arc::clone(&metrics)),
            metrics,
            limits: self.limits,
            heartbeat: self.heartbeat,
            hosts,
            origins: Origins::read(&self.cors)?,
            authenticator: self.authenticator.unwrap_or_else(|| Arc::new(Local)),
            recovered: OnceCell::new(),
        });
        if let Some(waits) = self.waits {
            waits.lead_to(&app);
        }
        let layer = middleware::from_fn_with_state(Arc::clone(&app), guard);
        let mut router = routes::router().layer(layer).with_state(Arc::clone(&app));
        if let Some(page) = self.page {
            let layer = middleware::from_fn_with_state(Arc::clone(&app), guard_page);
            router = router.merge(page.layer(layer));
        }
        Ok((router, app))
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("agents", &self.agents)
            .field("default", &self.default)
            .finish_non_exhaustive()
    }
}

fn build_agents(
    agents: Vec<Agent>,
    default: Option<String>,
) -> Result<(Agents, Arc<Metrics>), Error> {
    let agents = agents
        .into_iter()
        .map(|agent| agent.build().map(metered))
        .collect::<Result<Vec<_>, _>>()?;
    let (agents, meters): (Vec<Arc<BuiltAgent>>, Vec<Arc<Meter>>) = agents.into_iter().unzip();
    let mut names = HashSet::new();
    for agent in &agents {
        let name = agent.name();
        if !is_segment(name) {
            return Err(Error::AgentName(name.to_owned()));
        }
        if !names.insert(name) {
            return Err(Error::SameName(name.to_owned()));
        }
    }
    let first = agents.first().ok_or(Error::NoAgent)?;
    let chosen = match default {
        None => Arc::clone(first),
        Some(name) => {
            let found = agents.iter().find(|agent| agent.name() == name);
            let known = || agents.iter().map(|agent| agent.name()).collect::<Vec<_>>();
            Arc::clone(found.ok_or_else(|| Error::NoDefault {
                known: known().join(", "),
                name,
            })?)
        }
    };
    let metrics = Arc::new(Metrics::new(meters));
    Ok((Agents::new(agents, chosen), metrics))
}

/// An agent with a meter at its model.
fn metered(agent: BuiltAgent) -> (Arc<BuiltAgent>, Arc<Meter>) {
    let meter = Arc::new(Meter::new(agent.name()));
    let agent = agent.wrap_model(|model| Arc::new(Metered::new(model, Arc::clone(&meter))));
    (Arc::new(agent), meter)
}

/// Whether a name can stand in a path as it is.
fn is_segment(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !matches!(name, "" | "." | "..") && name.bytes().all(is_plain)
}

fn is_loopback(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_loopback(),
        IpAddr::V6(address) => {
            address.is_loopback() || address.to_ipv4_mapped().is_some_and(|ip| ip.is_loopback())
        }
    }
}

/// Ctrl-C, or what a service manager sends.
async fn stop_signal() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = interrupt => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    // Where no signal can be had, the server runs until it is killed.
    if interrupt.await.is_err() {
        std::future::pending::<()>().await;
    }
}
