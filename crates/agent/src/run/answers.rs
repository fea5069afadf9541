//! Answers to open interactions: checked whole, before anything is delivered.

use antiphon_protocol::{Content, ResumeEntry, ResumeStatus, ToolMessage};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::conversation::Conversation;
use super::decision::{Decision, Outcome};
use super::intake::pending_refusal;
use super::question;
use crate::agent::BuiltAgent;
use crate::canonical;
use crate::clock::Ids;
use crate::error::Refusal;
use crate::schema::Schema;
use crate::store::{
    Answer, Audit, Call, Interaction, InteractionKind, InteractionStatus, Store, Thread,
};
use crate::tool::PrivateValue;

/// What the answers are checked against.
pub(super) struct Context<'a> {
    pub(super) agent: &'a BuiltAgent,
    pub(super) store: &'a dyn Store,
    pub(super) ids: &'a dyn Ids,
    pub(super) thread: &'a Thread,
    pub(super) now: Timestamp,
}

/// The answers of a request.
#[derive(Default)]
pub(super) struct Taken {
    pub(super) answered: Vec<Answered>,
    /// Whether an answer repeats one that was taken before.
    pub(super) repeats: bool,
}

/// One answer that was taken.
pub(super) struct Answered {
    /// The interaction, settled.
    pub(super) interaction: Interaction,
    pub(super) decision: Decision,
    pub(super) audit: Audit,
    /// Whether the result is part of the client's own history already.
    pub(super) in_history: bool,
}

