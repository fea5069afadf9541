//! The `antiphon` command: serves agents from a file or the built-in demo, and talks with them.
//!
//! Standard output is for programs: the one line that says where the server listens, a schema, a
//! report. Everything else goes to standard error.

mod address;
mod agents;
mod args;
mod chat;
mod check;
mod completions;
mod demo;
mod doctor;
mod failure;
mod file;
mod http_tool;
mod init;
mod logging;
mod running;
mod schema;
mod serve;
mod store;
mod target;
mod web;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};
use failure::{Ended, Failure};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args = Args::parse();
    match run(args.command) {
        Ok(ended) => ended.into(),
        Err(failure) => {
            // Where standard error is closed, the exit code still says it.
            let _ = writeln!(std::io::stderr(), "error: {failure}");
            failure.code().into()
        }
    }
}

fn run(command: Command) -> Result<Ended, Failure> {
    match command {
        Command::Serve(serve) => {
            logging::start(serve.running.log);
            runtime()?.block_on(serve::serve(serve))
        }
        Command::Demo(demo) => {
            logging::start(demo.running.log);
            runtime()?.block_on(demo::demo(demo))
        }
        Command::Chat(chat) => runtime()?.block_on(chat::chat(chat)),
        Command::Check(check) => runtime()?.block_on(check::check(check)),
        Command::Init(init) => init::init(&init),
        Command::Completions(completions) => completions::print(&completions),
        Command::Doctor(doctor) => runtime()?.block_on(doctor::doctor(doctor)),
        Command::Schema => schema::print(),
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("the runtime can't be started: {error}")))
}
