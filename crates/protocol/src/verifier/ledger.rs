//! What is open, and who opened it: the rules that clients check.

use std::collections::{HashMap, HashSet};

use super::{Rule, Violation, violation};
use crate::{EncryptedValueSubtype, Event, Message, Role};

/// The subagent run that something belongs to; `None` is the run's own agent.
type Owner = Option<String>;

/// Everything that a run has opened so far.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    texts: Items,
    calls: Items,
    reasoning: Items,
    /// Spans share their owners with `reasoning`: an id may name a span and a message.
    spans: HashSet<String>,
    activities: HashMap<String, Owner>,
    steps: HashMap<Owner, HashSet<String>>,
    subagents: HashSet<String>,
    ended_subagents: HashSet<String>,
}

/// Things of one kind: which are open, and the owners of all that ever were.
#[derive(Debug, Default)]
struct Items {
    open: HashSet<String>,
    owners: HashMap<String, Owner>,
}

impl Items {
    /// Checks that the tag of a later event agrees with the opener; no tag always does.
    fn check_owner(&self, what: &str, id: &str, tag: Option<&str>) -> Result<(), Violation> {
        check_owner(self.owners.get(id), what, id, tag)
    }

    fn check_opening(&self, what: &str, id: &str, tag: Option<&str>) -> Result<(), Violation> {
        if self.open.contains(id) {
            return violation(
                Rule::AlreadyOpen,
                format!("{what} {id:?} is opened while it is open"),
            );
        }
        self.check_owner(what, id, tag)
    }

    fn check_open(&self, what: &str, id: &str, tag: Option<&str>) -> Result<(), Violation> {
        if !self.open.contains(id) {
            return violation(
                Rule::NotOpen,
                format!("{what} {id:?} is continued or closed but not open"),
            );
        }
        self.check_owner(what, id, tag)
    }

    fn open(&mut self, id: &str, owner: impl FnOnce() -> Owner) {
        self.open.insert(id.to_owned());
        if !self.owners.contains_key(id) {
            self.owners.insert(id.to_owned(), owner());
        }
    }
}

fn check_owner(
    owner: Option<&Owner>,
    what: &str,
    id: &str,
    tag: Option<&str>,
) -> Result<(), Violation> {
    match (tag, owner) {
        (Some(tag), Some(owner)) if owner.as_deref() != Some(tag) => violation(
            Rule::Owner,
            format!(
                "{what} {id:?} belongs to {}, not to subagent {tag:?}",
                named(owner.as_deref())
            ),
        ),
        _ => Ok(()),
    }
}

fn named(owner: Option<&str>) -> String {
    owner.map_or_else(
        || "the run's own agent".to_owned(),
        |owner| format!("subagent {owner:?}"),
    )
}

const TEXT: &str = "text message";
const CALL: &str = "tool call";
const REASONING: &str = "reasoning message";
const SPAN: &str = "reasoning span";

impl Ledger {
    pub(super) fn check(&self, event: &Event) -> Result<(), Violation> {
        let tag = event.subagent_run_id();
        match event {
            Event::TextMessageStart(e) => self.texts.check_opening(TEXT, &e.message_id, tag),
            Event::TextMessageContent(e) => self.texts.check_open(TEXT, &e.message_id, tag),
            Event::TextMessageEnd(e) => self.texts.check_open(TEXT, &e.message_id, tag),
            Event::ToolCallStart(e) => {
                self.check_call(&e.tool_call_id, e.parent_message_id.as_deref(), tag)
            }
            Event::ToolCallArgs(e) => self.calls.check_open(CALL, &e.tool_call_id, tag),
            Event::ToolCallEnd(e) => self.calls.check_open(CALL, &e.tool_call_id, tag),
            Event::ReasoningMessageStart(e) => {
                self.reasoning.check_opening(REASONING, &e.message_id, tag)
            }
            Event::ReasoningMessageContent(e) => {
                self.reasoning.check_open(REASONING, &e.message_id, tag)
            }
            Event::ReasoningMessageEnd(e) => {
                self.reasoning.check_open(REASONING, &e.message_id, tag)
            }
            Event::ReasoningStart(e) => self.check_span(&e.message_id, false, tag),
            Event::ReasoningEnd(e) => self.check_span(&e.message_id, true, tag),
            Event::ReasoningEncryptedValue(e) => {
                let (what, owner) = match e.subtype {
                    EncryptedValueSubtype::ToolCall => (CALL, self.calls.owners.get(&e.entity_id)),
                    EncryptedValueSubtype::Message => (TEXT, self.message_owner(&e.entity_id)),
                };
                check_owner(owner, what, &e.entity_id, tag)
            }
            Event::ActivityDelta(e) => check_owner(
                self.activities.get(&e.message_id),
                "activity",
                &e.message_id,
                tag,
            ),
            Event::StepStarted(e) => self.check_step_started(&e.step_name, tag),
            Event::StepFinished(e) => self.check_step_finished(&e.step_name, tag),
            Event::SubagentStarted(e) => {
                self.check_subagent(&e.subagent_run_id, e.parent_subagent_run_id.as_deref())
            }
            Event::SubagentFinished(e) => self.check_subagent_ends(&e.subagent_run_id),
            Event::SubagentError(e) => self.check_subagent_ends(&e.subagent_run_id),
            Event::RunFinished(_) => self.check_closed("RUN_FINISHED"),
            _ => Ok(()),
        }
    }

