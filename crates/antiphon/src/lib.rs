//! AG-UI agents, served: shared state that both sides hold alike, predictions that are taken back,
//! approvals that outlive a restart, streams that outlive a tab.
//!
//! An agent is a model, its instructions, and tools. A page sends a message; the agent answers with
//! the events of a *run*: text, tool calls, and changes of the state that the two share.
//!
//! # Hello, agent
//!
//! ```no_run
//! use antiphon::prelude::*;
//!
//! #[tokio::main]
//! async fn main() -> Result<()> {
//!     let agent = Agent::new("greeter")
//!         .instructions("You greet whoever comes along, in verse.")
//!         .model(OpenAi::from_env()?.model("gpt-5-mini"));
//!
//!     Server::new([agent]).serve("127.0.0.1:8888").await?;
//!     Ok(())
//! }
//! ```
//!
//! The agent is served at `POST /agents/greeter`, and the first agent at `POST /` too. `OPENAI_API_KEY`
//! names the account; `OPENAI_BASE_URL` any other server that speaks the same wire. Without either,
//! a [`ScriptModel`] plays turns that were written down:
//!
//! ```
//! use antiphon::prelude::*;
//!
//! # fn main() -> Result<()> {
//! let script: Script = serde_json::from_value(json!({ "turns": [{ "say": "Hello, {{user}}!" }] }))?;
//! let agent = Agent::new("greeter").model(ScriptModel::new("greeter", script)).build()?;
//! # assert_eq!(agent.name(), "greeter");
//! # Ok(())
//! # }
//! ```
//!
//! # Tools
//!
//! A [`#[tool]`](macro@tool) is a function with a doc comment. What the model is told comes from the
//! code: the name, the comment, and the types of the arguments.
//!
//! ```
//! use antiphon::prelude::*;
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! #[serde(rename_all = "snake_case")]
//! enum Unit {
//!     Celsius,
//!     Fahrenheit,
//! }
//!
//! /// Look up how warm it is in a city now.
//! #[tool(timeout = "10s")]
//! async fn temperature(
//!     /// The city, with its country where the name is not unique.
//!     city: String,
//!     unit: Option<Unit>,
//!     stations: Resource<Stations>,
//! ) -> Result<f32, Unreachable> {
//!     stations.ask(&city, unit.unwrap_or(Unit::Celsius)).await
//! }
//!
//! # struct Stations;
//! # impl Stations { async fn ask(&self, _: &str, _: Unit) -> Result<f32, Unreachable> { Ok(4.0) } }
//! # #[derive(Debug, thiserror::Error)] #[error("the station does not answer")] struct Unreachable;
//! let agent = Agent::new("weather").resource(Stations).tools(temperature);
//! # assert_eq!(temperature.tool().spec().parameters["required"], json!(["city"]));
//! # let _ = agent;
//! ```
//!
//! [`Resource<T>`](Resource) is a value that was given to the agent; [`RunContext`] is the run itself:
//! the user, the thread, and what the page sent along. Neither is shown to the model. An error goes to
//! the model as the call's result, and the run goes on.
//!
//! # State and predictions
//!
//! Page and agent share a JSON object, here a type of yours. The page sends changes with its message;
//! tools change it through [`State<T>`](State), or the call of a tool does.
//!
//! ```
//! use antiphon::prelude::*;
//!
//! #[derive(Default, Serialize, Deserialize, JsonSchema)]
//! struct Kitchen {
//!     recipe: Option<Recipe>,
//!     servings: u32,
//! }
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! struct Recipe {
//!     title: String,
//!     instructions: Vec<String>,
//! }
//!
//! /// Write the complete recipe, with all fields, also when only a few change.
//! #[tool]
//! async fn update_recipe(recipe: Recipe) -> &'static str {
//!     "Recipe updated."
//! }
//!
//! /// Cook for one more.
//! #[tool]
//! async fn add_serving(state: State<'_, Kitchen>) -> Result<u32> {
//!     Ok(state.update(|kitchen| {
//!         kitchen.servings += 1;
//!         kitchen.servings
//!     })?)
//! }
//!
//! # fn main() -> Result<()> {
//! # let script: Script = serde_json::from_value(json!({ "turns": [] }))?;
//! # let model = ScriptModel::new("chef", script);
//! let agent = Agent::new("chef")
//!     .model(model)
//!     .state::<Kitchen>()
//!     .predict("recipe", update_recipe.argument("recipe"))
//!     .tools((update_recipe, add_serving))
//!     .build()?;
//! # let _ = agent;
//! # Ok(())
//! # }
//! ```
//!
//! `predict` shows an argument under a key of the state **while the model still writes it**. It is a
//! promise and no more: the state changes when the tool has run, and if it fails, is declined or is
//! cut short, the page is sent the state as it was. A key or an argument that does not exist is an
//! error when the agent is built.
//!
//! Other ways from calls and results to state are opt-in as well:
//!
//! ```
//! use antiphon::{prelude::*, protocol::StateSnapshot};
//!
//! # let agent = Agent::new("planner");
//! agent
//!     .result_as_snapshot("create_plan")
//!     .result_as_delta("update_plan_step")
//!     .map_call("write_document", |call| {
//!         [StateSnapshot::new(json!({ "document": call.argument("document") }))]
//!     });
//! ```
//!
//! # Tools of the page
//!
//! A [`#[client_tool]`](macro@client_tool) is a declaration: the page does the work, the run goes on
//! with what it sends back, and that is checked against the return type.
//!
//! ```
//! use antiphon::prelude::*;
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! struct Painted {
//!     color: String,
//! }
//!
//! /// Change the page's background.
//! #[client_tool]
//! fn change_background(color: String) -> Painted;
//! #
//! # assert_eq!(change_background.tool().name(), "change_background");
//! ```
//!
//! # Approvals and questions
//!
//! A tool with `approval` waits for a person. Nothing waits in memory meanwhile: the run ends, what it
//! waits for is stored, and the answer may come after a restart.
//!
//! ```
//! use antiphon::prelude::*;
//!
//! /// Delete a customer's record.
//! #[tool(approval(message = "Delete customer {id}?", timeout = "15m"))]
//! async fn delete_customer(id: u64, crm: Resource<Crm>) -> Result<String, CrmError> {
//!     crm.delete(id).await
//! }
//! # struct Crm;
//! # impl Crm { async fn delete(&self, id: u64) -> Result<String, CrmError> { Ok(id.to_string()) } }
//! # #[derive(Debug, thiserror::Error)] #[error("no such customer")] struct CrmError;
//! # assert_eq!(delete_customer.tool().name(), "delete_customer");
//! ```
//!
//! A tool can also ask in the middle of its work. **It is then called again from its start when the
//! answer is there**, so what must happen only once goes into [`RunContext::step`], whose result is
//! recorded:
//!
//! ```
//! use antiphon::prelude::*;
//!
//! /// A place in the cabin.
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! struct Seat {
//!     row: u8,
//!     window: bool,
//! }
//!
//! /// Book a flight.
//! #[tool]
//! async fn book(flight: String, run: RunContext<'_>, airline: Resource<Airline>) -> Result<String> {
//!     let held = run.step("hold", airline.hold(&flight)).await?;
//!     let seat: Seat = run.ask("Which seat?").schema().await?;
//!     Ok(format!("{held}, row {}", seat.row))
//! }
//! # struct Airline;
//! # impl Airline { async fn hold(&self, flight: &str) -> Result<String, ToolError> { Ok(flight.to_owned()) } }
//! # assert_eq!(book.tool().name(), "book");
//! ```
//!
//! # Private input
//!
//! What the function of a [`#[private_input]`](macro@private_input) is given, nobody else sees: not
//! the model, not the thread, not the log. The model is told the response.
//!
//! ```
//! use antiphon::prelude::*;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct TokenForm {
//!     token: Secret,
//! }
//!
//! /// Ask the person for an access token.
//! #[private_input(response = "Token stored.")]
//! async fn provide_token(form: TokenForm, vault: Resource<Vault>) -> Result<(), VaultError> {
//!     vault.put(form.token.expose()).await
//! }
//! # struct Vault;
//! # impl Vault { async fn put(&self, _: &str) -> Result<(), VaultError> { Ok(()) } }
//! # #[derive(Debug, thiserror::Error)] #[error("the vault is closed")] struct VaultError;
//! # assert_eq!(provide_token.tool().name(), "provide_token");
//! ```
//!
//! # Context, middleware, models of your own
//!
//! A [`ContextProvider`] tells the model something in each run, marked as data; an async function is
//! one. A [`Middleware`] stands before the stream of a run: it sees every event and may change, add or
//! drop it, and change the state.
//!
//! ```
//! use antiphon::{Outgoing, prelude::*, protocol::Event};
//!
//! async fn place(run: RunContext<'_>) -> Option<String> {
//!     let page = run.context("Current page")?;
//!     Some(format!("The person looks at {page}."))
//! }
//!
//! fn without_steps(event: Event, out: &mut Outgoing) {
//!     if !matches!(event, Event::StepStarted(_) | Event::StepFinished(_)) {
//!         out.send(event);
//!     }
//! }
//!
//! let agent = Agent::new("guide").context(place).on_event(without_steps);
//! ```
//!
//! A [`Model`] is anything that answers a request with a stream of [`ModelEvent`](model::ModelEvent)s:
//! a wire that is not there yet, a cache, or what a test lets it say.
//!
//! ```
//! use antiphon::model::{EventStream, Finish, FinishReason, ModelEvent, Request};
//! use antiphon::prelude::*;
//!
//! #[derive(Debug)]
//! struct Parrot;
//!
//! impl Model for Parrot {
//!     fn provider(&self) -> &str { "zoo" }
//!     fn name(&self) -> &str { "parrot" }
//!
//!     fn stream(&self, _: &Request) -> EventStream {
//!         let finish = Finish { reason: FinishReason::Stop, origin: None };
//!         let said = [ModelEvent::Text("Hello!".to_owned()), ModelEvent::Finished(finish)];
//!         Box::pin(futures_util::stream::iter(said.map(Ok)))
//!     }
//! }
//!
//! # fn main() -> Result<()> {
//! let agent = Agent::new("zoo").model(Parrot).build()?;
//! # Ok(())
//! # }
//! ```
//!
//! # Serving
//!
//! [`Server::serve`] listens until Ctrl-C or SIGTERM and then gives running runs their time. Threads are
//! kept in memory unless there is a store:
//!
//! ```no_run
//! # use antiphon::prelude::*;
//! # async fn serve(agent: Agent) -> Result<()> {
//! Server::new([agent])
//!     .store(Sqlite::open("kitchen.db").await?)
//!     .serve("127.0.0.1:8888")
//!     .await?;
//! # Ok(())
//! # }
//! ```
//!
//! Without an [`Authenticator`](server::Authenticator) everybody is one user, and the server answers
//! on this machine only. With one, each user has their own threads, and what the client says about
//! itself is never believed.
//!
//! In an axum application, a server is a router like any other ([`Server::embed`] gives it together
//! with a hand on its beginning and end):
//!
//! ```
//! # use antiphon::prelude::*;
//! use axum::{Router, routing::get};
//!
//! # fn app(agent: Agent) -> Result<Router> {
//! let app = Router::new()
//!     .route("/", get(async || "home"))
//!     .nest("/api", antiphon::router(Server::new([agent]))?);
//! # Ok(app)
//! # }
//! # let script = Script::new(Vec::new());
//! # app(Agent::new("a").model(ScriptModel::new("a", script))).unwrap();
//! ```
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `server` | yes | [`Server`], [`router`] and [`server`]: agents over HTTP |
//! | `sqlite` | yes | [`Sqlite`](store::Sqlite): threads in a file |
//!
//! Without features there are agents, tools, models and the run loop ([`Runtime`]), for programs that
//! bring their own transport.

#[doc(hidden)]
pub mod __private;
#[cfg(all(doctest, feature = "server", feature = "sqlite"))]
mod docs;
mod error;
pub mod prelude;
mod secret;

#[doc(no_inline)]
pub use antiphon_agent::BoxFuture;
/// The run loop, for programs that bring their own transport.
#[doc(inline)]
pub use antiphon_agent::{
    Accepted, Batch, Delivered, Delivery, Failure, Filter, Frame, Joined, Reader, Recovered,
    Refusal, RefusalKind, Run, RunLog, Runtime, clock,
};
#[doc(inline)]
pub use antiphon_agent::{
    Agent, Approval, Argument, BuildError, BuiltAgent, ContextProvider, FinishedCall, Handler,
    History, IntoTools, Limits, Middleware, OnDecline, OnDisconnect, Outgoing, Prediction,
    PrivateHandler, PrivateValue, Question, Resource, Resources, RunContext, State, StateChange,
    Told, Tool, ToolError, ToolOutput,
};
#[doc(inline)]
pub use antiphon_macros::{client_tool, private_input, tool};
#[doc(inline)]
pub use antiphon_model::{
    Model, OpenAi,
    script::{Script, ScriptModel},
};
pub use {antiphon_model as model, antiphon_protocol as protocol, antiphon_state as state};

pub use error::{Error, Result};
pub use secret::Secret;

#[cfg(feature = "server")]
pub use {antiphon_server as server, antiphon_server::Server};

/// A server as a router, for an axum application to nest. See [`Server::router`].
///
/// # Errors
/// When an agent or the server is described wrongly.
#[cfg(feature = "server")]
pub fn router(server: Server) -> Result<axum::Router, server::Error> {
    server.router()
}

/// Where threads are kept.
pub mod store {
    #[doc(inline)]
    pub use antiphon_agent::store::*;
    #[cfg(feature = "sqlite")]
    #[doc(inline)]
    pub use antiphon_store::{Failure, Sqlite};
}

/// The README's examples compile.
#[cfg(all(doctest, feature = "server", feature = "sqlite"))]
#[doc = include_str!("../../../README.md")]
struct Readme;
