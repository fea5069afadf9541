//! Commands and their options.

use std::convert::Infallible;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};
use secrecy::SecretString;

use crate::file::units::Time;

/// Serves AG-UI agents.
#[derive(Debug, Parser)]
#[command(name = "antiphon", version, about, arg_required_else_help = true)]
pub(crate) struct Args {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serves the agents of a file.
    Serve(Serve),
    /// Serves built-in agents; needs no file, no key and no network.
    Demo(Demo),
    /// Talks with an AG-UI agent.
    Chat(Chat),
    /// Checks an agent file and its surroundings, and says what to do about each finding.
    Doctor(Doctor),
    /// Prints the JSON Schema of agent files, for editors.
    Schema,
}

/// The options of `serve`.
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    /// The agent file.
    #[arg(default_value = "antiphon.yaml")]
    pub(crate) file: PathBuf,
    /// Where to listen, as HOST:PORT, in place of what the file says; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    /// Where threads are kept, in place of what the file says: memory or sqlite:PATH.
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
    #[command(flatten)]
    pub(crate) running: Running,
}

/// The options of `demo`.
#[derive(Debug, clap::Args)]
pub(crate) struct Demo {
    /// Where to listen, as HOST:PORT; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8888")]
    pub(crate) listen: String,
    /// Where threads are kept: memory or sqlite:PATH; a file in your data folder if absent.
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// The model, as openai/NAME, or script; if absent, OpenAI's where OPENAI_API_KEY is set.
    #[arg(long, value_name = "PROVIDER/NAME")]
    pub(crate) model: Option<String>,
    #[command(flatten)]
    pub(crate) running: Running,
}

/// The options of `doctor`.
#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    /// The agent file.
    #[arg(default_value = "antiphon.yaml")]
    pub(crate) file: PathBuf,
    /// Where the server is going to listen, in place of what the file says.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    /// Where threads are going to be kept, in place of what the file says.
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
}

/// The options of `chat`.
#[derive(Debug, clap::Args)]
pub(crate) struct Chat {
    /// A server, whose default agent answers, or an agent of its own.
    #[arg(default_value = "http://127.0.0.1:8888")]
    pub(crate) url: String,
    /// The agent of the server to talk to.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// The thread to go on with; a new one if absent.
    #[arg(long, value_name = "ID")]
    pub(crate) thread: Option<String>,
    /// Your token, sent as `Authorization: Bearer`.
    #[arg(long, value_name = "TOKEN", env = "ANTIPHON_TOKEN", hide_env_values = true, value_parser = secret)]
    pub(crate) token: Option<SecretString>,
    /// Prints the run's events as lines of JSON; the message comes from standard input.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of everything that serves.
#[derive(Debug, clap::Args)]
pub(crate) struct Running {
    /// How long running runs have when the server is told to stop.
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration)]
    pub(crate) drain: Duration,
    /// How the log on standard error is written; RUST_LOG says what is logged.
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    pub(crate) log: LogFormat,
}

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines for people.
    Text,
    /// A JSON object on each line.
    Json,
}

fn secret(text: &str) -> Result<SecretString, Infallible> {
    Ok(text.into())
}

fn duration(text: &str) -> Result<Duration, &'static str> {
    let time = Time::parse(text).map(Duration::from);
    time.ok_or("expected a duration such as 500ms, 30s or 15m")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_are_well_formed() {
        use clap::CommandFactory;
        Args::command().debug_assert();
    }

    #[test]
    fn durations_are_read_as_in_files() {
        assert_eq!(duration("0s"), Ok(Duration::ZERO));
        assert_eq!(duration("1500ms"), Ok(Duration::from_millis(1500)));
        assert!(duration("10").is_err());
    }
}
