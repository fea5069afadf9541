//! `antiphon chat`: talking with an AG-UI agent, at a terminal or through a pipe.

mod ask;
mod commands;
mod console;
mod follow;
mod log;
mod markdown;
mod piped;
mod play;
mod session;
mod view;

use crate::args;
use crate::failure::{Ended, Failure};
use crate::target::Target;

pub(crate) use console::clean;

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
