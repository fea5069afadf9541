//! Serves agents over HTTP: AG-UI runs, ways to come back to them, and the threads behind them.
//!
//! A [`Server`] is described, then either [bound](Server::bind) to an address or taken as an axum
//! [router](Server::router) into a larger application.
//!
//! ```
//! use antiphon_agent::Agent;
//! use antiphon_model::script::{Script, ScriptModel, ScriptTurn};
//! use antiphon_server::Server;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let turn = ScriptTurn { say: Some("Hello!".into()), ..ScriptTurn::default() };
//! let model = ScriptModel::new("greeter", Script::new(vec![turn]));
//! let agent = Agent::new("greeter").model(model);
//!
//! let bound = Server::new([agent]).bind("127.0.0.1:0").await?;
//! println!("listening on http://{}", bound.local_addr());
//! bound.serve_until(async { /* until it is time to stop */ }).await;
//! # Ok(())
//! # }
//! # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
//! ```
//!
//! A run belongs to the server and not to the connection that started it: it plays on a task of its
//! own and writes a log, from which any number of connections read. What may refuse a request does so
//! before the first byte of the stream, as JSON; from there on the stream says it all.
//!
//! The order in which a request is checked: is the server going down, is it meant for this machine, is
//! it from a page that may call, who sent it, is it JSON, can the client read an answer, is it within
//! the limits, is it an AG-UI request, and does it fit the thread.
//!
//! [`ROUTES`] lists what is answered.

mod app;
mod auth;
mod edge;
mod embed;
mod error;
mod limits;
mod listen;
mod metrics;
mod openapi;
mod responses;
mod routes;
mod runs;
mod server;
mod stream;
mod waits;

pub use auth::{
    Authenticator, Authenticators, Jwt, Local, Principal, PrincipalKind, Rejection, StaticTokens,
    TrustedHeader,
};
pub use embed::Life;
pub use error::Error;
pub use limits::Limits;
pub use listen::Bound;
pub use routes::{ROUTES, Route, Scope};
pub use server::Server;
pub use waits::{Undelivered, Waits};
