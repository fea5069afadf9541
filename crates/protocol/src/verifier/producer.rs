//! What a server must do and no client checks.

use std::collections::{HashMap, HashSet};

use super::ledger::Ledger;
use super::{Rule, Violation, violation};
use crate::{
    Dialect, Event, Interrupt, Message, Outcome, Role, RunAgentInput, RunFinished, RunStarted,
    TokenUsage, ToolCallResult,
};

#[derive(Debug, Default)]
pub(super) struct Producer {
    pub(super) dialect: Dialect,
    /// The ids of the request that is answered.
    asked: Option<Ids>,
    client_tools: HashSet<String>,
    /// Whether all earlier messages of the thread are known.
    history_known: bool,
    /// Messages that were there before the run.
    history: HashSet<String>,
    /// What kind of message each id names.
    roles: HashMap<String, Role>,
    /// Calls made before the run or restated in it.
    earlier_calls: HashSet<String>,
    started: Option<Ids>,
    /// The run's calls in call order.
    calls: Vec<Call>,
    call_at: HashMap<String, usize>,
    answered: HashSet<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Ids {
    thread: String,
    run: String,
}

#[derive(Debug)]
struct Call {
    id: String,
    tool: String,
}

impl Producer {
    pub(super) fn answering(&mut self, input: &RunAgentInput) {
        self.asked = Some(Ids {
            thread: input.thread_id.clone(),
            run: input.run_id.clone(),
        });
        self.client_tools = input.tools.iter().map(|tool| tool.name.clone()).collect();
        self.dialect = Dialect::of(input.protocol_version.as_deref());
        self.remember(&input.messages);
    }

    pub(super) fn after(&mut self, history: &[Message]) {
        self.history_known = true;
        self.remember(history);
    }

    fn remember(&mut self, messages: &[Message]) {
        for message in messages {
            self.history.insert(message.id().to_owned());
            self.restate(message);
        }
    }

    fn restate(&mut self, message: &Message) {
        self.roles.insert(message.id().to_owned(), message.role());
        for call in message.tool_calls() {
            self.earlier_calls.insert(call.id.clone());
        }
    }

    /// Checks an event and records it.
    pub(super) fn check(&mut self, event: &Event, ledger: &Ledger) -> Result<(), Violation> {
        self.check_dialect(event)?;
        if event
            .base()
            .raw_event
            .as_ref()
            .is_some_and(serde_json::Value::is_null)
        {
            return violation(
                Rule::NullOptional,
                format!("{} has a null rawEvent", event.kind()),
            );
        }
        match event {
            Event::RunStarted(e) => self.start(e),
            Event::RunFinished(e) => self.check_finish(e),
            Event::RunError(e) => {
                check_usage(e.usage.as_deref())?;
                ledger.check_closed("RUN_ERROR")
            }
            Event::TextMessageStart(e) => {
                let role = e.role.map_or(Role::Assistant, Role::from);
                self.check_stream(&e.message_id, role)
            }
            Event::ReasoningMessageStart(e) => self.check_stream(&e.message_id, Role::Reasoning),
            Event::ToolCallStart(e) => {
                self.make_call(&e.tool_call_id, &e.tool_call_name);
                Ok(())
            }
            Event::ToolCallResult(e) => self.check_result(e),
            Event::ActivitySnapshot(e) => self.name(&e.message_id, Role::Activity),
            Event::ActivityDelta(e) if self.roles.get(&e.message_id) != Some(&Role::Activity) => {
                violation(
                    Rule::ActivityBaseline,
                    format!("activity {:?} changes before its snapshot", e.message_id),
                )
            }
            Event::MessagesSnapshot(e) => self.check_snapshot(&e.messages),
            _ => Ok(()),
        }
    }

