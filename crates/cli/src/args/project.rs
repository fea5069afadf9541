//! Options of the commands that make files.

use std::path::PathBuf;

use clap_complete::Shell;

use super::examples;

/// The options of `init`.
#[derive(Debug, clap::Args)]
#[command(after_help = examples::INIT)]
pub(crate) struct Init {
    /// The folder, which is made if it is not there.
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
}

/// The options of `completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = examples::COMPLETIONS)]
pub(crate) struct Completions {
    /// The shell.
    pub(crate) shell: Shell,
}
