//! The connection that a run's events come from, and the next one when it breaks.

use futures_util::future::BoxFuture;
use tokio::time::timeout;

use super::Run;
use crate::http::Answer;
use crate::{Error, ErrorKind};

/// How often one run is joined again at most, whatever each attempt brings.
const MAX_REJOINS: u32 = 1000;

/// Where the next event comes from.
pub(super) enum Link {
    Reading(Answer),
    /// It is over, which is a failure unless the run is over too.
    Lost(Error),
    /// The next one is being made. The future is kept, so that whoever stops polling
    /// [`Run::next`] stops no attempt. The error is why it is needed.
    Joining(BoxFuture<'static, Result<Answer, Error>>, Error),
    /// Nothing comes any more.
    Over,
    Failed(Error),
}

impl Run<'_> {
    /// Does what brings the next event nearer.
    pub(super) async fn advance(&mut self) -> Result<(), Error> {
        match &mut self.link {
            Link::Reading(_) => self.read().await,
            Link::Lost(_) | Link::Joining(..) if self.intake.judge().is_complete() => {
                self.intake.judge().check_run()?;
                self.link = Link::Over;
                Ok(())
            }
            Link::Lost(cause) => {
                let cause = cause.clone();
                self.join(cause)
            }
            Link::Joining(attempt, _) => {
                let answer = attempt.await;
                self.joined(answer)
            }
            Link::Over | Link::Failed(_) => Ok(()),
        }
    }

    /// Reads the next bytes.
    async fn read(&mut self) -> Result<(), Error> {
        let timeouts = self.thread.client().transport().timeouts;
        let judge = self.intake.judge();
        let wait = if judge.is_complete() && judge.check_run().is_ok() {
            timeouts.end
        } else {
            timeouts.idle
        };
        let Link::Reading(answer) = &mut self.link else {
            return Ok(());
        };
        let lost = match timeout(wait, answer.chunk()).await {
            Ok(Ok(Some(bytes))) => {
                self.received += bytes.len() as u64;
                let limit = self.thread.client().limit().run;
                if self.received > limit {
                    return Err(Error::new(
                        ErrorKind::Limit,
                        format!("the run's stream is longer than {limit} bytes"),
                    ));
                }
                self.intake.push(&bytes);
                return Ok(());
            }
            Ok(Ok(None)) => {
                self.intake.finish();
                truncated("the stream ended before its run did")
            }
            Ok(Err(why)) => {
                let why = self.thread.client().transport().headers.blot(&why);
                truncated(format!("the connection broke before the run ended: {why}"))
            }
            Err(_) => Error::new(
                ErrorKind::Timeout,
                format!("the server has been silent for {wait:?}"),
            ),
        };
        self.link = Link::Lost(lost);
        Ok(())
    }

    /// Begins to join the run again, if that is of any use.
    fn join(&mut self, cause: Error) -> Result<(), Error> {
        let Some(position) = self.intake.last_event_id().map(str::to_owned) else {
            return Err(cause);
        };
        if self.joined_at.as_ref() != Some(&position) {
            self.attempts = 0;
        }
        self.attempts += 1;
        self.rejoins += 1;
        let client = self.thread.client().clone();
        let wait = client.rejoining().wait(self.attempts, fastrand::f64());
        let Some(wait) = wait.filter(|_| self.rejoins <= MAX_REJOINS) else {
            return Err(cause);
        };
        self.joined_at = Some(position.clone());
        let (thread, run) = (self.thread.id().to_owned(), self.run_id.clone());
        let attempt = async move {
            tokio::time::sleep(wait).await;
            client
                .transport()
                .join(&thread, &run, Some(&position))
                .await
        };
        self.link = Link::Joining(Box::pin(attempt), cause);
        Ok(())
    }

    /// Takes the outcome of an attempt.
    fn joined(&mut self, answer: Result<Answer, Error>) -> Result<(), Error> {
        let cause = match std::mem::replace(&mut self.link, Link::Over) {
            Link::Joining(_, cause) => cause,
            other => {
                self.link = other;
                return Ok(());
            }
        };
        match answer {
            Ok(answer) => {
                self.intake.reconnect(answer.wire);
                self.link = Link::Reading(answer);
                Ok(())
            }
            Err(error) if is_passing(&error) => {
                self.link = Link::Lost(cause);
                Ok(())
            }
            Err(error) => Err(cause.and(format!("joining it again failed: {error}"))),
        }
    }
}

fn truncated(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Truncated, message)
}

/// Whether the same request may go well a little later.
fn is_passing(error: &Error) -> bool {
    match error.kind() {
        ErrorKind::Connect | ErrorKind::Timeout => true,
        ErrorKind::Status { status, .. } => matches!(status, 408 | 425 | 429 | 500..=599),
        _ => false,
    }
}
