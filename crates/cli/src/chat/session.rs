//! A conversation at a terminal: a prompt, a run, its questions, the prompt again.

use antiphon_client::{Ended as RunEnded, ErrorKind, Question, Thread};
use serde_json::Value;

use super::ask;
use super::console::{Console, Reply, Style, fold};
use super::log::Log;
use super::play::{Played, Stage, Step};
use super::view::View;
use crate::failure::{Ended, Failure};
use crate::target::Target;
use crate::target::failure;

/// What a person is told who leaves something open.
const OPEN: &str = ":answer asks again; to say something else gives it up";
/// What the agent is told of a call that nobody here answers.
const SKIPPED: &str = "the person skipped this call";

/// A conversation at a terminal.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) console: Console,
    pub(super) target: Target,
    pub(super) thread: Thread,
    pub(super) view: View,
    pub(super) log: Log,
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Prompt,
    /// The person leaves, or the terminal is gone.
    Leave,
}

impl Session {
    /// # Errors
    /// The terminal can't be used.
    pub(super) fn new(target: Target, thread: Thread) -> Result<Self, Failure> {
        let console = Console::new()
            .map_err(|error| Failure::failed(format!("the terminal can't be used: {error}")))?;
        Ok(Self {
            console,
            target,
            thread,
            view: View::default(),
            log: Log::default(),
        })
    }

    /// Talks until the person leaves. `is_known` is whether the thread is one to go on with.
    ///
    /// # Errors
    /// The terminal can't be written to.
    pub(super) async fn run(mut self, is_known: bool) -> Result<Ended, Failure> {
        self.greet();
        if is_known && self.open().await == Next::Leave {
            return Ok(Ended::Well);
        }
        let mut is_second = false;
        loop {
            if let Some(error) = self.console.screen.take_error() {
                return Err(Failure::failed(format!(
                    "the terminal can't be written to: {error}"
                )));
            }
            let draft = self.console.take_draft();
            match self.console.ask("> ", Style::BOLD, &draft).await {
                Reply::Line(line) => {
                    is_second = false;
                    if self.take(&line).await == Next::Leave {
                        return Ok(Ended::Well);
                    }
                }
                Reply::Interrupted if is_second => return Ok(Ended::Interrupted),
                Reply::Interrupted => {
                    is_second = true;
                    self.note("Ctrl-C again, Ctrl-D or :q ends");
                }
                Reply::Ended => return Ok(Ended::Well),
            }
        }
    }

    fn greet(&mut self) {
        let agent = self.target.agent.as_deref();
        let agent = agent.map(|name| format!("{name} at ")).unwrap_or_default();
        let line = format!("{agent}{} · :help shows the commands", self.target.url);
        self.note(&line);
    }

    /// Takes a line of the prompt: a command, or something to say.
    async fn take(&mut self, line: &str) -> Next {
        let said = line.trim();
        if said.is_empty() {
            return Next::Prompt;
        }
        self.console.keep(line);
        if said == "quit" || line.starts_with(':') {
            return self.command(said).await;
        }
        // A person who says something else gives up what was open.
        if self.is_waiting() && self.give_up().await == Next::Leave {
            return Next::Leave;
        }
        if self.is_waiting() {
            return Next::Prompt;
        }
        self.converse(Step::Say(said.to_owned())).await
    }

    /// Plays a run, asks what it asks, and so on until it is done or the person wants the prompt.
    pub(super) async fn converse(&mut self, step: Step) -> Next {
        let mut step = Some(step);
        while let Some(now) = step.take() {
            let before = self.thread.state().clone();
            let played = self.play(now).await;
            self.note_state(&before);
            step = match played {
                Played::Ended(ended) => match self.settle(ended).await {
                    Ok(step) => step,
                    Err(next) => return next,
                },
                Played::Failed(error) => {
                    self.complain(&failure(&error).to_string());
                    let is_refused = matches!(
                        error.kind(),
                        ErrorKind::Status {
                            status: 400 | 422,
                            ..
                        }
                    );
                    match (self.is_waiting(), is_refused) {
                        (true, true) => self.ask_open().await,
                        (true, false) => {
                            self.note(OPEN);
                            None
                        }
                        (false, _) => None,
                    }
                }
                Played::Left => {
                    self.note("left the run");
                    None
                }
                Played::Gone => return Next::Leave,
            };
        }
        Next::Prompt
    }

    async fn play(&mut self, step: Step) -> Played {
        let mut stage = Stage {
            console: &mut self.console,
            view: &mut self.view,
            log: &mut self.log,
        };
        stage.play(&mut self.thread, step).await
    }

    /// Deals with how a run ended, and returns what to go on with.
    async fn settle(&mut self, ended: RunEnded) -> Result<Option<Step>, Next> {
        match ended {
            RunEnded::Done(None) => Ok(None),
            RunEnded::Done(Some(result)) => {
                self.note(&format!("= {result}"));
                Ok(None)
            }
            RunEnded::Asked(_) | RunEnded::Waiting(_) => Ok(self.ask_open().await),
            RunEnded::Cancelled => {
                self.note("stopped");
                Ok(None)
            }
            RunEnded::InProgress { response_id } => self.follow(response_id).await,
        }
    }

    /// Asks what is open; `None`: the person left it open.
    pub(super) async fn ask_open(&mut self) -> Option<Step> {
        let step = self.ask_for_step().await;
        if step.is_none() {
            self.note(OPEN);
        }
        step
    }

    async fn ask_for_step(&mut self) -> Option<Step> {
        let questions = self.thread.questions();
        if !questions.is_empty() {
            let answers = ask::questions(&mut self.console, &questions).await?;
            return Some(Step::Answer(answers));
        }
        let calls = self.thread.waiting();
        let results = ask::calls(&mut self.console, &calls).await?;
        for (call, result) in calls.iter().zip(results) {
            match result {
                Some(result) => self.thread.tool_result(call, result),
                None => self.thread.tool_failure(call, SKIPPED),
            }
        }
        Some(Step::Proceed)
    }

    /// Cancels every question and skips every call that is open.
    async fn give_up(&mut self) -> Next {
        let questions = self.thread.questions();
        let step = if questions.is_empty() {
            for call in self.thread.waiting() {
                self.thread
                    .tool_failure(&call, "the person skipped this call");
            }
            Step::Proceed
        } else {
            Step::Answer(questions.iter().map(Question::cancel).collect())
        };
        self.converse(step).await
    }

    pub(super) fn is_waiting(&self) -> bool {
        !self.thread.questions().is_empty() || !self.thread.waiting().is_empty()
    }

    /// Says which keys of the shared state a run has changed.
    fn note_state(&mut self, before: &Value) {
        let state = self.thread.state();
        if state == before {
            return;
        }
        let none = serde_json::Map::new();
        let (before, after) = (
            before.as_object().unwrap_or(&none),
            state.as_object().unwrap_or(&none),
        );
        let keys = before
            .keys()
            .chain(after.keys().filter(|key| !before.contains_key(*key)));
        let changed = keys.filter(|key| before.get(*key) != after.get(*key));
        let changed: Vec<String> = changed.map(|key| fold(key, 40)).collect();
        if !changed.is_empty() {
            self.note(&format!(
                "state changed: {} (:state shows it)",
                changed.join(", ")
            ));
        }
    }

    pub(super) fn note(&mut self, text: &str) {
        self.console.screen.line(Style::DIM, text);
        self.console.screen.flush();
    }

    pub(super) fn complain(&mut self, text: &str) {
        self.console
            .screen
            .line(Style::BAD, &format!("error: {text}"));
        self.console.screen.flush();
    }
}
