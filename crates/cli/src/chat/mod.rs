//! `antiphon chat`: talking with an AG-UI agent, at a terminal or through a pipe.

mod ask;
mod commands;
mod console;
mod follow;
mod log;
mod markdown;
mod piped;
mod play;
mod server;
mod session;
mod view;

use antiphon_client::{Error, ErrorKind};

use crate::args;
use crate::failure::{Ended, Failure};
use server::Target;

/// Talks until the person leaves, or until the one message of a pipe is answered.
///
/// # Errors
/// There is no agent at the URL, or the run failed, or waits for a person.
pub(crate) async fn chat(args: args::Chat) -> Result<Ended, Failure> {
    let target = Target::find(&args.url, args.agent.as_deref(), args.token).await?;
    let is_known = args.thread.is_some();
    let thread = match args.thread {
        Some(id) => target.client.thread(id),
        None => target.client.new_thread(),
    };
    if args.json || !console::is_interactive() {
        return piped::run(&target, thread, args.json).await;
    }
    session::Session::new(target, thread)?.run(is_known).await
}

/// Puts a client's error into the words and the exit code of a command.
fn failure(error: &Error) -> Failure {
    let message = console::clean(&error.to_string()).into_owned();
    match error.kind() {
        ErrorKind::Connect => Failure::unreachable(format!(
            "can't reach the agent: {message}; check the URL, and that the server runs"
        )),
        ErrorKind::Setup => Failure::usage(message),
        ErrorKind::Status {
            status: 401 | 403, ..
        } => Failure::failed(format!(
            "{message}; give your token with --token or ANTIPHON_TOKEN"
        )),
        ErrorKind::NotAgUi => {
            Failure::failed(format!("{message}; is this the URL of an AG-UI agent?"))
        }
        _ => Failure::failed(message),
    }
}
