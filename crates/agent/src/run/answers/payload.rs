//! What an answer says: payloads checked against what was asked.

mod call;

use antiphon_protocol::{
    Content, ResumeEntry, ResumeStatus, ToolMessage, UniqueError, unique_json,
};
use serde_json::{Deserializer, Map, Value};

use super::Context;
use crate::error::Refusal;
use crate::run::decision::{Decision, Outcome};
use crate::run::question;
use crate::schema::Schema;
use crate::store::{Interaction, InteractionKind};
use crate::tool::PrivateValue;

impl Context<'_> {
    pub(super) fn decision(
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
                let fits = self.check_answer_schema(interaction, &payload, field);
                // What is wrong may be the value itself: also a member's name comes from the person.
                fits.map_err(|_| {
                    let message = "the private input does not fit its form";
                    Refusal::invalid("answer_unfit", field, message)
                })?;
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
            call::check(interaction, &call).map_err(|why| wrong("toolCall", why.to_owned()))?;
        }
        let reason = match payload.shift_remove("reason") {
            None | Some(Value::Null) => None,
            // Forms made of the schema send the field empty where nobody filled it in.
            Some(Value::String(reason)) => (!reason.trim().is_empty()).then_some(reason),
            Some(_) => return Err(wrong("reason", "reason must be a string".to_owned())),
        };
        let edited = payload.shift_remove("editedArgs");
        if let Some(unknown) = payload.keys().next() {
            return Err(wrong(
                unknown,
                format!("an approval has no member {unknown:?}"),
            ));
        }
        // Nothing runs after a decline: what a form filled in for the call has no use then.
        let edited = edited
            .filter(|_| approved || interaction.request["edits"] != true)
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
            held: false,
        })
    }

    pub(super) fn check_answer_schema(
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
}

/// Checks what an entry must keep whatever it answers: who abandons says nothing else, or it could be
/// meant as an answer.
pub(super) fn check_cancelled(entry: &ResumeEntry, field: &str) -> Result<(), Refusal> {
    let says_more = entry.payload.as_ref().is_some_and(|said| !said.is_null());
    if entry.status == ResumeStatus::Cancelled && says_more {
        let message = "a cancelled entry has no payload";
        let field = format!("{field}.payload");
        return Err(Refusal::invalid("invalid_resume", field, message));
    }
    Ok(())
}

/// A payload that is a JSON string holds JSON. One that says a thing twice says nothing, and stays text.
pub(super) fn decoded(payload: Value) -> Value {
    match payload {
        Value::String(text) => unique(&text).unwrap_or(Value::String(text)),
        other => other,
    }
}

fn unique(text: &str) -> Result<Value, UniqueError<serde_json::Error>> {
    let mut deserializer = Deserializer::from_str(text);
    let value = unique_json(&mut deserializer)?;
    deserializer.end().map_err(UniqueError::Unreadable)?;
    Ok(value)
}

/// An answer to a question of code, checked against the question's own schema.
fn question_answer(
    interaction: &Interaction,
    mut payload: Value,
    field: &str,
) -> Result<Decision, Refusal> {
    if interaction.request["confirms"] == true
        && let Value::Object(members) = &mut payload
    {
        read_accepted(members);
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

/// Reads `accepted` as `approved`. Where both are there and differ, both stay, and fit no schema.
fn read_accepted(members: &mut Map<String, Value>) {
    let approved = members.get("approved");
    if approved.is_some() && approved != members.get("accepted") {
        return;
    }
    if let Some(accepted) = members.shift_remove("accepted") {
        members.insert("approved".to_owned(), accepted);
    }
}

fn outcome(payload: &Value, field: &str) -> Result<Decision, Refusal> {
    let wrong = |member: &str, message: String| {
        Refusal::invalid("invalid_resume", format!("{field}.{member}"), message)
    };
    let mut members = payload.as_object().into_iter().flat_map(Map::keys);
    if let Some(unknown) = members.find(|member| *member != "outcome") {
        let message = format!("an outcome has no member {unknown:?}");
        return Err(wrong(unknown, message));
    }
    match payload["outcome"].as_str() {
        Some("retry") => Ok(Decision::Outcome(Outcome::Retry)),
        Some("done") => Ok(Decision::Outcome(Outcome::Done)),
        Some("failed") => Ok(Decision::Outcome(Outcome::Failed)),
        _ => {
            let message = "outcome must be \"retry\", \"done\" or \"failed\"";
            Err(wrong("outcome", message.to_owned()))
        }
    }
}