    fn check_dialect(&self, event: &Event) -> Result<(), Violation> {
        if !self.dialect.concerns(event.kind()) {
            return Ok(());
        }
        if self.dialect.translate(event.clone()).as_ref() != Some(event) {
            return violation(
                Rule::OldPeer,
                format!("{} has a shape that a 0.x peer cannot read", event.kind()),
            );
        }
        Ok(())
    }

    fn start(&mut self, event: &RunStarted) -> Result<(), Violation> {
        let ids = Ids {
            thread: event.thread_id.clone(),
            run: event.run_id.clone(),
        };
        if let Some(asked) = &self.asked {
            same(
                Rule::ThreadId,
                "RUN_STARTED.threadId",
                &ids.thread,
                &asked.thread,
            )?;
            same(Rule::RunId, "RUN_STARTED.runId", &ids.run, &asked.run)?;
        }
        if self.dialect == Dialect::V1 && !event.protocol_version.as_deref().is_some_and(is_version)
        {
            return violation(
                Rule::ProtocolVersion,
                format!(
                    "RUN_STARTED.protocolVersion is {:?}",
                    event.protocol_version
                ),
            );
        }
        self.started = Some(ids);
        self.earlier_calls
            .extend(self.calls.drain(..).map(|call| call.id));
        self.call_at.clear();
        self.answered.clear();
        Ok(())
    }

    fn check_finish(&self, event: &RunFinished) -> Result<(), Violation> {
        if let Some(started) = &self.started {
            same(
                Rule::ThreadId,
                "RUN_FINISHED.threadId",
                &event.thread_id,
                &started.thread,
            )?;
            same(
                Rule::RunId,
                "RUN_FINISHED.runId",
                &event.run_id,
                &started.run,
            )?;
        }
        if event
            .result
            .as_ref()
            .is_some_and(serde_json::Value::is_null)
        {
            return violation(Rule::NullOptional, "RUN_FINISHED has a null result");
        }
        check_usage(event.usage.as_deref())?;
        match &event.outcome {
            Some(Outcome::Success {
                pending_tool_call_ids: Some(ids),
            }) => self.check_pending(ids),
            Some(Outcome::Interrupt { interrupts }) => self.check_interrupts(interrupts),
            Some(Outcome::Cancelled) if event.result.is_some() => {
                violation(Rule::CancelledResult, "a cancelled run has a result")
            }
            None
            | Some(
                Outcome::Success {
                    pending_tool_call_ids: None,
                }
                | Outcome::Cancelled,
            ) => Ok(()),
        }
    }

    fn check_pending(&self, named: &[String]) -> Result<(), Violation> {
        let open = self
            .calls
            .iter()
            .map(|call| &call.id)
            .filter(|id| !self.answered.contains(*id));
        if open.clone().eq(named) {
            return Ok(());
        }
        let open: Vec<_> = open.collect();
        violation(
            Rule::PendingToolCalls,
            format!("pendingToolCallIds are {named:?} but the run left {open:?} unanswered"),
        )
    }

    fn check_interrupts(&self, interrupts: &[Interrupt]) -> Result<(), Violation> {
        if interrupts.is_empty() {
            return violation(Rule::InterruptId, "an interrupted run has no interrupt");
        }
        let mut ids = HashSet::new();
        for interrupt in interrupts {
            if interrupt.id.is_empty() || !ids.insert(&interrupt.id) {
                return violation(
                    Rule::InterruptId,
                    format!("interrupt id {:?} is empty or there twice", interrupt.id),
                );
            }
            let Some(call) = &interrupt.tool_call_id else {
                continue;
            };
            if self.history_known && !self.was_made(call) {
                return violation(
                    Rule::InterruptToolCall,
                    format!(
                        "interrupt {:?} names call {call:?}, which was never made",
                        interrupt.id
                    ),
                );
            }
        }
        Ok(())
    }

    fn make_call(&mut self, id: &str, tool: &str) {
        if !self.call_at.contains_key(id) {
            self.call_at.insert(id.to_owned(), self.calls.len());
            self.calls.push(Call {
                id: id.to_owned(),
                tool: tool.to_owned(),
            });
        }
    }

