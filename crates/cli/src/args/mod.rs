//! Commands and their options.

mod examples;
mod project;
mod serving;
mod talking;

use clap::{Parser, Subcommand};

pub(crate) use project::{Completions, Init};
pub(crate) use serving::{Demo, Doctor, LogFormat, Serve};
pub(crate) use talking::{Chat, Check, ReportFormat, thread_id};

/// Serves AG-UI agents, and talks with them.
#[derive(Debug, Parser)]
#[command(
    name = "antiphon",
    version,
    arg_required_else_help = true,
    max_term_width = 100
)]
#[command(after_help = examples::ALL)]
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
    /// Talks with an AG-UI agent, at a terminal or through a pipe.
    Chat(Chat),
    /// Writes a small project: an agent file, .env.example and README.md.
    Init(Init),
    /// Judges an AG-UI server by the rules of the protocol.
    Check(Check),
    /// Checks an agent file and its surroundings, and says what to do about each finding.
    Doctor(Doctor),
    /// Prints the JSON Schema of agent files, for editors.
    #[command(after_help = examples::SCHEMA)]
    Schema,
    /// Prints the completions of a shell.
    Completions(Completions),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_are_well_formed() {
        use clap::CommandFactory;
        Args::command().debug_assert();
    }
}
