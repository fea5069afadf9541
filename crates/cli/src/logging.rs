//! The log: on standard error, as much as `RUST_LOG` says.

use std::io::{IsTerminal, stderr};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::SubscriberInitExt;

use crate::args::LogFormat;

/// What is logged unless `RUST_LOG` says otherwise.
const USUAL: &str = "warn,antiphon=info";

/// Starts the log. Colours are for terminals, and for those who did not set `NO_COLOR`.
pub(crate) fn start(format: LogFormat) {
    let filter = match std::env::var("RUST_LOG") {
        Ok(directives) if !directives.trim().is_empty() => {
            EnvFilter::builder().parse_lossy(directives)
        }
        _ => EnvFilter::new(USUAL),
    };
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(stderr);
    let started = match format {
        LogFormat::Json => log.json().finish().try_init(),
        LogFormat::Text => {
            let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            let colours = stderr().is_terminal() && !plain;
            log.with_ansi(colours).finish().try_init()
        }
    };
    debug_assert!(started.is_ok(), "the log is started once");
}
