//! Questions that a run stopped for, and answers to them.

use std::fmt;

use antiphon_protocol::{Interrupt, Metadata, ResumeEntry, ResumeStatus, ToolCall};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// A question that a run stopped for: an approval, something to fill in, a private value.
///
/// It makes its own [`Answer`]s; [`Thread::answer`](crate::Thread::answer) sends them.
///
/// ```no_run
/// # async fn f(mut thread: antiphon_client::Thread) -> Result<(), antiphon_client::Error> {
/// use antiphon_client::Ended;
///
/// let ended = thread.send("Delete customer 7").await?.finish().await?;
/// if let Ended::Asked(questions) = ended {
///     let answers = questions.iter().map(|question| question.decline("not today"));
///     thread.answer(answers).await?.finish().await?;
/// }
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    interrupt: Interrupt,
    call: Option<ToolCall>,
}

impl Question {
    pub(crate) const fn new(interrupt: Interrupt, call: Option<ToolCall>) -> Self {
        Self { interrupt, call }
    }

    /// Returns the id that the answer names.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.interrupt.id
    }

    /// Returns why the agent asks, such as `tool_call`, `confirmation` or `input_required`.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.interrupt.reason
    }

    /// Returns what to ask the person.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        self.interrupt.message.as_deref()
    }

    /// Returns the tool call that waits for the answer, where it is known here.
    #[must_use]
    pub const fn call(&self) -> Option<&ToolCall> {
        self.call.as_ref()
    }

    /// Returns the JSON Schema of the answer's payload.
    #[must_use]
    pub const fn schema(&self) -> Option<&Map<String, Value>> {
        self.interrupt.response_schema.as_ref()
    }

    /// Returns when the question lapses, as the agent writes it.
    #[must_use]
    pub fn expires_at(&self) -> Option<&str> {
        self.interrupt.expires_at.as_deref()
    }

    /// Returns what the agent says besides.
    #[must_use]
    pub const fn metadata(&self) -> Option<&Metadata> {
        self.interrupt.metadata.as_ref()
    }

    /// Returns whether the answer is a private value, which is to be read without an echo and
    /// kept nowhere. It travels alone: the request that carries it holds neither messages nor
    /// state.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.reason() == "private_input"
            || self
                .details()
                .any(|details| details.get("privateInput") == Some(&Value::Bool(true)))
    }

    /// Returns whether the answer may replace the call's arguments.
    #[must_use]
    pub fn is_editable(&self) -> bool {
        self.names("editedArgs")
    }

    /// Returns whether a declining answer may say why: the schema has a place for a `reason`, or
    /// does not forbid one.
    #[must_use]
    pub fn takes_reason(&self) -> bool {
        let closed = self
            .schema()
            .is_some_and(|schema| schema.get("additionalProperties") == Some(&Value::Bool(false)));
        self.names("reason") || !closed
    }

    /// Whether the schema names this member of the answer.
    fn names(&self, member: &str) -> bool {
        self.schema()
            .and_then(|schema| schema.get("properties"))
            .is_some_and(|properties| properties.get(member).is_some())
    }

    /// Returns whether the agent waits for one of this client's tools and not for a person. Such
    /// a call is a question where the run waits for a person as well.
    #[must_use]
    pub fn is_client_tool(&self) -> bool {
        let kind = Value::String("client_tool".to_owned());
        !self.is_private()
            && self
                .details()
                .any(|details| details.get("type") == Some(&kind))
    }

    /// The metadata's members that are objects: a server puts its own details under its name.
    fn details(&self) -> impl Iterator<Item = &Map<String, Value>> {
        let entries = self.metadata().into_iter().flatten();
        entries.filter_map(|(_, value)| value.as_object())
    }

    /// Returns the answer that lets the call happen: `{"approved": true}`, or `accepted` where the
    /// [`schema`](Self::schema) names the decision so.
    #[must_use]
    pub fn approve(&self) -> Answer {
        self.answer(self.decision(true))
    }

    /// Returns the answer that lets the call happen with other arguments, all of them.
    #[must_use]
    pub fn edit(&self, arguments: impl Serialize) -> Answer {
        let mut decision = self.decision(true);
        decision["editedArgs"] = value(arguments);
        self.answer(decision)
    }

    /// Returns the answer that forbids the call, with the reason that the model is told. One that
    /// the question does [not take](Self::takes_reason) is left out: an agent that is strict
    /// about its schema would refuse the whole answer.
    #[must_use]
    pub fn decline(&self, reason: impl Into<String>) -> Answer {
        let reason: String = reason.into();
        let mut decision = self.decision(false);
        if !reason.is_empty() && self.takes_reason() {
            decision["reason"] = reason.into();
        }
        self.answer(decision)
    }

    /// The decision alone, under the name that the question has for it.
    fn decision(&self, approved: bool) -> Value {
        let name = if self.names("accepted") && !self.names("approved") {
            "accepted"
        } else {
            "approved"
        };
        json!({ name: approved })
    }

    /// Returns the answer with this payload, which should fit the [`schema`](Self::schema).
    #[must_use]
    pub fn answer(&self, payload: impl Serialize) -> Answer {
        let mut entry = ResumeEntry::new(self.id(), ResumeStatus::Resolved);
        entry.payload = Some(value(payload));
        self.entry(entry)
    }

    /// Returns the answer that gives the question up.
    #[must_use]
    pub fn cancel(&self) -> Answer {
        self.entry(ResumeEntry::new(self.id(), ResumeStatus::Cancelled))
    }

    fn entry(&self, entry: ResumeEntry) -> Answer {
        Answer {
            entry,
            private: self.is_private(),
        }
    }
}

