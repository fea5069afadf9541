//! `antiphon completions`: what a shell needs to complete commands and options.

use std::io::Write;

use clap::CommandFactory;

use crate::args::{Args, Completions};
use crate::failure::{Ended, Failure};

/// Prints the completions of a shell.
///
/// # Errors
/// Standard output can't be written.
pub(crate) fn print(args: &Completions) -> Result<Ended, Failure> {
    // Made in memory first: the generator panics where it can't write.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "antiphon", &mut script);
    std::io::stdout()
        .write_all(&script)
        .map_err(|error| Failure::failed(format!("standard output can't be written: {error}")))?;
    Ok(Ended::Well)
}
