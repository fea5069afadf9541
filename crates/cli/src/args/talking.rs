//! Options of the commands that talk with a server.

use std::convert::Infallible;

use antiphon::protocol::MAX_ID_BYTES;
use clap::ValueEnum;
use secrecy::SecretString;

use super::examples;

/// The options of `chat`.
#[derive(Debug, clap::Args)]
#[command(after_help = examples::CHAT)]
pub(crate) struct Chat {
    /// A server, whose default agent answers, or an agent of its own.
    #[arg(default_value = "http://127.0.0.1:8888")]
    pub(crate) url: String,
    /// The agent of the server to talk to.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// The thread to go on with; a new one if absent.
    #[arg(long, value_name = "ID", value_parser = thread_id)]
    pub(crate) thread: Option<String>,
    /// Your token, sent as `Authorization: Bearer`.
    #[arg(long, value_name = "TOKEN", env = "ANTIPHON_TOKEN", hide_env_values = true, value_parser = secret)]
    pub(crate) token: Option<SecretString>,
    /// Prints the run's events as lines of JSON; the message comes from standard input.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The options of `check`.
#[derive(Debug, clap::Args)]
#[command(after_help = examples::CHECK)]
pub(crate) struct Check {
    /// A server, whose default agent is judged, or an agent of its own.
    pub(crate) url: String,
    /// The agent of the server to judge.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// How the report is written.
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
    /// What is said to the agent in each run; it should have no side effects.
    #[arg(long, value_name = "TEXT", default_value = "Hello")]
    pub(crate) say: String,
    /// Your token, sent as `Authorization: Bearer`.
    #[arg(long, value_name = "TOKEN", env = "ANTIPHON_TOKEN", hide_env_values = true, value_parser = secret)]
    pub(crate) token: Option<SecretString>,
}

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For people.
    Text,
    /// All rules as one JSON object.
    Json,
    /// For CI.
    Junit,
}

fn secret(text: &str) -> Result<SecretString, Infallible> {
    Ok(text.into())
}

/// An id of a thread, as servers take it.
pub(crate) fn thread_id(text: &str) -> Result<String, String> {
    if (1..=MAX_ID_BYTES).contains(&text.len()) {
        Ok(text.to_owned())
    } else {
        Err(format!("an id of a thread is 1 to {MAX_ID_BYTES} bytes"))
    }
}
