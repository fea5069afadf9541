//! The rules that hold for every answer to a request for a run.
//!
//! What AG-UI itself demands of a producer is judged by the protocol crate's `Verifier`; its
//! `Replica` folds the events into what a client holds. Here are the rules that need more than
//! one stream: ids of the thread, snapshots that may not contradict the stream, the bodies of
//! refusals. Some rules are judged twice on purpose: a debug server checks itself with the same
//! `Verifier`, so an error in that would go unseen.

mod snapshot;

use std::collections::{BTreeMap, BTreeSet};

use antiphon_protocol::{Event as Typed, Message, Replica, RunAgentInput, Verifier};
use serde_json::{Value, json};

use crate::{
    json::{clip, list, same, text},
    run::{Held, Run},
    stream::Event,
};

/// What a thread has already used, across its runs.
#[derive(Debug, Default)]
pub struct Memory {
    /// Message ids, and what they were.
    messages: BTreeMap<String, &'static str>,
    /// Call ids and their tools.
    calls: BTreeMap<String, String>,
    /// Calls that were answered.
    answered: BTreeSet<String>,
    /// Interrupt ids and the calls they ask about.
    interrupts: BTreeMap<String, String>,
}

/// What is wrong with a refusal: it has a JSON body with code and message, and `detail` with the
/// message again.
pub fn refusal(run: &Run) -> Vec<String> {
    let body = run.json();
    let error = &body["error"];
    let shown = clip(&run.text_body(), 160);
    let mut out = Vec::new();
    if run.status == 200 {
        out.push(format!("200 without an event stream: {shown}"));
    }
    if run.status >= 500 {
        out.push(format!("HTTP {}: {shown}", run.status));
    }
    if !run
        .header("content-type")
        .is_some_and(|kind| kind.starts_with("application/json"))
    {
        out.push(format!("HTTP {} without a JSON body: {shown}", run.status));
    } else if !error["code"].is_string() || !error["message"].is_string() {
        out.push(format!(
            "HTTP {} without error code and message: {shown}",
            run.status
        ));
    } else if body["detail"] != error["message"] {
        out.push(format!(
            "HTTP {}: detail is not the message: {shown}",
            run.status
        ));
    }
    out
}

/// Judges a stream event by event, folds it into what the client holds, and returns what was
/// wrong. `page` names the tools that the page answers.
pub fn judge(run: &mut Run, memory: &mut Memory, page: &[String]) -> Vec<String> {
    let events: Vec<Event> = run.events().cloned().collect();
    let messages = run.base.messages.iter();
    let known = messages.filter_map(|m| serde_json::from_value::<Message>(m.clone()).ok());
    let mut walk = Walk {
        replica: Replica::new(known.collect(), run.base.state.clone()),
        run,
        memory,
        page,
        out: Vec::new(),
        open: BTreeSet::new(),
        streamed: BTreeMap::new(),
        calls: Vec::new(),
        answered: BTreeSet::new(),
        snapshots: BTreeSet::new(),
    };
    walk.verify(&events);
    for event in &events {
        walk.event(event);
    }
    walk.end(&events)
}

struct Walk<'a> {
    run: &'a mut Run,
    memory: &'a mut Memory,
    page: &'a [String],
    replica: Replica,
    out: Vec<String>,
    /// What was opened and not closed, for the rule that holds before RUN_ERROR too.
    open: BTreeSet<(&'static str, String)>,
    /// Messages of this stream, and what they are.
    streamed: BTreeMap<String, &'static str>,
    /// Calls of this stream, in order, and their tools.
    calls: Vec<(String, String)>,
    /// Calls that this stream answers.
    answered: BTreeSet<String>,
    /// The kinds of snapshots that have come.
    snapshots: BTreeSet<String>,
}

