//! One run at the terminal: it is shown while it arrives, and Ctrl-C stops it.

use std::time::Duration;

use antiphon_client::{Answer, Canceller, Ended, Error, Run, Thread};
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::console::{Console, Input, Style, is_interrupt};
use super::log::Log;
use super::view::View;

/// How often the line for progress moves.
const TICK: Duration = Duration::from_millis(100);
/// How long a run that was asked to stop may take to say so.
const STOP_TIME: Duration = Duration::from_secs(10);

/// What starts a run.
#[derive(Debug)]
pub(super) enum Step {
    Say(String),
    Answer(Vec<Answer>),
    /// All calls that waited are answered.
    Proceed,
}

/// How a run went.
#[derive(Debug)]
pub(super) enum Played {
    Ended(Ended),
    Failed(Error),
    /// The person did not wait for its end.
    Left,
    /// The terminal is gone.
    Gone,
}

/// The parts of a terminal's conversation that a run is shown with.
pub(super) struct Stage<'a> {
    pub(super) console: &'a mut Console,
    pub(super) view: &'a mut View,
    pub(super) log: &'a mut Log,
}

impl Stage<'_> {
    /// Starts a run and shows it to its end.
    pub(super) async fn play(&mut self, thread: &mut Thread, step: Step) -> Played {
        self.view.begin(std::time::Instant::now());
        let starting = async {
            match step {
                Step::Say(text) => thread.send(text).await,
                Step::Answer(answers) => thread.answer(answers).await,
                Step::Proceed => thread.proceed().await,
            }
        };
        let played = match self.start(starting).await {
            Ok(run) => self.show(run).await,
            Err(played) => played,
        };
        self.view.end(&mut self.console.screen);
        played
    }

    /// Waits for the answer to the request. To leave here is to close the connection, which a
    /// server notices.
    async fn start<'t>(
        &mut self,
        starting: impl Future<Output = Result<Run<'t>, Error>>,
    ) -> Result<Run<'t>, Played> {
        tokio::pin!(starting);
        let mut tick = ticks();
        loop {
            tokio::select! {
                started = &mut starting => return started.map_err(Played::Failed),
                input = self.console.input() => match input {
                    Input::Gone => return Err(Played::Gone),
                    input if is_interrupt(&input) => return Err(Played::Left),
                    input => self.console.type_ahead(&input),
                },
                _ = tick.tick() => self.tick(),
            }
        }
    }

    async fn show(&mut self, mut run: Run<'_>) -> Played {
        let mut stopping = Stopping::No;
        let mut tick = ticks();
        loop {
            tokio::select! {
                event = run.next() => match event {
                    Ok(Some(event)) => {
                        self.log.push(&event);
                        self.view.event(&event, &mut self.console.screen);
                    }
                    Ok(None) => break,
                    Err(error) => return Played::Failed(error),
                },
                input = self.console.input() => match input {
                    Input::Gone => {
                        stop(&run.canceller()).await;
                        return Played::Gone;
                    }
                    input if is_interrupt(&input) => match stopping {
                        Stopping::No => stopping = self.begin_to_stop(&run),
                        _ => return Played::Left,
                    },
                    input => self.console.type_ahead(&input),
                },
                is_left = stopping.is_left() => if is_left {
                    return Played::Left;
                },
                _ = tick.tick() => self.tick(),
            }
        }
        run.end().map_or_else(Played::Failed, Played::Ended)
    }

    fn tick(&mut self) {
        let now = std::time::Instant::now();
        self.view.tick(now, &mut self.console.screen);
    }

    fn begin_to_stop(&mut self, run: &Run<'_>) -> Stopping {
        self.view.end(&mut self.console.screen);
        let note = "stopping; Ctrl-C again does not wait for it";
        self.console.screen.line(Style::DIM, note);
        self.console.screen.flush();
        let canceller = run.canceller();
        let until = Instant::now() + STOP_TIME;
        Stopping::Asking(tokio::spawn(async move { canceller.cancel().await }), until)
    }
}

/// Whether a run is being stopped.
enum Stopping {
    No,
    /// The server is being asked.
    Asking(JoinHandle<Result<bool, Error>>, Instant),
    /// The server has taken it; the run's end is to come.
    Taken(Instant),
}

impl Stopping {
    /// Waits until it is known whether the run's end has to be waited for; `true`: no. Safe to
    /// cancel.
    async fn is_left(&mut self) -> bool {
        match self {
            Self::No => std::future::pending().await,
            Self::Taken(until) => {
                sleep_until(*until).await;
                true
            }
            Self::Asking(asking, until) => {
                let until = *until;
                let is_taken = matches!(asking.await, Ok(Ok(true)));
                *self = Self::Taken(until);
                !is_taken
            }
        }
    }
}

async fn stop(canceller: &Canceller) {
    // The terminal is gone: nobody waits for what comes of it.
    let _ = tokio::time::timeout(Duration::from_secs(2), canceller.cancel()).await;
}

fn ticks() -> tokio::time::Interval {
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    ticks
}
