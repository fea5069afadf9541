//! Judges any AG-UI server by the rules of the protocol.
//!
//! Unlike a [`Client`](crate::Client), which reads what it can, this looks at every byte: what
//! the server sends is held to the letter of AG-UI 1.0, and a good fifty requests show what it
//! takes, what it refuses and what makes it fail. Nothing is approved, answered or cancelled in
//! the process, and every probe is a thread of its own.
//!
//! ```no_run
//! # async fn f() -> Result<(), antiphon_client::Error> {
//! use antiphon_client::check::{self, Options};
//!
//! let report = check::judge("http://127.0.0.1:8888/agents/recipe", Options::default()).await?;
//! print!("{report}");
//! std::process::exit(if report.is_ok() { 0 } else { 1 });
//! # }
//! ```

mod frames;
mod options;
mod probes;
mod render;
mod report;
mod rules;
mod stream;

pub use options::{Group, Options};
pub use report::{Finding, Report, Seen, Verdict};
pub use rules::Level;

use crate::Error;
use probes::Prober;

/// Judges the agent at this URL.
///
/// # Errors
///
/// There is nothing to judge: the URL is none, nobody answers there, or the first request is
/// refused as unauthorized or unknown.
pub async fn judge(url: impl AsRef<str>, options: Options) -> Result<Report, Error> {
    let mut prober = Prober::new(url.as_ref(), &options)?;
    let first = prober.first().await?;
    for group in Group::ALL {
        if options.groups.contains(&group) {
            prober.group(group, &first).await;
        }
    }
    Ok(prober.into_report())
}