    fn call(&self, id: &str) -> Option<&Call> {
        self.call_at.get(id).and_then(|at| self.calls.get(*at))
    }

    fn was_made(&self, call: &str) -> bool {
        self.call_at.contains_key(call) || self.earlier_calls.contains(call)
    }

    fn check_result(&mut self, event: &ToolCallResult) -> Result<(), Violation> {
        let id = &event.tool_call_id;
        if self.history_known && !self.was_made(id) {
            return violation(
                Rule::ResultUnknownCall,
                format!("a result answers call {id:?}, which was never made"),
            );
        }
        if self
            .call(id)
            .is_some_and(|call| self.client_tools.contains(&call.tool))
        {
            return violation(
                Rule::FrontendAnswered,
                format!("a result answers call {id:?}, whose tool is the client's"),
            );
        }
        if self.answered.contains(id) {
            return violation(Rule::ResultTwice, format!("call {id:?} is answered twice"));
        }
        if self.roles.contains_key(&event.message_id) {
            return reused(&event.message_id);
        }
        self.roles.insert(event.message_id.clone(), Role::Tool);
        self.answered.insert(id.clone());
        Ok(())
    }

    /// Checks the id of a message that streams. One of this run may be continued, one of the
    /// history is restated by a snapshot instead.
    fn check_stream(&mut self, id: &str, role: Role) -> Result<(), Violation> {
        if self.history.contains(id) {
            return reused(id);
        }
        self.name(id, role)
    }

    fn name(&mut self, id: &str, role: Role) -> Result<(), Violation> {
        match self.roles.get(id) {
            Some(known) if *known != role => reused(id),
            Some(_) => Ok(()),
            None => {
                self.roles.insert(id.to_owned(), role);
                Ok(())
            }
        }
    }

    fn check_snapshot(&mut self, messages: &[Message]) -> Result<(), Violation> {
        let mut ids = HashSet::with_capacity(messages.len());
        for message in messages {
            if !ids.insert(message.id()) {
                return violation(
                    Rule::SnapshotDuplicateId,
                    format!("a snapshot holds message {:?} twice", message.id()),
                );
            }
            self.restate(message);
        }
        Ok(())
    }
}

fn same(rule: Rule, what: &str, given: &str, expected: &str) -> Result<(), Violation> {
    if given == expected {
        return Ok(());
    }
    violation(rule, format!("{what} is {given:?}, not {expected:?}"))
}

fn reused(id: &str) -> Result<(), Violation> {
    violation(
        Rule::MessageIdReused,
        format!("message id {id:?} already names another message"),
    )
}

/// A version is `MAJOR.MINOR`.
fn is_version(text: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once('.')
        .is_some_and(|(major, minor)| number(major) && number(minor))
}

fn check_usage(usage: Option<&[TokenUsage]>) -> Result<(), Violation> {
    for usage in usage.unwrap_or_default() {
        if let (Some(input), Some(output), Some(total)) =
            (usage.input_tokens, usage.output_tokens, usage.total_tokens)
            && input.checked_add(output) != Some(total)
        {
            return violation(
                Rule::UsageTotal,
                "totalTokens is not inputTokens + outputTokens",
            );
        }
        let parts = [
            (
                "cachedInputTokens",
                usage.cached_input_tokens,
                usage.input_tokens,
            ),
            (
                "cacheWriteInputTokens",
                usage.cache_write_input_tokens,
                usage.input_tokens,
            ),
            (
                "reasoningTokens",
                usage.reasoning_tokens,
                usage.output_tokens,
            ),
        ];
        for (name, part, whole) in parts {
            if part.zip(whole).is_some_and(|(part, whole)| part > whole) {
                return violation(
                    Rule::UsagePart,
                    format!("{name} exceeds what it is part of"),
                );
            }
        }
    }
    Ok(())
}
