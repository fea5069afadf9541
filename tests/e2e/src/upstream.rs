//! What the model must have been sent, and what each of its answers must have become.

use serde::Deserialize;
use serde_json::Value;

use crate::{
    json::{arguments, clip, same, short, text},
    provider::{
        ModelRequest,
        wire::{Message, Wire, tool_names},
    },
    run::Run,
};

/// Checks on one model request.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpstreamCheck {
    /// Its place, from 1.
    request: usize,
    /// What the model is told about calls.
    #[serde(default)]
    result: Vec<ResultWant>,
    /// The calls with results: exactly these.
    result_ids: Option<Vec<String>>,
    /// The arguments of a replayed call.
    call_args: Option<ArgumentsWant>,
    #[serde(default)]
    roles_absent: Vec<String>,
    #[serde(default)]
    contains: Vec<String>,
    #[serde(default)]
    not_contains: Vec<String>,
    #[serde(default)]
    tools_include: Vec<String>,
    /// A member of the raw message that holds a call.
    member: Option<MemberWant>,
    /// The content blocks of the message with calls.
    blocks: Option<BlocksWant>,
    /// A text that a user message holds.
    user_text: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ResultWant {
    id: String,
    /// Words of which the result holds one, in any case.
    #[serde(default)]
    says_any: Vec<String>,
    is_not: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ArgumentsWant {
    id: String,
    equals: Option<Value>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct MemberWant {
    call: String,
    path: String,
    equals: Value,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct BlocksWant {
    types: Vec<String>,
    /// Place, member, value.
    members: Vec<(usize, String, Value)>,
}

impl UpstreamCheck {
    /// What the requests do not fulfil.
    pub fn problems(&self, requests: &[ModelRequest]) -> Vec<String> {
        let Some(request) = self.request.checked_sub(1).and_then(|at| requests.get(at)) else {
            return vec![format!("there is no model request {}", self.request)];
        };
        let messages = request.messages();
        let mut out = self.results(request, &messages);
        out.extend(self.replayed(&messages));
        let raw = request.body.to_string();
        let missing = self.contains.iter().filter(|w| !raw.contains(*w));
        out.extend(missing.map(|w| format!("{w:?} is missing")));
        let sent = self.not_contains.iter().filter(|w| raw.contains(*w));
        out.extend(sent.map(|w| format!("{w:?} is sent")));
        let roles = messages
            .iter()
            .filter(|m| self.roles_absent.contains(&m.role));
        out.extend(roles.map(|m| format!("a message with role {} is sent", m.role)));
        let offered = tool_names(request.wire, &request.body);
        let absent = self.tools_include.iter().filter(|t| !offered.contains(t));
        out.extend(absent.map(|t| format!("the tool {t} is not offered ({offered:?})")));
        if let Some(want) = &self.user_text
            && !messages
                .iter()
                .any(|m| m.role == "user" && m.text.contains(want))
        {
            out.push(format!("no user message with {want:?}"));
        }
        out.into_iter()
            .map(|p| format!("model request {}: {p}", self.request))
            .collect()
    }

    fn results(&self, request: &ModelRequest, messages: &[Message]) -> Vec<String> {
        let mut out = Vec::new();
        for want in &self.result {
            let texts = request.results_of(&want.id);
            let [told] = texts.as_slice() else {
                out.push(format!(
                    "{} results for {}, expected 1",
                    texts.len(),
                    want.id
                ));
                continue;
            };
            let lower = told.to_lowercase();
            let says = want.says_any.is_empty()
                || want
                    .says_any
                    .iter()
                    .any(|w| lower.contains(&w.to_lowercase()));
            if !says || want.is_not.as_ref() == Some(told) {
                out.push(format!(
                    "the result of {} is {:?}",
                    want.id,
                    clip(told, 100)
                ));
            }
        }
        if let Some(want) = &self.result_ids {
            let results = messages.iter().flat_map(|m| &m.results);
            let mut got: Vec<_> = results.filter_map(|r| r.id.clone()).collect();
            got.sort();
            let mut want = want.clone();
            want.sort();
            if got != want {
                out.push(format!("results for {got:?}, expected {want:?}"));
            }
            let places = messages.iter().filter(|m| !m.results.is_empty()).count();
            if request.wire == Wire::Anthropic && places != 1 {
                out.push("the results are spread over several messages".to_owned());
            }
        }
        out
    }

    fn replayed(&self, messages: &[Message]) -> Vec<String> {
        let mut out = Vec::new();
        if let Some(want) = &self.call_args {
            let mut calls = messages.iter().flat_map(|m| &m.calls);
            let call = calls.find(|c| c.id.as_deref() == Some(&want.id));
            let args = call
                .and_then(|c| c.arguments.as_ref())
                .filter(|a| a.is_object());
            let fits = args.is_some_and(|a| want.equals.as_ref().is_none_or(|e| same(a, e)));
            if !fits {
                out.push(format!(
                    "the replayed arguments of {} are {args:?}",
                    want.id
                ));
            }
        }
        if let Some(want) = &self.member {
            let holds = |m: &&Message| m.calls.iter().any(|c| c.id.as_deref() == Some(&want.call));
            let got = messages.iter().find(holds).map(|m| &m.raw[&want.path]);
            if got != Some(&want.equals) {
                out.push(format!(
                    "{} of the message with {} is {got:?}",
                    want.path, want.call
                ));
            }
        }
        if let Some(want) = &self.blocks {
            let message = messages.iter().find(|m| !m.calls.is_empty());
            let content = message.map_or(&Value::Null, |m| &m.raw["content"]);
            let blocks = content.as_array().into_iter().flatten();
            let types: Vec<_> = blocks.map(|b| text(b, "type")).collect();
            if types != want.types {
                out.push(format!(
                    "assistant content {types:?}, expected {:?}",
                    want.types
                ));
            }
            for (at, member, value) in &want.members {
                let got = &content[*at][member];
                if got != value {
                    out.push(format!("content[{at}].{member} is {got}"));
                }
            }
        }
        out
    }
}

/// What one upstream file must become on the wire.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assembled {
    text: String,
    reasoning: Option<String>,
    tool_calls: Vec<CallMade>,
    /// Whether the answer is whole; the calls of one that is not never run.
    complete: bool,
    /// What only a provider's adapter sees.
    #[serde(default, rename = "signature")]
    _signature: Option<String>,
    #[serde(default, rename = "redacted")]
    _redacted: Vec<String>,
    #[serde(default, rename = "truncated")]
    _truncated: bool,
    #[serde(default, rename = "error")]
    _error: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallMade {
    name: String,
    args: Value,
}

impl Assembled {
    /// What the runs do not show of the answers that were asked for.
    pub fn problems(all: &[Self], runs: &[Run], requests: usize) -> Vec<String> {
        let turns = all.get(..requests.min(all.len())).unwrap_or_default();
        let runs: Vec<&Run> = runs.iter().filter(|run| !run.replay).collect();
        let mut out = Vec::new();
        let said: String = runs.iter().map(|run| run.text()).collect();
        let want: String = turns.iter().map(|turn| turn.text.as_str()).collect();
        if said != want {
            out.push(format!(
                "text on the wire {said:?}, the model said {want:?}"
            ));
        }
        if turns.iter().any(|turn| turn.reasoning.is_some()) {
            let said: String = runs.iter().map(|run| run.reasoning()).collect();
            let want: String = turns
                .iter()
                .filter_map(|turn| turn.reasoning.as_deref())
                .collect();
            if said != want {
                out.push(format!(
                    "reasoning on the wire {said:?}, the model said {want:?}"
                ));
            }
        }
        if turns.iter().all(|turn| turn.complete) {
            let calls: Vec<_> = runs.iter().flat_map(|run| run.calls()).collect();
            let want: Vec<_> = turns.iter().flat_map(|turn| &turn.tool_calls).collect();
            let fits = |(call, want): (&crate::run::WireCall, &&CallMade)| {
                call.name == want.name
                    && arguments(&call.arguments).is_some_and(|a| same(&a, &want.args))
            };
            if calls.len() != want.len() || !calls.iter().zip(&want).all(fits) {
                let want: Vec<_> = want
                    .iter()
                    .map(|w| format!("{}({})", w.name, short(&w.args)))
                    .collect();
                out.push(format!(
                    "calls on the wire {calls:?}, the model made {want:?}"
                ));
            }
        }
        out
    }
}
