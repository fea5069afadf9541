//! An AG-UI client, for any server of the protocol, 0.x and 1.x.
//!
//! # A conversation
//!
//! A [`Client`] knows where an agent is. A [`Thread`] is a conversation with it: it keeps the
//! messages and the shared state as the agent's events make them. Saying something starts a
//! [`Run`], whose events are typed and come as they happen.
//!
//! ```no_run
//! # async fn f() -> Result<(), antiphon_client::Error> {
//! use antiphon_client::{Client, Ended, Event};
//!
//! let mut thread = Client::connect("http://127.0.0.1:8888/agents/recipe")?.thread("t1");
//! let mut run = thread.send("A carbonara, please").await?;
//! while let Some(event) = run.next().await? {
//!     if let Event::TextMessageContent(content) = event {
//!         print!("{}", content.delta);
//!     }
//! }
//! if let Ended::Done(_) = run.end()? {
//!     println!("{}", thread.state()["recipe"]["title"]);
//! }
//! # Ok(()) }
//! ```
//!
//! Whoever does not care for the events says `thread.send("..").await?.finish().await?` and
//! reads [`Thread::text`].
//!
//! # How a run ends
//!
//! [`Ended`] has the five ways that are no failure. A run that failed, was cut off, or was told
//! in a stream that breaks the protocol is an [`Error`], whose [`kind`](Error::kind) keeps these
//! apart: a stream that ends before its run is [`Truncated`](ErrorKind::Truncated) and never a
//! success. In every case the thread keeps what had been delivered.
//!
//! # Questions
//!
//! A run that stops for a person ends as [`Ended::Asked`]. The answers are made by the
//! [`Question`]s and sent all together, at once or a week later:
//!
//! ```no_run
//! # async fn f(mut thread: antiphon_client::Thread) -> Result<(), antiphon_client::Error> {
//! let answers: Vec<_> = thread.questions().iter().map(|question| question.approve()).collect();
//! thread.answer(answers).await?.finish().await?;
//! # Ok(()) }
//! ```
//!
//! # Tools of this program
//!
//! A [`ClientTool`] is a function that the agent may call. [`Thread::converse`] runs the
//! functions, lets a [`Handler`] answer the questions, and carries on until the agent is done.
//! Another agent is a tool too: [`ClientTool::agent`].
//!
//! # Connections that break
//!
//! Where the server numbers its events, a run whose connection breaks is joined again, without a
//! gap or a repeat ([`Rejoin`]). Elsewhere it is truncated. A run is started once: no request
//! that starts one is ever repeated.
//!
//! # Who keeps the history
//!
//! By default every request carries the whole thread, which works with every server. For one
//! that keeps threads, [`History::New`] sends only what is new, and [`Thread::open`] fetches
//! what it has kept.

mod canceller;
pub mod check;
mod client;
mod converse;
mod ended;
mod error;
mod http;
mod intake;
mod options;
mod question;
mod request;
mod run;
mod text;
mod thread;
mod tool;

pub use antiphon_protocol::{Content, Dialect, Event, Message, Tool, ToolCall, Warning};
pub use canceller::Canceller;
pub use client::Client;
pub use converse::Handler;
pub use ended::Ended;
pub use error::{Error, ErrorKind};
pub use options::{History, Limits, Rejoin, Timeouts};
pub use question::{Answer, Question};
pub use run::Run;
pub use thread::Thread;
pub use tool::ClientTool;
