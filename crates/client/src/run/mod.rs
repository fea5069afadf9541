//! A run as its events arrive.

mod link;

use std::{fmt, time::Duration};

use antiphon_protocol::{Dialect, Event, EventType, Outcome, Rule, Warning};
use tokio::time::{Instant, timeout_at};

use crate::ended::ended;
use crate::http::Answer;
use crate::intake::{Intake, Terminal, judge};
use crate::{Canceller, Ended, Error, ErrorKind, Thread};
use link::Link;

/// How long a run that was asked to stop may take to say so.
const CANCEL_TIME: Duration = Duration::from_secs(10);

/// A run in progress. Every event that [`next`](Self::next) returns is folded into the
/// [`Thread`].
///
/// To drop it before its end is to leave: what was delivered is kept, and the server decides
/// what becomes of the run.
///
/// ```no_run
/// # async fn f() -> Result<(), antiphon_client::Error> {
/// use antiphon_client::{Client, Ended, Event};
///
/// let mut thread = Client::connect("http://127.0.0.1:8888/agents/recipe")?.thread("t1");
/// let mut run = thread.send("A carbonara, please").await?;
/// while let Some(event) = run.next().await? {
///     if let Event::TextMessageContent(content) = event {
///         print!("{}", content.delta);
///     }
/// }
/// match run.end()? {
///     Ended::Done(_) => println!("{}", thread.state()["recipe"]["title"]),
///     Ended::Asked(questions) => {
///         thread.answer(questions.iter().map(|q| q.approve())).await?.finish().await?;
///     }
///     Ended::Waiting(_) | Ended::InProgress { .. } | Ended::Cancelled => {}
/// }
/// # Ok(()) }
/// ```
pub struct Run<'t> {
    thread: &'t mut Thread,
    run_id: String,
    intake: Intake,
    link: Link,
    /// Bytes over all connections.
    received: u64,
    /// Attempts in a row that brought nothing new, and all of them.
    attempts: u32,
    rejoins: u32,
    /// The position that the last connection was joined at.
    joined_at: Option<String>,
}

impl<'t> Run<'t> {
    pub(crate) fn new(
        thread: &'t mut Thread,
        run_id: String,
        intake: Intake,
        answer: Answer,
    ) -> Self {
        Self {
            thread,
            run_id,
            intake,
            link: Link::Reading(answer),
            received: 0,
            attempts: 0,
            rejoins: 0,
            joined_at: None,
        }
    }

