//! Answers that come as tool messages: what the page's own tools found.

use antiphon_protocol::{Content, Message, ToolMessage};
use serde_json::Value;

use super::meaning::found;
use super::payload::decoded;
use super::{Answered, Context, Taken, already_settled, expired};
use crate::canonical;
use crate::error::Refusal;
use crate::run::conversation::Conversation;
use crate::run::decision::Decision;
use crate::run::intake::pending_refusal;
use crate::run::news::Given;
use crate::store::{Interaction, InteractionKind, StoredMessage};
use crate::tool::Execution;

impl Context<'_> {
    /// Takes tool messages that answer open calls of the page's tools. Any other is history that the
    /// thread does not share, unless it stands at the end of the list.
    pub(in crate::run) async fn results(
        &self,
        conversation: &Conversation,
        results: &[Given],
    ) -> Result<Taken, Refusal> {
        let mut taken = Taken::default();
        let last = results.len().saturating_sub(1);
        for (index, given) in results.iter().enumerate() {
            let result = &given.message;
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
                None if self.says_again(conversation, given, index == last) => {
                    taken.repeats |= self.check_known_result(conversation, result).await?;
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
        if result.error.is_none() {
            let text = result.content.text().into_owned();
            let value = decoded(Value::String(text));
            self.check_answer_schema(interaction, &value, "messages")?;
        }
        let decision = Decision::Result {
            message: as_stored(result),
            failed: result.error.is_some(),
            from_page: true,
            held: true,
        };
        Ok(self.answered(interaction, decision, None))
    }

    /// Whether a tool message that answers nothing open is meant as an answer. What the server itself
    /// found is not the page's to say: it counts only where nothing but it asks for a run, and not when it
    /// comes back as it went.
    fn says_again(&self, conversation: &Conversation, given: &Given, is_last: bool) -> bool {
        let tool = conversation.tool_of(&given.message.tool_call_id);
        let is_of_page = tool.is_none_or(|tool| self.is_page_tool(tool));
        given.asks && (is_of_page || (is_last && !given.known))
    }

    fn is_page_tool(&self, tool: &str) -> bool {
        let execution = self.agent.tools.get(tool).map(|tool| &tool.execution);
        matches!(execution, None | Some(Execution::Client { .. }))
    }

    /// A tool message for a call that does not wait for the page: a repetition, or a mistake.
    async fn check_known_result(
        &self,
        conversation: &Conversation,
        result: &ToolMessage,
    ) -> Result<bool, Refusal> {
        let call_id = &result.tool_call_id;
        if self.thread.calls.iter().any(|call| call.id == *call_id) {
            return Err(pending_refusal(self.agent, &self.thread.interactions));
        }
        match conversation.stored_result(call_id) {
            Some(known) if same_result(known, result) && self.agent.settings.replay_answers => {
                Ok(true)
            }
            Some(_) if self.has_expired(call_id).await? => Err(expired(call_id)),
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

    /// Whether a call was settled because nobody answered in time.
    async fn has_expired(&self, call_id: &str) -> Result<bool, Refusal> {
        let decisions = self.store.audit(&self.thread.key).await?;
        let mut of_call = decisions.iter().rev().filter(|d| d.tool_call_id == call_id);
        Ok(of_call.next().is_some_and(|d| d.decision == "expired"))
    }

    /// Open calls of the page's tools whose results the client's own history holds.
    pub(in crate::run) fn results_in_history(&self, conversation: &Conversation) -> Taken {
        let waits = self
            .thread
            .interactions
            .iter()
            .filter(|i| i.kind == InteractionKind::ClientTool);
        let answered = waits.filter_map(|interaction| {
            let result = conversation.result_of(&interaction.call_id)?;
            let decision = Decision::Result {
                message: as_stored(result),
                failed: result.error.is_some(),
                from_page: true,
                held: true,
            };
            Some(Answered {
                in_history: true,
                ..self.answered(interaction, decision, None)
            })
        });
        Taken {
            answered: answered.collect(),
            repeats: false,
        }
    }
}

impl Taken {
    /// Where a page sent a result as a message beside the entry that says the same, that message is the
    /// thread's, too, so that both hold one.
    pub(in crate::run) fn hold(&mut self, results: &[Given]) {
        for answer in &mut self.answered {
            let Decision::Result { message, held, .. } = &mut answer.decision else {
                continue;
            };
            let says_the_same = |given: &&Given| {
                !given.known
                    && given.message.error.is_none()
                    && given.message.tool_call_id == message.tool_call_id
                    && canonical::same(&found(&given.message.content), &found(&message.content))
            };
            if let Some(given) = results.iter().find(says_the_same) {
                *message = given.message.clone();
                *held = true;
            }
        }
    }
}

/// A result as the thread has it: what went wrong is its content, where it has no other.
fn as_stored(result: &ToolMessage) -> ToolMessage {
    let content = match &result.error {
        Some(error) if result.content.is_empty() => Content::Text(format!("Error: {error}")),
        _ => result.content.clone(),
    };
    ToolMessage {
        content,
        error: None,
        ..result.clone()
    }
}

/// Whether a result says what the thread has. The thread's own message does not tell a page that the call
/// failed: a page that took it over repeats it without.
fn same_result(known: &StoredMessage, sent: &ToolMessage) -> bool {
    let Message::Tool(result) = &known.message else {
        return false;
    };
    let is_failed = known.origin.as_ref().is_some_and(|o| o["isError"] == true);
    let is_copy = result.id == sent.id && sent.error.is_none();
    canonical::same(&found(&result.content), &found(&as_stored(sent).content))
        && (is_copy || is_failed == sent.error.is_some())
}
