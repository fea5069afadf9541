//! Is this stream legal?
//!
//! [`Verifier::consumer`] refuses what the official client refuses and nothing else: use it in
//! front of anything that folds events. [`Verifier::producer`] also holds the stream to what a
//! server must do, which no client checks: use it on what one sends oneself.

mod ledger;
mod producer;
mod rule;

pub use rule::{Rule, Violation};

use crate::{Dialect, Event, EventType, Message, RunAgentInput};
use ledger::Ledger;
use producer::Producer;
use rule::violation;

/// Checks a stream event by event, in constant time for each.
///
/// ```
/// use antiphon_protocol::{Rule, RunStarted, TextMessageContent, Verifier};
///
/// let mut verifier = Verifier::consumer();
/// verifier.check(&RunStarted::new("t1", "r1").into())?;
/// let violation = verifier.check(&TextMessageContent::new("m1", "Hi").into()).unwrap_err();
/// assert_eq!(violation.rule, Rule::NotOpen);
/// # Ok::<(), antiphon_protocol::Violation>(())
/// ```
#[derive(Debug)]
pub struct Verifier {
    phase: Phase,
    ledger: Ledger,
    producer: Option<Producer>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing came yet.
    Before,
    Active,
    Finished,
    Errored,
}

impl Verifier {
    /// Returns a verifier with the rules of the official client.
    #[must_use]
    pub fn consumer() -> Self {
        Self {
            phase: Phase::Before,
            ledger: Ledger::default(),
            producer: None,
        }
    }

    /// Returns a verifier that also holds the stream to the duties of a server.
    #[must_use]
    pub fn producer() -> Self {
        Self {
            producer: Some(Producer::default()),
            ..Self::consumer()
        }
    }

    /// Lets a producer's stream be judged as the answer to this request: it has to echo the
    /// ids, leave calls of the client's tools unanswered, and speak the request's dialect.
    #[must_use]
    pub fn answering(mut self, input: &RunAgentInput) -> Self {
        if let Some(producer) = &mut self.producer {
            producer.answering(input);
        }
        self
    }

    /// Lets a producer's stream be judged against everything the thread held before: ids must
    /// not be used again, and results and interrupts must name calls that were made.
    #[must_use]
    pub fn after(mut self, history: &[Message]) -> Self {
        if let Some(producer) = &mut self.producer {
            producer.after(history);
        }
        self
    }

    /// Lets a producer's stream be judged as one for a peer of this dialect.
    #[must_use]
    pub fn speaking(mut self, dialect: Dialect) -> Self {
        if let Some(producer) = &mut self.producer {
            producer.dialect = dialect;
        }
        self
    }

    /// Checks the next event. One that violates a rule is not counted as having happened.
    ///
    /// # Errors
    ///
    /// The rule that the event violates.
    pub fn check(&mut self, event: &Event) -> Result<(), Violation> {
        self.check_phase(event.kind())?;
        if matches!(event, Event::RunStarted(_)) {
            self.ledger = Ledger::default();
        }
        self.ledger.check(event)?;
        if let Some(producer) = &mut self.producer {
            if self.phase == Phase::Finished && matches!(event, Event::RunError(_)) {
                return violation(Rule::AfterFinish, "RUN_ERROR comes after RUN_FINISHED");
            }
            producer.check(event, &self.ledger)?;
        }
        self.ledger.record(event);
        match event {
            Event::RunStarted(_) => self.phase = Phase::Active,
            Event::RunFinished(_) => self.phase = Phase::Finished,
            Event::RunError(_) => self.phase = Phase::Errored,
            _ => {}
        }
        Ok(())
    }

    /// Checks that the stream may end here.
    ///
    /// # Errors
    ///
    /// [`Rule::Terminal`]: nothing came at all, or a run is still active, so it was cut off. It
    /// is neither a success nor a `RUN_FINISHED`.
    pub fn finish(&self) -> Result<(), Violation> {
        match self.phase {
            Phase::Finished | Phase::Errored => Ok(()),
            Phase::Before => violation(Rule::Terminal, "the stream carried no event"),
            Phase::Active => violation(
                Rule::Terminal,
                "the stream ended without RUN_FINISHED or RUN_ERROR: the run was cut off",
            ),
        }
    }

    fn check_phase(&self, kind: EventType) -> Result<(), Violation> {
        match (self.phase, kind) {
            (Phase::Active, EventType::RunStarted) => violation(
                Rule::RunActive,
                "RUN_STARTED comes while a run is still active",
            ),
            (Phase::Active, _)
            | (Phase::Before | Phase::Finished, EventType::RunStarted | EventType::RunError)
            | (Phase::Errored, EventType::RunStarted) => Ok(()),
            (Phase::Before, _) => violation(
                Rule::FirstEvent,
                format!("the stream begins with {kind}, not RUN_STARTED"),
            ),
            (Phase::Finished, _) => violation(
                Rule::AfterFinish,
                format!("{kind} comes after RUN_FINISHED"),
            ),
            (Phase::Errored, _) => {
                violation(Rule::AfterError, format!("{kind} comes after RUN_ERROR"))
            }
        }
    }
}