    /// Returns the run's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.run_id
    }

    /// Returns the thread, with everything that was delivered so far.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        self.thread
    }

    /// Returns the position behind the last event, where the server numbers them. A connection
    /// that breaks is made again from there.
    #[must_use]
    pub fn last_event_id(&self) -> Option<&str> {
        self.intake.last_event_id()
    }

    /// Returns what was dropped, mended or let pass so far: unknown events and members, patches
    /// that did not apply, and the first duty that the server neglects. At most 64.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        self.intake.shown_warnings().as_slice()
    }

    /// Returns a handle that stops the run from elsewhere.
    #[must_use]
    pub fn canceller(&self) -> Canceller {
        Canceller::new(
            self.thread.client().clone(),
            self.thread.id().to_owned(),
            self.run_id.clone(),
        )
    }

    /// Waits for the next event, `None` after the last one. Chunks come as the start, content
    /// and end that they stand for. `RUN_ERROR` is an event too; [`end`](Self::end) makes it an
    /// error.
    ///
    /// A connection that breaks is made again where the server numbers its events, and the
    /// events go on without a gap or a repeat. Where the server has lost the position they begin
    /// again with `RUN_STARTED` and snapshots.
    ///
    /// Safe to cancel: nothing is lost if the future is dropped.
    ///
    /// # Errors
    ///
    /// The stream cannot be read any further, or should not be believed. What was delivered
    /// before is kept.
    pub async fn next(&mut self) -> Result<Option<Event>, Error> {
        loop {
            match &self.link {
                Link::Failed(error) => return Err(error.clone()),
                Link::Over => return Ok(None),
                Link::Reading(_) | Link::Lost(_) | Link::Joining(..) => {}
            }
            let step = match self.intake.next() {
                Some(Ok(event)) => match self.fold(&event) {
                    Ok(()) => return Ok(Some(event)),
                    Err(error) => Err(error),
                },
                Some(Err(error)) => Err(error),
                None => self.advance().await,
            };
            if let Err(error) = step {
                self.link = Link::Failed(error);
            }
        }
    }

    /// Reads the rest of the events and returns how the run ended.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next) and [`end`](Self::end).
    pub async fn finish(mut self) -> Result<Ended, Error> {
        while self.next().await?.is_some() {}
        self.end()
    }

    /// Returns how the run ended.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::RunFailed`] if the agent says so, [`ErrorKind::Unread`] if there are events
    /// left to read, and whatever [`next`](Self::next) failed with.
    pub fn end(self) -> Result<Ended, Error> {
        match (&self.link, self.intake.judge().terminal()) {
            (Link::Failed(error), _) => Err(error.clone()),
            (Link::Over, Some(terminal)) => {
                ended(terminal, self.thread.questions(), self.thread.waiting())
            }
            _ => Err(Error::new(
                ErrorKind::Unread,
                "the run has not ended: read its events until there are no more",
            )),
        }
    }

    /// Stops the run: asks the server to, where it offers that, and waits for what it says.
    /// Everywhere else it is left.
    ///
    /// # Errors
    ///
    /// The server could not be reached or refused the request, or the run failed first.
    pub async fn cancel(mut self) -> Result<Ended, Error> {
        // The sign of a server that keeps runs; another one has no such route.
        let keeps_runs = self.last_event_id().is_some();
        if !keeps_runs || !self.canceller().cancel().await? {
            return Ok(Ended::Cancelled);
        }
        let until = Instant::now() + CANCEL_TIME;
        loop {
            match timeout_at(until, self.next()).await {
                Ok(Ok(Some(_))) => {}
                Ok(Ok(None)) => break,
                // The run is stopped; how its stream ends is of no interest any more.
                Ok(Err(error)) if error.is_truncated() => return Ok(Ended::Cancelled),
                Ok(Err(error)) => return Err(error),
                Err(_) => return Ok(Ended::Cancelled),
            }
        }
        if self.thread.client().dialect() == Dialect::V0 && self.is_plain_success() {
            // A 0.x peer cannot be told of the outcome.
            return Ok(Ended::Cancelled);
        }
        self.end()
    }

    fn is_plain_success(&self) -> bool {
        matches!(
            self.intake.judge().terminal(),
            Some(Terminal::Finished {
                outcome: None,
                result: None,
                ..
            })
        )
    }

    /// Folds a checked event into the thread.
    fn fold(&mut self, event: &Event) -> Result<(), Error> {
        if let Event::RunFinished(finished) = event
            && let Some(Outcome::Success {
                pending_tool_call_ids: Some(ids),
            }) = &finished.outcome
            && let Some(unknown) = ids.iter().find(|id| self.thread.call(id).is_none())
        {
            judge::violation(
                Rule::PendingToolCalls,
                format!("the run waits for call {unknown:?}, which was never made"),
            )?;
        }
        let warnings = self.thread.fold(event);
        self.intake.judge().dropped(&warnings)?;
        self.intake.warnings().extend(warnings);
        if matches!(event.kind(), EventType::RunFinished | EventType::RunError) {
            self.thread.note_end(self.intake.judge().terminal());
        }
        Ok(())
    }
}

impl fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("thread", &self.thread.id())
            .field("id", &self.run_id)
            .field("last_event_id", &self.last_event_id())
            .finish_non_exhaustive()
    }
}
