//! Options of the commands that serve, or look at what is to be served.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;

use super::examples;
use crate::file::units::Time;

/// The options of `serve`.
#[derive(Debug, clap::Args)]
#[command(after_help = examples::SERVE)]
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
#[command(after_help = examples::DEMO)]
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
#[command(after_help = examples::DOCTOR)]
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

fn duration(text: &str) -> Result<Duration, &'static str> {
    let time = Time::parse(text).map(Duration::from);
    time.ok_or("expected a duration such as 500ms, 30s or 15m")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_in_files() {
        assert_eq!(duration("0s"), Ok(Duration::ZERO));
        assert_eq!(duration("1500ms"), Ok(Duration::from_millis(1500)));
        assert!(duration("10").is_err());
    }
}