    /// Records an event that was checked.
    pub(super) fn record(&mut self, event: &Event) {
        let owner = || event.subagent_run_id().map(str::to_owned);
        match event {
            Event::TextMessageStart(e) => self.texts.open(&e.message_id, owner),
            Event::TextMessageEnd(e) => drop(self.texts.open.remove(&e.message_id)),
            Event::ToolCallStart(e) => {
                let parent = e
                    .parent_message_id
                    .as_ref()
                    .and_then(|id| self.texts.owners.get(id));
                self.calls.open(&e.tool_call_id, || {
                    owner().or_else(|| parent.cloned().flatten())
                });
            }
            Event::ToolCallEnd(e) => drop(self.calls.open.remove(&e.tool_call_id)),
            Event::ToolCallResult(e) => {
                self.texts.owners.insert(e.message_id.clone(), owner());
            }
            Event::ReasoningMessageStart(e) => self.reasoning.open(&e.message_id, owner),
            Event::ReasoningMessageEnd(e) => drop(self.reasoning.open.remove(&e.message_id)),
            Event::ReasoningStart(e) => {
                self.spans.insert(e.message_id.clone());
                self.reasoning
                    .owners
                    .entry(e.message_id.clone())
                    .or_insert_with(owner);
            }
            Event::ReasoningEnd(e) => drop(self.spans.remove(&e.message_id)),
            Event::ActivitySnapshot(e)
                if e.replace != Some(false) || !self.activities.contains_key(&e.message_id) =>
            {
                self.activities.insert(e.message_id.clone(), owner());
            }
            Event::MessagesSnapshot(e) => self.adopt(&e.messages, true),
            Event::RunStarted(e) => {
                if let Some(input) = &e.input {
                    self.adopt(&input.messages, false);
                }
            }
            _ => self.record_life(event),
        }
    }

    /// Records the lives of steps and subagents.
    fn record_life(&mut self, event: &Event) {
        let owner = || event.subagent_run_id().map(str::to_owned);
        match event {
            Event::StepStarted(e) => {
                self.steps
                    .entry(owner())
                    .or_default()
                    .insert(e.step_name.clone());
            }
            Event::StepFinished(e) => {
                if let Some(steps) = self.steps.get_mut(&owner()) {
                    steps.remove(&e.step_name);
                }
            }
            Event::SubagentStarted(e) => drop(self.subagents.insert(e.subagent_run_id.clone())),
            Event::SubagentFinished(e) => self.end_subagent(&e.subagent_run_id),
            Event::SubagentError(e) => self.end_subagent(&e.subagent_run_id),
            _ => {}
        }
    }

    /// Checks that nothing is open.
    pub(super) fn check_closed(&self, before: &str) -> Result<(), Violation> {
        let steps = self.steps.values().flatten();
        let kinds: [(&str, Vec<&String>); 6] = [
            ("steps", steps.collect()),
            ("text messages", self.texts.open.iter().collect()),
            ("reasoning messages", self.reasoning.open.iter().collect()),
            ("reasoning spans", self.spans.iter().collect()),
            ("tool calls", self.calls.open.iter().collect()),
            ("subagents", self.subagents.iter().collect()),
        ];
        for (what, mut open) in kinds {
            if !open.is_empty() {
                open.sort_unstable();
                return violation(
                    Rule::StillOpen,
                    format!("{before} comes while {what} are still open: {open:?}"),
                );
            }
        }
        Ok(())
    }

    fn message_owner(&self, id: &str) -> Option<&Owner> {
        self.texts
            .owners
            .get(id)
            .or_else(|| self.reasoning.owners.get(id))
    }