impl Walk<'_> {
    fn bad(&mut self, text: impl Into<String>) {
        self.out.push(text.into());
    }

    /// What the protocol crate finds in the stream as a producer's.
    fn verify(&mut self, events: &[Event]) {
        let mut verifier = Verifier::producer();
        if let Ok(input) = RunAgentInput::read(self.run.request.clone()) {
            verifier = verifier.answering(&input.value);
        }
        for event in events {
            let typed = match Typed::read(event.value.clone()) {
                Ok(read) => {
                    for warning in &read.warnings {
                        self.out.push(format!("{}: {warning}", event.kind()));
                    }
                    read.value
                }
                Err(error) => {
                    self.out.push(format!("{}: {error}", event.kind()));
                    continue;
                }
            };
            let Some(typed) = typed else {
                self.out.push(format!("{} is no AG-UI event", event.kind()));
                continue;
            };
            if !is_part(&event.value, &json!(typed)) {
                let shown = clip(&event.value.to_string(), 160);
                self.out
                    .push(format!("an event has a null or unknown member: {shown}"));
            }
            if let Err(violation) = verifier.check(&typed) {
                self.out.push(violation.to_string());
            }
        }
        if !self.run.left_early
            && let Err(violation) = verifier.finish()
        {
            self.out.push(violation.to_string());
        }
    }

    fn event(&mut self, event: &Event) {
        if event.id.is_none() {
            self.bad(format!("{} without an SSE id", event.kind()));
        }
        if self.run.is_old_peer() {
            self.old_peer(event);
        }
        self.by_kind(event);
        let before = (event.kind() == "MESSAGES_SNAPSHOT").then(|| self.messages());
        if let Ok(read) = Typed::read(event.value.clone())
            && let Some(typed) = read.value
        {
            for warning in self.replica.apply(&typed) {
                self.bad(format!(
                    "{} does not apply to what the client holds: {warning}",
                    event.kind()
                ));
            }
        }
        if let Some(before) = before {
            let said = snapshot::Said {
                streamed: &self.streamed,
                calls: &self.calls,
                asked: self.run.base.messages.last(),
            };
            let found = snapshot::contradictions(
                &before,
                &self.messages(),
                list(&event.value, "messages"),
                &said,
            );
            self.out.extend(found);
        }
        if matches!(event.kind(), "STATE_SNAPSHOT" | "STATE_DELTA") {
            self.run.states.push(self.replica.state().clone());
        }
        if event.kind().ends_with("_SNAPSHOT") {
            self.snapshots.insert(event.kind().to_owned());
        }
    }

    fn messages(&self) -> Vec<Value> {
        self.replica.messages().iter().map(|m| json!(m)).collect()
    }

    fn by_kind(&mut self, event: &Event) {
        let message = event.text("messageId");
        let call = event.text("toolCallId");
        match event.kind() {
            "RUN_STARTED" => self.echo(event),
            "RUN_FINISHED" => {
                self.echo(event);
                self.finished(event);
            }
            "RUN_ERROR" => {
                let open: Vec<_> = self
                    .open
                    .iter()
                    .map(|(kind, id)| format!("{kind} {id}"))
                    .collect();
                if !open.is_empty() {
                    self.bad(format!("open at RUN_ERROR: {}", open.join(", ")));
                }
                self.open.clear();
            }
            "TEXT_MESSAGE_START" => {
                self.opens("text", message);
                self.new_message(message, "text");
            }
            "TEXT_MESSAGE_END" => self.closes("text", message),
            "REASONING_START" => self.opens("reasoning", message),
            "REASONING_END" => self.closes("reasoning", message),
            "REASONING_MESSAGE_START" => {
                self.opens("reasoning message", message);
                self.new_message(message, "reasoning");
            }
            "REASONING_MESSAGE_END" => self.closes("reasoning message", message),
            "STEP_STARTED" => self.opens("step", event.text("stepName")),
            "STEP_FINISHED" => self.closes("step", event.text("stepName")),
            "TOOL_CALL_START" => self.call(event, call),
            "TOOL_CALL_END" => self.closes("call", call),
            "TOOL_CALL_RESULT" => self.result(message, call),
            _ => {}
        }
    }

    fn opens(&mut self, kind: &'static str, id: &str) {
        self.open.insert((kind, id.to_owned()));
    }

    fn closes(&mut self, kind: &'static str, id: &str) {
        self.open.remove(&(kind, id.to_owned()));
    }

    /// Thread and run are those of the request.
    fn echo(&mut self, event: &Event) {
        for (member, snake) in [("threadId", "thread_id"), ("runId", "run_id")] {
            let request = &self.run.request;
            let asked = request[member].as_str().or(request[snake].as_str());
            if let Some(asked) = asked.filter(|asked| event.text(member) != *asked) {
                let text = format!(
                    "{}.{member} is {:?}, asked {asked:?}",
                    event.kind(),
                    event.text(member)
                );
                self.bad(text);
            }
        }
        if event.kind() == "RUN_STARTED"
            && !self.run.is_old_peer()
            && !event.value["protocolVersion"].is_string()
        {
            self.bad("RUN_STARTED without protocolVersion to a peer that sent one");
        }
    }

    fn new_message(&mut self, id: &str, kind: &'static str) {
        let held = self
            .replica
            .messages()
            .iter()
            .find(|m| m.id() == id)
            .map(|m| json!(m));
        // A text may use the id of the message that holds the calls before it, if that has no text.
        let joins = held.as_ref().is_some_and(|m| {
            let own = |c: &Value| self.calls.iter().any(|(call, _)| call == text(c, "id"));
            kind == "text" && text(m, "content").is_empty() && list(m, "toolCalls").iter().any(own)
        });
        let used = self.memory.messages.contains_key(id) || self.streamed.contains_key(id);
        if used || (held.is_some() && !joins && !self.run.replay) {
            self.bad(format!("message id {id:?} is not new in the thread"));
        }
        self.streamed.insert(id.to_owned(), kind);
        self.memory.messages.insert(id.to_owned(), kind);
    }

    fn call(&mut self, event: &Event, id: &str) {
        self.opens("call", id);
        let tool = event.text("toolCallName");
        let held = !self.run.replay && snapshot::tool_of(&self.messages(), id).is_some();
        if held
            || self.memory.calls.contains_key(id)
            || self.calls.iter().any(|(call, _)| call == id)
        {
            self.bad(format!("toolCallId {id:?} is not new in the thread"));
        }
        let parent = event.text("parentMessageId");
        if let Some(kind @ ("result" | "reasoning")) = self.memory.messages.get(parent).copied() {
            self.bad(format!("parentMessageId {parent:?} is a {kind} message"));
        }
        self.calls.push((id.to_owned(), tool.to_owned()));
        self.memory.calls.insert(id.to_owned(), tool.to_owned());
    }

    fn result(&mut self, message: &str, call: &str) {
        let tool = self.memory.calls.get(call).cloned();
        let tool = tool.or_else(|| snapshot::tool_of(&self.messages(), call));
        match tool {
            None => self.bad(format!(
                "TOOL_CALL_RESULT for {call:?}, a call the client has not seen"
            )),
            // Of a call that a person was asked about, the server says that it was declined; what a page
            // answers in a resume, it has no message of.
            Some(tool)
                if self.page.contains(&tool) && !self.asked_about(call) && !self.resumes() =>
            {
                self.bad(format!(
                    "the server answered the page's call {tool} {call:?}"
                ));
            }
            Some(_) => {}
        }
        if self.open.contains(&("call", call.to_owned())) {
            self.bad(format!(
                "TOOL_CALL_RESULT for {call:?} before its TOOL_CALL_END"
            ));
        }
        if !self.answered.insert(call.to_owned()) || !self.memory.answered.insert(call.to_owned()) {
            self.bad(format!("second TOOL_CALL_RESULT for {call:?}"));
        }
        self.new_message(message, "result");
    }

    fn resumes(&self) -> bool {
        let entries = self.run.request["resume"].as_array();
        entries.is_some_and(|entries| !entries.is_empty())
    }

    fn asked_about(&self, call: &str) -> bool {
        self.memory.interrupts.values().any(|asked| asked == call)
    }

    fn finished(&mut self, event: &Event) {
        let outcome = &event.value["outcome"];
        let unanswered = self
            .calls
            .iter()
            .filter(|(id, _)| !self.answered.contains(id));
        let unanswered: Vec<&str> = unanswered.map(|(id, _)| id.as_str()).collect();
        if let Some(pending) = outcome.get("pendingToolCallIds")
            && !self.run.replay
            && *pending != json!(unanswered)
        {
            let text = format!("pendingToolCallIds {pending}, unanswered are {unanswered:?}");
            self.bad(text);
        }
        let interrupts = list(outcome, "interrupts");
        if outcome["type"] == "interrupt" && !self.run.replay {
            for kind in ["STATE_SNAPSHOT", "MESSAGES_SNAPSHOT"] {
                if !self.snapshots.contains(kind) {
                    self.bad(format!("no {kind} before the interrupt"));
                }
            }
        }
        let mut ids = BTreeSet::new();
        for interrupt in interrupts {
            let (id, call) = (text(interrupt, "id"), text(interrupt, "toolCallId"));
            let other = self
                .memory
                .interrupts
                .insert(id.to_owned(), call.to_owned());
            if !ids.insert(id) || other.is_some_and(|other| other != call) {
                self.bad(format!("interrupt id {id:?} is not unique"));
            }
        }
    }

    /// What a 0.x peer cannot read.
    fn old_peer(&mut self, event: &Event) {
        let outcome = &event.value["outcome"];
        let unreadable = match event.kind() {
            kind if kind.starts_with("SUBAGENT_") => true,
            "TOOL_CALL_START" => self.open.iter().any(|(kind, _)| *kind == "text"),
            "TOOL_CALL_RESULT" => !event.value["content"].is_string(),
            "RUN_FINISHED" => {
                outcome["type"] == "cancelled" || outcome.get("pendingToolCallIds").is_some()
            }
            _ => false,
        };
        if unreadable {
            let shown = clip(&event.value.to_string(), 160);
            self.bad(format!("a 0.x peer cannot read {shown}"));
        }
    }

    fn end(mut self, events: &[Event]) -> Vec<String> {
        if events.is_empty() {
            self.bad("an event stream without any event");
        }
        if let Some(cut) = self.run.cut.clone()
            && !self.run.left_early
        {
            self.bad(format!("the body of the response: {cut}"));
        }
        if let Some(crate::stream::Item::Comment(_)) = self.run.reader.items.last()
            && self.run.terminal().is_some()
        {
            self.bad("a comment after the terminal event");
        }
        let messages = self.messages();
        self.run.held = Some(Held {
            messages,
            state: self.replica.state().clone(),
        });
        self.out.extend(self.run.reader.problems.iter().cloned());
        self.out
    }
}

/// Whether everything in one value is also in another, which may have more members.
fn is_part(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            let mut members = part.iter();
            members.all(|(key, value)| whole.get(key).is_some_and(|other| is_part(value, other)))
        }
        (Value::Array(part), Value::Array(whole)) => {
            part.len() == whole.len() && part.iter().zip(whole).all(|(a, b)| is_part(a, b))
        }
        _ => same(part, whole),
    }
}

/// Whether two message lists say the same: ids, roles, contents, calls with their arguments as
/// JSON values.
pub fn same_messages(a: &[Value], b: &[Value]) -> bool {
    let (a, b) = (snapshot::outline(a), snapshot::outline(b));
    a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| same(a, b))
}

/// As [`same_messages`], without the reasoning messages, which a server need not keep.
pub fn same_said(a: &[Value], b: &[Value]) -> bool {
    let said = |messages: &[Value]| -> Vec<Value> {
        let kept = messages.iter().filter(|m| text(m, "role") != "reasoning");
        kept.cloned().collect()
    };
    same_messages(&said(a), &said(b))
}
