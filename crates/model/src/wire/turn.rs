//! The events of one turn, in an order that keeps the guarantees of [`ModelEvent`].
//!
//! A wire's decoder says what it read; the turn decides what may be said now. It is the one place where deltas are
//! never empty, calls end once, and nothing follows the end.

use std::collections::VecDeque;

use serde_json::Value;

use crate::{
    Error, ErrorKind, Finish, FinishReason, ModelEvent, Usage,
    wire::{CallIds, completeness::Completeness},
};

/// A turn being read.
#[derive(Debug)]
pub struct Turn {
    ids: CallIds,
    calls: Vec<Call>,
    ready: VecDeque<ModelEvent>,
    failure: Option<Error>,
    /// Nothing may be added any more.
    over: bool,
}

#[derive(Debug)]
struct Call {
    id: String,
    progress: Completeness,
    /// Something other than white space was written.
    written: bool,
    ended: bool,
}

impl Turn {
    /// A turn whose calls get their ids from `ids`.
    #[must_use]
    pub fn new(ids: CallIds) -> Self {
        Self {
            ids,
            calls: Vec::new(),
            ready: VecDeque::new(),
            failure: None,
            over: false,
        }
    }

    /// Adds visible text.
    pub fn text(&mut self, delta: String) {
        if !delta.is_empty() {
            self.say(ModelEvent::Text(delta));
        }
    }

    /// Adds reasoning.
    pub fn reasoning(&mut self, delta: String) {
        if !delta.is_empty() {
            self.say(ModelEvent::Reasoning(delta));
        }
    }

    /// Begins a call and returns its index.
    pub fn begin(&mut self, id: Option<&str>, name: &str) -> usize {
        let index = self.calls.len();
        let id = self.ids.claim(id);
        let progress = Completeness::default();
        self.calls.push(Call {
            id: id.clone(),
            progress,
            written: false,
            ended: false,
        });
        self.say(ModelEvent::CallStarted {
            index,
            id,
            name: name.to_owned(),
        });
        index
    }

    /// Adds to a call's arguments. White space after the call's end is dropped; anything else there is a failure.
    pub fn arguments(&mut self, index: usize, delta: String) {
        let Some(call) = self.calls.get_mut(index) else {
            return;
        };
        if call.ended {
            if !delta.trim_ascii().is_empty() {
                self.fail(
                    Error::of(ErrorKind::Malformed)
                        .with_detail("arguments for a call that has ended"),
                );
            }
        } else if !delta.is_empty() {
            call.progress.push(&delta);
            call.written |= !delta.trim_ascii().is_empty();
            self.say(ModelEvent::CallArguments { index, delta });
        }
    }

    /// Ends a call, with the arguments `{}` if it has none. Ending it again does nothing.
    pub fn end(&mut self, index: usize) {
        let Some(call) = self.calls.get_mut(index).filter(|call| !call.ended) else {
            return;
        };
        call.ended = true;
        if !call.written {
            self.say(ModelEvent::CallArguments {
                index,
                delta: "{}".to_owned(),
            });
        }
        self.say(ModelEvent::CallEnded { index });
    }

    /// The number of calls that have begun.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.calls.len()
    }

    /// The id that a call was given.
    #[must_use]
    pub fn id(&self, index: usize) -> Option<&str> {
        self.calls.get(index).map(|call| call.id.as_str())
    }

    /// Whether a call's arguments are a whole object or array.
    #[must_use]
    pub fn is_whole(&self, index: usize) -> bool {
        self.calls
            .get(index)
            .is_some_and(|call| call.progress.is_complete())
    }

    /// Ends all calls and the turn. The reason is brought in line with what the turn holds.
    pub fn finish(&mut self, reason: FinishReason, usage: Option<Usage>, origin: Option<Value>) {
        for index in 0..self.calls.len() {
            self.end(index);
        }
        if let Some(usage) = usage {
            self.say(ModelEvent::Usage(usage));
        }
        let reason = match reason {
            FinishReason::Stop if !self.calls.is_empty() => FinishReason::ToolCalls,
            FinishReason::ToolCalls if self.calls.is_empty() => FinishReason::Stop,
            reason => reason,
        };
        self.say(ModelEvent::Finished(Finish { reason, origin }));
        self.over = true;
    }

    /// Ends the turn with an error, after the events that are ready.
    pub fn fail(&mut self, error: Error) {
        if !self.over {
            self.failure = Some(error);
            self.over = true;
        }
    }

    /// Whether the turn has finished or failed; events may be left to take.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Takes the next event, and after the last one the failure if there is one.
    pub fn next_event(&mut self) -> Option<Result<ModelEvent, Error>> {
        match self.ready.pop_front() {
            Some(event) => Some(Ok(event)),
            None => self.failure.take().map(Err),
        }
    }

    fn say(&mut self, event: ModelEvent) {
        if !self.over {
            self.ready.push_back(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;

    fn turn() -> Turn {
        Turn::new(CallIds::new(&Request::default()))
    }

    fn events(turn: &mut Turn) -> Vec<ModelEvent> {
        std::iter::from_fn(|| turn.next_event())
            .map(Result::unwrap)
            .collect()
    }

    #[test]
    fn a_call_without_arguments_gets_an_empty_object_and_ends_once() {
        let mut turn = turn();
        let index = turn.begin(Some("a"), "list");
        turn.arguments(index, String::new());
        turn.end(index);
        turn.end(index);
        turn.finish(FinishReason::Stop, None, None);
        let started = ModelEvent::CallStarted {
            index: 0,
            id: "a".into(),
            name: "list".into(),
        };
        let arguments = ModelEvent::CallArguments {
            index: 0,
            delta: "{}".into(),
        };
        let finish = Finish {
            reason: FinishReason::ToolCalls,
            origin: None,
        };
        let expected = [
            started,
            arguments,
            ModelEvent::CallEnded { index: 0 },
            ModelEvent::Finished(finish),
        ];
        assert_eq!(events(&mut turn), expected);
    }

    #[test]
    fn nothing_follows_an_error() {
        let mut turn = turn();
        turn.text("a".into());
        turn.fail(Error::of(ErrorKind::Truncated));
        turn.text("b".into());
        turn.finish(FinishReason::Stop, None, None);
        assert_eq!(
            turn.next_event().unwrap().unwrap(),
            ModelEvent::Text("a".into())
        );
        assert_eq!(
            turn.next_event().unwrap().unwrap_err().kind(),
            ErrorKind::Truncated
        );
        assert!(turn.next_event().is_none());
    }

    #[test]
    fn arguments_after_the_end_of_a_call_are_a_failure_but_white_space_is_not() {
        let mut turn = turn();
        let index = turn.begin(None, "list");
        turn.arguments(index, "{}".into());
        turn.end(index);
        turn.arguments(index, " \n".into());
        assert!(!turn.is_over());
        turn.arguments(index, "{}".into());
        assert!(turn.is_over());
    }
}