    /// A call belongs to whom the message belongs that carries it.
    fn check_call(
        &self,
        id: &str,
        parent: Option<&str>,
        tag: Option<&str>,
    ) -> Result<(), Violation> {
        if self.calls.open.contains(id) {
            return self.calls.check_opening(CALL, id, tag);
        }
        let parent = parent.and_then(|parent| Some((parent, self.texts.owners.get(parent)?)));
        if let Some((parent, owner)) = parent {
            check_owner(Some(owner), "parent message", parent, tag)?;
        }
        self.calls.check_owner(CALL, id, tag)?;
        match (tag, parent, self.calls.owners.get(id)) {
            (None, Some((parent, of_parent)), Some(of_call)) if of_parent != of_call => violation(
                Rule::Owner,
                format!(
                    "tool call {id:?} belongs to {} but its parent message {parent:?} to {}",
                    named(of_call.as_deref()),
                    named(of_parent.as_deref()),
                ),
            ),
            _ => Ok(()),
        }
    }

    fn check_span(&self, id: &str, open: bool, tag: Option<&str>) -> Result<(), Violation> {
        match (open, self.spans.contains(id)) {
            (false, true) => {
                return violation(
                    Rule::AlreadyOpen,
                    format!("{SPAN} {id:?} is opened while it is open"),
                );
            }
            (true, false) => {
                return violation(
                    Rule::NotOpen,
                    format!("{SPAN} {id:?} is closed but not open"),
                );
            }
            (false, false) | (true, true) => {}
        }
        self.reasoning.check_owner(SPAN, id, tag)
    }

    fn step_is_open(&self, name: &str, owner: &Owner) -> bool {
        self.steps
            .get(owner)
            .is_some_and(|steps| steps.contains(name))
    }

    fn check_step_started(&self, name: &str, tag: Option<&str>) -> Result<(), Violation> {
        if self.step_is_open(name, &tag.map(str::to_owned)) {
            return violation(
                Rule::AlreadyOpen,
                format!(
                    "step {name:?} of {} is started while it is open",
                    named(tag)
                ),
            );
        }
        Ok(())
    }

    fn check_step_finished(&self, name: &str, tag: Option<&str>) -> Result<(), Violation> {
        if self.step_is_open(name, &tag.map(str::to_owned)) {
            return Ok(());
        }
        let elsewhere = self.steps.iter().find(|(_, steps)| steps.contains(name));
        match elsewhere {
            Some((owner, _)) => violation(
                Rule::Owner,
                format!(
                    "step {name:?} was started by {} and is finished by {}",
                    named(owner.as_deref()),
                    named(tag),
                ),
            ),
            None => violation(
                Rule::NotOpen,
                format!("step {name:?} is finished but not open"),
            ),
        }
    }

    fn check_subagent(&self, id: &str, parent: Option<&str>) -> Result<(), Violation> {
        if self.subagents.contains(id) {
            return violation(
                Rule::Subagent,
                format!("subagent {id:?} begins while it is active"),
            );
        }
        if self.ended_subagents.contains(id) {
            return violation(
                Rule::Subagent,
                format!("subagent {id:?} begins after it has ended"),
            );
        }
        match parent {
            Some(parent)
                if !self.subagents.contains(parent) && !self.ended_subagents.contains(parent) =>
            {
                violation(
                    Rule::Subagent,
                    format!("subagent {id:?} has a parent {parent:?} that never began"),
                )
            }
            _ => Ok(()),
        }
    }

    fn check_subagent_ends(&self, id: &str) -> Result<(), Violation> {
        if self.subagents.contains(id) {
            return Ok(());
        }
        violation(
            Rule::Subagent,
            format!("subagent {id:?} ends but is not active"),
        )
    }

    fn end_subagent(&mut self, id: &str) {
        if let Some(id) = self.subagents.take(id) {
            self.ended_subagents.insert(id);
        }
    }

    /// Takes the owners of restated messages; a snapshot corrects what was known.
    fn adopt(&mut self, messages: &[Message], corrects: bool) {
        for message in messages {
            let owner: Owner = message.subagent_run_id().map(str::to_owned);
            for call in message.tool_calls() {
                adopt(&mut self.calls.owners, &call.id, &owner, corrects);
            }
            let owners = match message.role() {
                Role::Reasoning => &mut self.reasoning.owners,
                Role::Activity => &mut self.activities,
                _ => &mut self.texts.owners,
            };
            adopt(owners, message.id(), &owner, corrects);
        }
    }
}

fn adopt(owners: &mut HashMap<String, Owner>, id: &str, owner: &Owner, corrects: bool) {
    if corrects || !owners.contains_key(id) {
        owners.insert(id.to_owned(), owner.clone());
    }
}