impl Context<'_> {
    /// Checks the entries of a resume. `bare` says that the request has neither messages nor state.
    pub(super) async fn resume(
        &self,
        entries: &[ResumeEntry],
        bare: bool,
    ) -> Result<Taken, Refusal> {
        let mut taken = Taken::default();
        for (index, entry) in entries.iter().enumerate() {
            let field = format!("resume[{index}]");
            if entries
                .iter()
                .take(index)
                .any(|other| other.interrupt_id == entry.interrupt_id)
            {
                let field = format!("{field}.interruptId");
                return Err(Refusal::invalid(
                    "invalid_resume",
                    field,
                    "an interaction is answered twice",
                ));
            }
            let open = self
                .thread
                .interactions
                .iter()
                .find(|i| i.id == entry.interrupt_id);
            match open.filter(|i| self.may_answer(i)) {
                Some(interaction) => {
                    taken
                        .answered
                        .push(self.check(interaction, entry, &field, bare)?);
                }
                None => {
                    self.check_repeat(entry).await?;
                    taken.repeats = true;
                }
            }
        }
        Ok(taken)
    }

    /// Whether a client may answer an interaction: it is not another system's to answer, and the agent
    /// is the one that asked.
    fn may_answer(&self, interaction: &Interaction) -> bool {
        let asker = interaction.request["agent"].as_str();
        interaction.kind != InteractionKind::ExternalWait && asker == Some(&self.agent.name)
    }

    /// An entry for something that is not open: either it says again what was said, or it is refused.
    async fn check_repeat(&self, entry: &ResumeEntry) -> Result<(), Refusal> {
        let found = self.store.interaction(&entry.interrupt_id).await?;
        let settled =
            found.filter(|i| i.key == self.thread.key && i.status != InteractionStatus::Open);
        let Some(settled) = settled else {
            return Err(self.unknown());
        };
        if settled.status == InteractionStatus::Expired {
            let message = format!("the interaction {:?} has expired", settled.id);
            return Err(Refusal::conflict("interaction_expired", message));
        }
        let same = settled
            .answer
            .as_ref()
            .is_some_and(|answer| answer.hash == entry_hash(settled.kind, entry));
        if same && self.agent.settings.replay_answers {
            return Ok(());
        }
        Err(already_settled(&settled.id))
    }

    fn unknown(&self) -> Refusal {
        match self.thread.interactions.is_empty() {
            true => Refusal::conflict(
                "interaction_unknown",
                "the thread does not wait for this answer",
            ),
            false => pending_refusal(&self.thread.interactions),
        }
    }

    fn check(
        &self,
        interaction: &Interaction,
        entry: &ResumeEntry,
        field: &str,
        bare: bool,
    ) -> Result<Answered, Refusal> {
        if interaction.kind == InteractionKind::PrivateInput && !bare {
            let message = "an answer with private input comes alone: messages and state must be absent or empty";
            return Err(Refusal::invalid(
                "private_input_not_alone",
                "messages",
                message,
            ));
        }
        let decision = match entry.status {
            ResumeStatus::Cancelled => Decision::Cancelled,
            ResumeStatus::Resolved => {
                self.decision(interaction, entry, &format!("{field}.payload"))?
            }
        };
        Ok(self.answered(
            interaction,
            decision,
            entry_hash(interaction.kind, entry),
            Some(entry),
        ))
    }

    fn decision(
        &self,
        interaction: &Interaction,
        entry: &ResumeEntry,
        field: &str,
    ) -> Result<Decision, Refusal> {
        let Some(payload) = entry.payload.clone() else {
            return Err(Refusal::invalid(
                "invalid_resume",
                field,
                "a resolved entry needs a payload",
            ));
        };
        match interaction.kind {
            InteractionKind::Approval => self.approval(interaction, decoded(payload), field),
            InteractionKind::ClientTool => self.client_result(interaction, &payload, field),
            InteractionKind::PrivateInput => {
                let payload = decoded(payload);
                self.check_answer_schema(interaction, &payload, field)?;
                Ok(Decision::Private(PrivateValue::new(payload)))
            }
            InteractionKind::OutcomeUnknown => outcome(&decoded(payload), field),
            InteractionKind::Question => question_answer(interaction, decoded(payload), field),
            InteractionKind::ExternalWait => Err(self.unknown()),
        }
    }

    fn approval(
        &self,
        interaction: &Interaction,
        payload: Value,
        field: &str,
    ) -> Result<Decision, Refusal> {
        let wrong = |what: &str, message: String| {
            Refusal::invalid("invalid_resume", format!("{field}.{what}"), message)
        };
        let Value::Object(mut payload) = payload else {
            return Err(Refusal::invalid(
                "invalid_resume",
                field,
                "an approval's payload is a JSON object",
            ));
        };
        let approved = payload.shift_remove("approved");
        let accepted = payload.shift_remove("accepted");
        let answer = match (approved, accepted) {
            (answer, None) | (None, answer) => answer,
            // Both say the same, or nothing can be relied on.
            (approved, accepted) => approved.filter(|approved| Some(approved) == accepted.as_ref()),
        };
        let Some(Value::Bool(approved)) = answer else {
            return Err(wrong(
                "approved",
                "approved must be true or false".to_owned(),
            ));
        };
        if let Some(call) = payload.shift_remove("toolCall") {
            Self::check_same_call(interaction, &call).map_err(|why| wrong("toolCall", why))?;
        }
        let reason = match payload.shift_remove("reason") {
            None | Some(Value::Null) => None,
            Some(Value::String(reason)) => Some(reason),
            Some(_) => return Err(wrong("reason", "reason must be a string".to_owned())),
        };
        let edited = payload.shift_remove("editedArgs");
        if let Some(unknown) = payload.keys().next() {
            return Err(wrong(
                unknown,
                format!("an approval has no member {unknown:?}"),
            ));
        }
        let edited = edited
            .map(|edited| self.edited(interaction, &edited, &format!("{field}.editedArgs")))
            .transpose()?;
        Ok(if approved {
            Decision::Approved { edited }
        } else {
            Decision::Declined { reason }
        })
    }

    fn edited(
        &self,
        interaction: &Interaction,
        edited: &Value,
        field: &str,
    ) -> Result<Map<String, Value>, Refusal> {
        if interaction.request["edits"] != true {
            return Err(Refusal::invalid(
                "edits_not_allowed",
                field,
                "this call's arguments can't be edited",
            ));
        }
        let tool = interaction.request["name"].as_str().unwrap_or_default();
        let checked = self.agent.tools.arguments(tool, &edited.to_string());
        checked.map_err(|why| Refusal::invalid("invalid_resume", field, why.to_string()))
    }

    /// Clients that send the call along must mean the one that waits.
    fn check_same_call(interaction: &Interaction, call: &Value) -> Result<(), String> {
        let member = |names: [&str; 2]| names.iter().find_map(|name| call.get(*name)).cloned();
        let function = call.get("function");
        let name = member(["name", "toolName"]).or_else(|| function?.get("name").cloned());
        let arguments = member(["arguments", "args"])
            .or_else(|| function?.get("arguments").cloned())
            .map(decoded);
        let id = member(["callId", "id"]);
        let differs = name.is_some_and(|name| name != interaction.request["name"])
            || arguments.is_some_and(|arguments| arguments != interaction.request["arguments"])
            || id.is_some_and(|id| id != interaction.call_id && id != interaction.id);
        if differs {
            Err("this is not the call that waits".to_owned())
        } else {
            Ok(())
        }
    }

    fn client_result(
        &self,
        interaction: &Interaction,
        payload: &Value,
        field: &str,
    ) -> Result<Decision, Refusal> {
        self.check_answer_schema(interaction, payload, field)?;
        let content = Content::Text(match payload {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        let message = ToolMessage::new(self.ids.next("res"), &interaction.call_id, content);
        Ok(Decision::Result {
            message,
            failed: false,
            from_page: true,
        })
    }

    fn check_answer_schema(
        &self,
        interaction: &Interaction,
        value: &Value,
        field: &str,
    ) -> Result<(), Refusal> {
        let tool = question::tool_name(interaction);
        let Some(schema) = self.agent.tools.answer_schema(tool) else {
            return Ok(());
        };
        schema.check(value).map_err(|why| {
            let message = format!("the answer to {tool:?} does not fit its schema: {why}");
            Refusal::invalid("answer_unfit", field, message)
        })
    }

    /// Takes tool messages that answer open calls of the page's tools. Any other is history that the
    /// thread does not share, unless the list ends in it.
    pub(super) fn results(
        &self,
        conversation: &Conversation,
        results: &[ToolMessage],
        ends_in_result: bool,
    ) -> Result<Taken, Refusal> {
        let mut taken = Taken::default();
        let last = results.len().saturating_sub(1);
        for (index, result) in results.iter().enumerate() {
            let waits = self
                .thread
                .interactions
                .iter()
                .find(|i| i.call_id == result.tool_call_id);
            match waits.filter(|i| i.kind == InteractionKind::ClientTool && self.may_answer(i)) {
                Some(interaction) => {
                    if taken
                        .answered
                        .iter()
                        .any(|answer| answer.interaction.id == interaction.id)
                    {
                        return Err(Refusal::invalid(
                            "invalid_input",
                            "messages",
                            "a call is answered twice",
                        ));
                    }
                    taken.answered.push(self.page_result(interaction, result)?);
                }
                None if ends_in_result && index == last => {
                    taken.repeats |= self.check_known_result(conversation, result)?;
                }
                None => {}
            }
        }
        Ok(taken)
    }

    fn page_result(
        &self,
        interaction: &Interaction,
        result: &ToolMessage,
    ) -> Result<Answered, Refusal> {
        let text = result.content.text();
        let value =
            serde_json::from_str(&text).unwrap_or_else(|_| Value::String(text.into_owned()));
        if result.error.is_none() {
            self.check_answer_schema(interaction, &value, "messages")?;
        }
        let failed = result.error.is_some();
        let message = ToolMessage {
            error: None,
            ..result.clone()
        };
        let message = match (&result.error, message.content.is_empty()) {
            (Some(error), true) => ToolMessage {
                content: Content::Text(format!("Error: {error}")),
                ..message
            },
            _ => message,
        };
        let decision = Decision::Result {
            message,
            failed,
            from_page: true,
        };
        Ok(self.answered(interaction, decision, result_hash(result), None))
    }

    /// A tool message for a call that does not wait for the page: a repetition, or a mistake.
    fn check_known_result(
        &self,
        conversation: &Conversation,
        result: &ToolMessage,
    ) -> Result<bool, Refusal> {
        let call_id = &result.tool_call_id;
        if self.thread.calls.iter().any(|call| call.id == *call_id) {
            return Err(pending_refusal(&self.thread.interactions));
        }
        match conversation.result_of(call_id) {
            Some(known) if same_result(known, result) && self.agent.settings.replay_answers => {
                Ok(true)
            }
            Some(_) => Err(already_settled(call_id)),
            None => {
                let message = format!(
                    "this thread never made the call {call_id:?}; a client that makes a new thread id for every \
                     request is served by agents with `history: client`"
                );
                Err(Refusal::invalid("tool_call_unknown", "messages", message))
            }
        }
    }

    /// Open calls of the page's tools whose results the client's own history holds.
    pub(super) fn results_in_history(&self, conversation: &Conversation) -> Taken {
        let waits = self
            .thread
            .interactions
            .iter()
            .filter(|i| i.kind == InteractionKind::ClientTool);
        let answered = waits.filter_map(|interaction| {
            let result = conversation.result_of(&interaction.call_id)?;
            let decision = Decision::Result {
                message: result.clone(),
                failed: result.error.is_some(),
                from_page: true,
            };
            Some(Answered {
                in_history: true,
                ..self.answered(interaction, decision, result_hash(result), None)
            })
        });
        Taken {
            answered: answered.collect(),
            repeats: false,
        }
    }

    fn answered(
        &self,
        interaction: &Interaction,
        decision: Decision,
        hash: String,
        entry: Option<&ResumeEntry>,
    ) -> Answered {
        let by = self.thread.key.user.clone();
        let entry = entry
            .filter(|_| interaction.kind != InteractionKind::PrivateInput)
            .cloned();
        let status = match decision {
            Decision::Cancelled => InteractionStatus::Cancelled,
            _ => InteractionStatus::Answered,
        };
        let audit = audit(interaction, &decision, &by, self.now);
        let answer = Answer {
            hash,
            entry,
            at: self.now,
            by,
        };
        let interaction = Interaction {
            status,
            answer: Some(answer),
            ..interaction.clone()
        };
        Answered {
            interaction,
            decision,
            audit,
            in_history: false,
        }
    }
}

/// The record of what came of an approved call.
pub(super) fn outcome_audit(
    call: &Call,
    approved: &Interaction,
    failed: bool,
    at: Timestamp,
) -> Audit {
    Audit {
        interaction_id: approved.id.clone(),
        tool_call_id: call.id.clone(),
        tool: call.tool.clone(),
        decision: "executed".to_owned(),
        by: String::new(),
        at,
        arguments_hash: canonical::hash(
            &serde_json::from_str(&call.arguments).unwrap_or(Value::Null),
        ),
        edited_arguments: None,
        outcome: Some(if failed { "failed" } else { "done" }.to_owned()),
    }
}

/// The record of a decision.
pub(super) fn audit(
    interaction: &Interaction,
    decision: &Decision,
    by: &str,
    at: Timestamp,
) -> Audit {
    let (word, edited) = match decision {
        Decision::Approved { edited } => ("approved", edited.clone().map(Value::Object)),
        Decision::Declined { .. } => ("declined", None),
        Decision::Cancelled => ("cancelled", None),
        Decision::Expired => ("expired", None),
        Decision::Result { failed: true, .. } => ("failed", None),
        Decision::Result { .. }
        | Decision::Private(_)
        | Decision::Answer(_)
        | Decision::Outcome(_) => ("answered", None),
    };
    Audit {
        interaction_id: interaction.id.clone(),
        tool_call_id: interaction.call_id.clone(),
        tool: question::tool_name(interaction).to_owned(),
        decision: word.to_owned(),
        by: by.to_owned(),
        at,
        arguments_hash: canonical::hash(&interaction.request["arguments"]),
        edited_arguments: edited,
        outcome: None,
    }
}

fn already_settled(id: &str) -> Refusal {
    Refusal::conflict("interaction_settled", format!("{id:?} was answered before"))
}

/// A payload that is a JSON string holds JSON.
fn decoded(payload: Value) -> Value {
    match payload {
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        other => other,
    }
}

/// An answer to a question of code, checked against the question's own schema.
fn question_answer(
    interaction: &Interaction,
    mut payload: Value,
    field: &str,
) -> Result<Decision, Refusal> {
    if interaction.request["confirms"] == true
        && let Value::Object(members) = &mut payload
        && let Some(accepted) = members.shift_remove("accepted")
    {
        members.entry("approved").or_insert(accepted);
    }
    let schema = Schema::compile(&interaction.request["schema"]);
    let fits = schema.and_then(|schema| schema.check(&payload));
    fits.map_err(|why| {
        Refusal::invalid(
            "answer_unfit",
            field,
            format!("the answer does not fit the question: {why}"),
        )
    })?;
    Ok(Decision::Answer(payload))
}

fn outcome(payload: &Value, field: &str) -> Result<Decision, Refusal> {
    match payload["outcome"].as_str() {
        Some("retry") => Ok(Decision::Outcome(Outcome::Retry)),
        Some("done") => Ok(Decision::Outcome(Outcome::Done)),
        Some("failed") => Ok(Decision::Outcome(Outcome::Failed)),
        _ => {
            let message = "outcome must be \"retry\", \"done\" or \"failed\"";
            Err(Refusal::invalid(
                "invalid_resume",
                format!("{field}.outcome"),
                message,
            ))
        }
    }
}

/// What tells a repeated answer from another one. Of private input only that it was given counts: a
/// hash of a short secret would give it away.
fn entry_hash(kind: InteractionKind, entry: &ResumeEntry) -> String {
    let payload = match kind {
        InteractionKind::PrivateInput => Value::Null,
        _ => entry.payload.clone().map_or(Value::Null, decoded),
    };
    canonical::hash(&json!([entry.status, payload]))
}

fn result_hash(result: &ToolMessage) -> String {
    canonical::hash(&json!([result.content, result.error]))
}

fn same_result(known: &ToolMessage, sent: &ToolMessage) -> bool {
    known.content.text() == sent.content.text()
}
