//! Whether an event may be believed, and how the run ended.

use std::collections::HashSet;

use antiphon_protocol::{
    Event, Message, Outcome, Rule, RunAgentInput, RunFinished, RunStarted, TokenUsage, Verifier,
    Violation, Warning,
};
use serde_json::Value;

use crate::text::clean;
use crate::{Error, ErrorKind};

/// How a run ended, as its stream says.
#[derive(Debug, Clone)]
pub(crate) enum Terminal {
    /// `RUN_FINISHED`.
    Finished {
        outcome: Option<Outcome>,
        result: Option<Value>,
        usage: Vec<TokenUsage>,
    },
    /// `RUN_ERROR`.
    Failed {
        error: Error,
        usage: Vec<TokenUsage>,
    },
}

/// Checks a stream.
///
/// An order that no client can follow is an error, and so is an answer to another thread or run
/// from a server of 1.x. Any other duty that the server neglects is a warning, or an error too
/// where the client is strict. The advisor that sees these falls silent after the first: it
/// lost track of the stream there.
#[derive(Debug)]
pub(crate) struct Judge {
    /// The request, without its messages.
    input: RunAgentInput,
    strict: bool,
    rules: Verifier,
    advisor: Option<Verifier>,
    started: Option<Started>,
    terminal: Option<Terminal>,
}

#[derive(Debug)]
struct Started {
    thread_id: String,
    run_id: String,
    /// The server declares a version, so it promises to echo ids.
    promises: bool,
}

impl Judge {
    /// Judges the answer to a request. `history` is what the thread held before, where all of it
    /// is known.
    pub(crate) fn new(input: RunAgentInput, history: Option<&[Message]>, strict: bool) -> Self {
        let mut duties = Verifier::producer().answering(&input);
        if let Some(history) = history {
            duties = duties.after(history);
        }
        let (rules, advisor) = if strict {
            (duties, None)
        } else {
            (Verifier::consumer(), Some(duties))
        };
        Self {
            input,
            strict,
            rules,
            advisor,
            started: None,
            terminal: None,
        }
    }

    pub(crate) fn run_id(&self) -> &str {
        &self.input.run_id
    }

    /// Returns how the run ended that ended last.
    pub(crate) fn terminal(&self) -> Option<&Terminal> {
        self.terminal.as_ref()
    }

    /// Returns whether the stream may end here.
    pub(crate) fn is_complete(&self) -> bool {
        self.rules.finish().is_ok()
    }

    /// Returns whether the first event of another connection shows the run anew: the server no
    /// longer had the position.
    pub(crate) fn restarts(&self, event: &Event) -> bool {
        matches!(event, Event::RunStarted(e) if e.run_id == self.input.run_id)
    }

    pub(crate) fn restart(&mut self) {
        let fresh = Self::new(self.input.clone(), None, self.strict);
        (self.rules, self.advisor) = (fresh.rules, fresh.advisor);
    }

    /// Judges what a reader had to drop or mend.
    pub(crate) fn dropped(&self, warnings: &[Warning]) -> Result<(), Error> {
        match warnings.first() {
            Some(warning) if self.strict => {
                let said = clean(&warning.to_string(), 300);
                Err(Error::new(
                    ErrorKind::Malformed,
                    format!("an event is not as AG-UI has it: {said}"),
                ))
            }
            _ => Ok(()),
        }
    }

    /// Checks the next event and records it. Returns what it does wrong but may.
    pub(crate) fn check(&mut self, event: &Event) -> Result<Option<Warning>, Error> {
        self.rules.check(event)?;
        match event {
            Event::RunStarted(e) => self.start(e)?,
            Event::RunFinished(e) => self.finish(e)?,
            Event::RunError(e) => {
                self.terminal = Some(Terminal::Failed {
                    error: Error::run_failed(e.code.as_deref(), &e.message),
                    usage: e.usage.clone().unwrap_or_default(),
                });
            }
            _ => {}
        }
        Ok(self.advise(event))
    }

    fn advise(&mut self, event: &Event) -> Option<Warning> {
        let violation = self.advisor.as_mut()?.check(event).err()?;
        self.advisor = None;
        Some(Warning {
            path: event.kind().as_str().to_owned(),
            message: format!(
                "breaks the rule {}: {}",
                violation.rule,
                clean(&violation.message, 300)
            ),
        })
    }

    fn start(&mut self, event: &RunStarted) -> Result<(), Error> {
        self.terminal = None;
        let promises = event.protocol_version.is_some();
        if promises {
            same(
                Rule::ThreadId,
                "RUN_STARTED.threadId",
                &event.thread_id,
                &self.input.thread_id,
            )?;
        }
        self.started = Some(Started {
            thread_id: event.thread_id.clone(),
            run_id: event.run_id.clone(),
            promises,
        });
        Ok(())
    }

    fn finish(&mut self, event: &RunFinished) -> Result<(), Error> {
        if let Some(started) = self.started.as_ref().filter(|started| started.promises) {
            let (thread, run) = (&started.thread_id, &started.run_id);
            same(
                Rule::ThreadId,
                "RUN_FINISHED.threadId",
                &event.thread_id,
                thread,
            )?;
            same(Rule::RunId, "RUN_FINISHED.runId", &event.run_id, run)?;
        }
        if let Some(Outcome::Interrupt { interrupts }) = &event.outcome {
            let mut ids = HashSet::with_capacity(interrupts.len());
            let mut repeated = interrupts.iter().map(|interrupt| &interrupt.id);
            if let Some(id) = repeated.find(|id| id.is_empty() || !ids.insert(*id)) {
                return violation(
                    Rule::InterruptId,
                    format!("the interrupt id {id:?} is empty or there twice"),
                );
            }
        }
        self.terminal = Some(Terminal::Finished {
            outcome: event.outcome.clone(),
            result: event.result.clone(),
            usage: event.usage.clone().unwrap_or_default(),
        });
        Ok(())
    }

    /// Checks that the run that ended last is the one that was asked for; a stream may replay
    /// others before it.
    pub(crate) fn check_run(&self) -> Result<(), Error> {
        match &self.started {
            Some(started) if started.promises => same(
                Rule::RunId,
                "RUN_STARTED.runId",
                &started.run_id,
                &self.input.run_id,
            ),
            _ => Ok(()),
        }
    }
}

fn same(rule: Rule, what: &str, given: &str, expected: &str) -> Result<(), Error> {
    if given == expected {
        return Ok(());
    }
    violation(rule, format!("{what} is {given:?}, not {expected:?}"))
}

pub(crate) fn violation(rule: Rule, message: String) -> Result<(), Error> {
    Err(Violation { rule, message }.into())
}
