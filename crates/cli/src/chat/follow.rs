//! Following a run that waits for another system.

use std::time::Duration;

use antiphon_client::Ended as RunEnded;
use tokio::time::{Instant, sleep};

use super::console::{Input, is_interrupt};
use super::play::Step;
use super::session::{Next, Session};
use super::view::seconds;

/// The pause between two looks at how it stands, at first and at last.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LAST_PAUSE: Duration = Duration::from_secs(5);
/// How often the line for progress moves.
const TICK: Duration = Duration::from_millis(200);

impl Session {
    /// Waits until the other system has answered, shows what was said since, and returns what to
    /// go on with. Ctrl-C leaves the wait as it is.
    pub(super) async fn follow(&mut self, response: Option<String>) -> Result<Option<Step>, Next> {
        let (Some(response), true) = (response, self.target.server.is_some()) else {
            self.note("the run goes on in another system; ask again later");
            return Ok(None);
        };
        self.note("waiting for another system; Ctrl-C leaves it, and :open comes back to it");
        let known = self.thread.messages().len();
        match self.until_settled(&response).await {
            Watched::Settled => {}
            Watched::Left => return Ok(None),
            Watched::Gone => return Err(Next::Leave),
        }
        let ended = self.fetch().await;
        self.show_messages(known);
        Ok(match ended {
            Some(RunEnded::Asked(_) | RunEnded::Waiting(_)) => self.ask_open().await,
            Some(RunEnded::InProgress { .. }) => {
                self.note("it waits for another system once more; :open follows it");
                None
            }
            _ => None,
        })
    }

    async fn until_settled(&mut self, response: &str) -> Watched {
        let began = Instant::now();
        let mut pause = FIRST_PAUSE;
        loop {
            match self.pause(began, pause).await {
                Watched::Settled => {}
                watched => return watched,
            }
            pause = (pause * 3 / 2).min(LAST_PAUSE);
            let Some(server) = &self.target.server else {
                return Watched::Left;
            };
            match server.response(response, self.thread.id()).await {
                Ok(stands) if stands["status"] == "in_progress" => {}
                Ok(stands) => {
                    if let Some(why) = stands["error"]["message"].as_str() {
                        self.complain(why);
                    }
                    return Watched::Settled;
                }
                Err(failure) => {
                    self.complain(&failure.to_string());
                    return Watched::Left;
                }
            }
        }
    }

    /// Lets time pass, visibly. `Settled`: it has passed.
    async fn pause(&mut self, began: Instant, pause: Duration) -> Watched {
        let until = Instant::now() + pause;
        while Instant::now() < until {
            let passed = seconds(began.elapsed());
            self.console
                .screen
                .status(&format!("waiting for another system · {passed}"));
            tokio::select! {
                () = sleep(TICK) => {}
                input = self.console.input() => match input {
                    Input::Gone => return Watched::Gone,
                    input if is_interrupt(&input) => {
                        self.console.screen.hide_status();
                        return Watched::Left;
                    }
                    input => self.console.type_ahead(&input),
                },
            }
        }
        self.console.screen.hide_status();
        Watched::Settled
    }
}

enum Watched {
    Settled,
    Left,
    Gone,
}