/// Returns the value as JSON. What has no JSON form (a map with keys that are no strings) is
/// null, which every server refuses.
pub(crate) fn value(value: impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// The answer to a [`Question`]. Its debug output leaves out what it says.
#[derive(Clone, PartialEq)]
pub struct Answer {
    entry: ResumeEntry,
    private: bool,
}

impl Answer {
    /// Returns the question that it answers.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.entry.interrupt_id
    }

    pub(crate) const fn is_private(&self) -> bool {
        self.private
    }

    pub(crate) fn into_entry(self) -> ResumeEntry {
        self.entry
    }
}

impl From<ResumeEntry> for Answer {
    /// Takes an answer to a question that was asked elsewhere, and is not private.
    fn from(entry: ResumeEntry) -> Self {
        Self {
            entry,
            private: false,
        }
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer")
            .field("id", &self.id())
            .field("status", &self.entry.status)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(reason: &str, metadata: &Value) -> Question {
        let mut interrupt = Interrupt::new("i1", reason);
        interrupt.metadata = metadata.as_object().cloned();
        Question::new(interrupt, None)
    }

    #[test]
    fn each_answer_is_what_servers_understand() {
        let question = question("tool_call", &json!({}));
        let entry = |answer: Answer| value(answer.into_entry());
        let resolved =
            |payload: Value| json!({"interruptId": "i1", "status": "resolved", "payload": payload});
        assert_eq!(
            entry(question.approve()),
            resolved(json!({"approved": true}))
        );
        assert_eq!(
            entry(question.edit(json!({"id": 2}))),
            resolved(json!({"approved": true, "editedArgs": {"id": 2}}))
        );
        assert_eq!(
            entry(question.decline("no")),
            resolved(json!({"approved": false, "reason": "no"}))
        );
        assert_eq!(
            entry(question.decline("")),
            resolved(json!({"approved": false}))
        );
        assert_eq!(
            entry(question.cancel()),
            json!({"interruptId": "i1", "status": "cancelled"})
        );
    }

    #[test]
    fn what_kind_of_question_it_is_can_be_told() {
        assert!(question("private_input", &json!({})).is_private());
        let private = json!({"harnest": {"type": "client_tool", "privateInput": true}});
        let private = question("input_required", &private);
        assert!(private.is_private() && !private.is_client_tool());
        let call = question("tool_call", &json!({"harnest": {"type": "client_tool"}}));
        assert!(call.is_client_tool() && !call.is_private());
        assert!(!question("tool_call", &json!({"risk": "high"})).is_client_tool());
    }

    #[test]
    fn what_an_answer_says_is_not_shown() {
        let answer = question("private_input", &json!({})).answer("hunter2");
        assert!(!format!("{answer:?}").contains("hunter2"));
    }
}
