//! What a client was told, and whether the server still says so: the invariants that hold after a
//! crash, a race, or any other fault.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    json::{list, same, short, text},
    play::{Play, Step},
    run::Run,
};

/// Decisions that settle an interaction. `executed` only says what came of one.
const FINAL: [&str; 6] = [
    "approved",
    "declined",
    "cancelled",
    "expired",
    "answered",
    "failed",
];

/// What one client has heard of one thread.
#[derive(Debug, Default)]
pub struct Told {
    /// Results by call: id and content of the message.
    results: BTreeMap<String, (String, Value)>,
    /// The messages of the newest run that ended.
    messages: Vec<Value>,
    /// The state at that end.
    state: Option<Value>,
    /// Interrupts that the client has not answered.
    open: Vec<Value>,
    /// Runs that have begun.
    runs: BTreeSet<String>,
}

impl Told {
    /// Takes everything that a judged stream said, however far it came.
    pub fn hear(&mut self, run: &Run) {
        if run.first("RUN_STARTED").is_some() {
            self.runs.insert(text(&run.request, "runId").to_owned());
        }
        for result in run.of("TOOL_CALL_RESULT") {
            let said = (
                result.text("messageId").to_owned(),
                result.value["content"].clone(),
            );
            self.results
                .insert(result.text("toolCallId").to_owned(), said);
        }
        if run.terminal() != Some("RUN_FINISHED") {
            return;
        }
        if let Some(held) = &run.held {
            self.messages.clone_from(&held.messages);
            self.state = Some(held.state.clone());
        }
        self.open = run.interrupts().to_vec();
    }

    /// The client sends something: what was open may be settled from now on, the state may change.
    pub fn moves_on(&mut self) {
        self.open.clear();
        self.state = None;
    }

    /// Compares what was told with a thread that has just been opened, and the routes with each
    /// other.
    ///
    /// # Errors
    ///
    /// A route does not answer.
    pub async fn check(&self, play: &mut Play, opened: &Run) -> Step {
        let mut found = self.missing(opened);
        found.extend(routes_agree(play, opened).await?);
        for id in &self.runs {
            found.extend(one_ending(play, id).await?);
        }
        found.extend(decided_once(play).await?);
        play.problems.extend(found);
        Ok(())
    }

    fn missing(&self, opened: &Run) -> Vec<String> {
        let held = opened.held.clone().unwrap_or_default();
        let find = |id: &str| held.messages.iter().find(|m| text(m, "id") == id);
        let mut out = Vec::new();
        for (call, (id, content)) in &self.results {
            let kept = find(id);
            if kept.is_none_or(|m| text(m, "toolCallId") != call || !same(&m["content"], content)) {
                out.push(format!("the result {content} of {call} is now {kept:?}"));
            }
        }
        for message in &self.messages {
            let kept = find(text(message, "id"));
            if kept.is_none_or(|kept| !same(kept, message)) {
                out.push(format!(
                    "the message {} is now {}",
                    short(message),
                    kept.map_or("gone".to_owned(), short)
                ));
            }
        }
        if let Some(state) = self.state.as_ref().filter(|s| !same(s, &held.state)) {
            out.push(format!("the state {state} is now {}", held.state));
        }
        for interrupt in &self.open {
            let shown = opened
                .interrupts()
                .iter()
                .find(|i| i["id"] == interrupt["id"]);
            if shown.is_none_or(|shown| !same(shown, interrupt)) {
                out.push(format!("the interrupt {interrupt} is now {shown:?}"));
            }
        }
        out
    }
}

/// The other routes show the messages, the state and the open interactions of the opened thread.
async fn routes_agree(play: &Play, opened: &Run) -> Step<Vec<String>> {
    let mut out = Vec::new();
    let thread = format!("/sessions/{}", play.thread);
    let stored = play.get(&thread).await?;
    if stored.status == 404 && play.held.messages.is_empty() {
        return Ok(out);
    }
    let state = stored.json()["state"].clone();
    if !same(&state, &play.held.state) {
        out.push(format!(
            "GET {thread} has the state {state}, the opened thread {}",
            play.held.state
        ));
    }
    let messages = play.get(&format!("{thread}/messages")).await?.json();
    let ids = |of: &[Value]| {
        of.iter()
            .map(|m| text(m, "id").to_owned())
            .collect::<Vec<_>>()
    };
    let (stored, held) = (ids(list(&messages, "messages")), ids(&play.held.messages));
    if stored != held {
        out.push(format!(
            "GET {thread}/messages has {stored:?}, the opened thread {held:?}"
        ));
    }
    let open = play.get(&format!("{thread}/interactions")).await?.json();
    let open: BTreeSet<_> = ids(list(&open, "open")).into_iter().collect();
    let shown: BTreeSet<_> = shown_open(opened).into_iter().collect();
    if open != shown {
        out.push(format!(
            "GET {thread}/interactions has {open:?} open, the opened thread {shown:?}"
        ));
    }
    Ok(out)
}

/// The ids of everything that a stream shows as open at its end.
fn shown_open(run: &Run) -> Vec<String> {
    let interrupts = run.interrupts().iter().map(|i| text(i, "id").to_owned());
    let customs = run.of("CUSTOM");
    let customs = customs.iter().filter_map(|event| {
        let value = &event.value["value"];
        match event.text("name") {
            "harnest.client_tool" => value["id"].as_str(),
            "harnest.external_wait" => value["pendingAction"]["id"].as_str(),
            _ => None,
        }
    });
    interrupts.chain(customs.map(str::to_owned)).collect()
}

/// A run that has begun is known, and has one end.
async fn one_ending(play: &Play, id: &str) -> Step<Vec<String>> {
    let path = format!("/runs/{id}/events?threadId={}", play.thread);
    let answer = play.get(&path).await?;
    let body = answer.text();
    let ends = ["RUN_FINISHED", "RUN_ERROR"]
        .map(|kind| body.matches(&format!("\"type\":\"{kind}\"")).count());
    if answer.status == 200 && ends.iter().sum::<usize>() == 1 {
        return Ok(Vec::new());
    }
    Ok(vec![format!(
        "GET {path}: HTTP {}, {ends:?} endings: {body}",
        answer.status
    )])
}

/// Each interaction has one final decision at most, and what is open has none.
async fn decided_once(play: &Play) -> Step<Vec<String>> {
    let path = format!("/sessions/{}/interactions", play.thread);
    let record = play.get(&path).await?.json();
    let mut decisions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for one in list(&record, "decisions") {
        if FINAL.contains(&text(one, "decision")) {
            let words = decisions.entry(text(one, "interactionId")).or_default();
            words.push(text(one, "decision"));
        }
    }
    let mut out = Vec::new();
    for (id, words) in &decisions {
        let is_open = list(&record, "open").iter().any(|o| text(o, "id") == *id);
        if words.len() > 1 || is_open {
            out.push(format!("{id} was decided {words:?}, open: {is_open}"));
        }
    }
    Ok(out)
}
