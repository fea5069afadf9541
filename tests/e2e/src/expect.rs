//! What a case expects of one run, and of all of them.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    json::{same, short, text},
    play::Play,
    provider::Execution,
    run::Run,
};

/// What must come back from one POST. An absent member is not looked at.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunWant {
    status: Option<StatusWant>,
    error_code: Option<String>,
    terminal: Option<String>,
    outcome: Option<String>,
    final_text: Option<String>,
    final_state: Option<Value>,
    /// The executions since the request was sent, in any order, each exactly once.
    executed: Option<Vec<CallWant>>,
    /// The model requests since the request was sent.
    model_requests: Option<CountWant>,
    /// Event types that come in this order, with others between them.
    #[serde(default)]
    must: Vec<String>,
    #[serde(default)]
    must_not: Vec<String>,
    /// Texts that the body may not hold.
    #[serde(default)]
    must_not_contain: Vec<String>,
    /// `TYPE:text`: a text that events of this type may not hold.
    #[serde(default)]
    must_not_contain_in: Vec<String>,
    reasoning_text: Option<String>,
    messages_in_order: Option<Vec<String>>,
    /// Sums over the models of RUN_FINISHED.
    usage: Option<Map<String, Value>>,
    interrupt_count: Option<usize>,
    /// Provider ids of calls that this stream answers.
    #[serde(default)]
    results_for: Vec<String>,
    #[serde(default)]
    no_result_for: Vec<String>,
    #[serde(rename = "pendingToolCallIds")]
    pending: Option<Vec<String>>,
    /// RUN_STARTED carries the server's own version.
    #[serde(default)]
    own_version: bool,
    /// Names of CUSTOM events.
    #[serde(default)]
    custom: Vec<String>,
    /// A refusal names every open interrupt.
    #[serde(default)]
    mentions_open: bool,
    /// At least one of these holds.
    #[serde(default)]
    any_of: Vec<Self>,
}

/// What must hold over all runs of a case.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OverAll {
    executed: Option<Vec<CallWant>>,
    executed_times: Option<usize>,
    model_requests: Option<usize>,
}

/// A status code, or any of the client's fault.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum StatusWant {
    Exactly(u16),
    Class(String),
}

/// A number, or a range of numbers.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum CountWant {
    Exactly(usize),
    Range { min: usize, max: usize },
}

/// An execution.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallWant {
    name: String,
    args: Value,
}

/// Collects what is wrong.
struct Findings(Vec<String>);

impl Findings {
    fn unless(&mut self, holds: bool, text: impl FnOnce() -> String) {
        if !holds {
            self.0.push(text());
        }
    }

    fn equal<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, got: &T, want: Option<&T>) {
        if let Some(want) = want.filter(|want| *want != got) {
            self.0.push(format!("{what} {got:?}, expected {want:?}"));
        }
    }
}

impl RunWant {
    /// What a run does not fulfil.
    pub fn problems(&self, play: &Play, run: &Run) -> Vec<String> {
        let mut found = Findings(Vec::new());
        self.ending(run, &mut found);
        self.work(play, run, &mut found);
        self.events(run, &mut found);
        self.interactions(play, run, &mut found);
        let tried: Vec<_> = self
            .any_of
            .iter()
            .map(|want| want.problems(play, run))
            .collect();
        if !tried.is_empty() && tried.iter().all(|problems| !problems.is_empty()) {
            found
                .0
                .push(format!("none of the accepted endings: {tried:?}"));
        }
        found.0
    }

    fn ending(&self, run: &Run, found: &mut Findings) {
        match &self.status {
            None => {}
            Some(StatusWant::Exactly(code)) => {
                found.unless(run.status == *code, || {
                    format!("HTTP {}, expected {code}", run.status)
                });
            }
            Some(StatusWant::Class(class)) => {
                let fits = class == "4xx" && run.is_refused();
                found.unless(fits, || format!("HTTP {}, expected {class}", run.status));
            }
        }
        if let Some(want) = &self.error_code {
            found.equal(
                "error code",
                &run.error_code().unwrap_or_default(),
                Some(want),
            );
        }
        for (want, got) in [
            (&self.terminal, run.terminal()),
            (&self.outcome, run.outcome()),
        ] {
            if let Some(want) = want {
                found.unless(got == Some(want), || {
                    format!("ends with {}, expected {want}", run.ending())
                });
            }
        }
        let held = run.held.as_ref();
        if let Some(want) = &self.final_text {
            let got = held.and_then(|h| h.last_text()).unwrap_or_default();
            found.unless(got == want, || {
                format!("final text {got:?}, expected {want:?}")
            });
        }
        if let Some(want) = &self.final_state {
            let got = run.final_state().unwrap_or(&Value::Null);
            found.unless(same(got, want), || {
                format!("final state {}, expected {}", short(got), short(want))
            });
        }
    }

    fn work(&self, play: &Play, run: &Run, found: &mut Findings) {
        if let Some(want) = &self.executed {
            let all = play.stage.provider.executions();
            found.0.extend(unlike(
                all.get(run.executed_before..).unwrap_or_default(),
                want,
            ));
        }
        let got = play.stage.provider.request_count() - run.model_before;
        let fits = match &self.model_requests {
            None => true,
            Some(CountWant::Exactly(want)) => got == *want,
            Some(CountWant::Range { min, max }) => (*min..=*max).contains(&got),
        };
        found.unless(fits, || {
            format!("{got} model requests, expected {:?}", self.model_requests)
        });
    }

    fn events(&self, run: &Run, found: &mut Findings) {
        let kinds = run.kinds();
        let mut coming = kinds.iter();
        for want in &self.must {
            let comes = coming.any(|kind| kind == want);
            found.unless(comes, || format!("no {want} in the order {:?}", self.must));
        }
        for kind in &self.must_not {
            found.unless(!kinds.contains(&kind.as_str()), || {
                format!("{kind} must not come")
            });
        }
        let body = run.text_body();
        for needle in &self.must_not_contain {
            found.unless(!body.contains(needle), || {
                format!("{needle:?} is in the response")
            });
        }
        for want in &self.must_not_contain_in {
            let (kind, needle) = want.split_once(':').unwrap_or((want, ""));
            let holds = run
                .of(kind)
                .iter()
                .any(|e| e.value.to_string().contains(needle));
            found.unless(!holds, || format!("{needle:?} is in a {kind}"));
        }
        found.equal(
            "reasoning text",
            &run.reasoning(),
            self.reasoning_text.as_ref(),
        );
        found.equal("messages", &run.texts(), self.messages_in_order.as_ref());
        for name in &self.custom {
            found.unless(run.custom(name).is_some(), || format!("no CUSTOM {name}"));
        }
        self.usage(run, found);
        if self.own_version {
            let started = run.first("RUN_STARTED");
            let version = started
                .map(|e| e.text("protocolVersion"))
                .unwrap_or_default();
            let own = version.starts_with("1.")
                && !(version == "1.99" && run.request["protocolVersion"] == "1.99");
            found.unless(own, || {
                format!("RUN_STARTED.protocolVersion is {version:?}, not the server's own")
            });
        }
    }

    fn usage(&self, run: &Run, found: &mut Findings) {
        if let Some(want) = &self.usage {
            let all = run
                .first("RUN_FINISHED")
                .map(|e| e.value["usage"].clone())
                .unwrap_or_default();
            for (key, want) in want {
                let models = all.as_array().into_iter().flatten();
                let sum: u64 = models.filter_map(|m| m[key].as_u64()).sum();
                found.unless(*want == sum, || {
                    format!("usage {key} is {sum}, expected {want}")
                });
            }
        }
    }

    fn interactions(&self, play: &Play, run: &Run, found: &mut Findings) {
        found.equal(
            "interrupts:",
            &run.interrupts().len(),
            self.interrupt_count.as_ref(),
        );
        let results = run.of("TOOL_CALL_RESULT");
        let answers = |call: &String| {
            let wire = play.wire_call(call);
            results
                .iter()
                .any(|e| Some(e.text("toolCallId")) == wire.as_deref())
        };
        for call in &self.results_for {
            found.unless(answers(call), || format!("no TOOL_CALL_RESULT for {call}"));
        }
        for call in &self.no_result_for {
            found.unless(!answers(call), || format!("a TOOL_CALL_RESULT for {call}"));
        }
        if let Some(want) = &self.pending {
            let want: Vec<_> = want.iter().filter_map(|c| play.wire_call(c)).collect();
            let got: Vec<_> = run
                .pending()
                .unwrap_or_default()
                .into_iter()
                .map(str::to_owned)
                .collect();
            found.equal("pendingToolCallIds", &got, Some(&want));
        }
        if self.mentions_open {
            for interrupt in &play.open {
                let id = text(interrupt, "id");
                let named = run.text_body().contains(id);
                found.unless(named, || {
                    format!("the refusal does not name the open interrupt {id}")
                });
            }
        }
    }
}

impl OverAll {
    /// What the whole play does not fulfil.
    pub fn problems(&self, play: &Play) -> Vec<String> {
        let mut found = Findings(Vec::new());
        let executions = play.stage.provider.executions();
        if let Some(want) = &self.executed {
            found.0.extend(unlike(&executions, want));
        }
        found.equal(
            "executions:",
            &executions.len(),
            self.executed_times.as_ref(),
        );
        let requests = play.stage.provider.request_count();
        found.equal("model requests:", &requests, self.model_requests.as_ref());
        found.0
    }
}

/// How executions differ from what was wanted, whatever their order.
fn unlike(got: &[Execution], want: &[CallWant]) -> Option<String> {
    let mut left: Vec<&Execution> = got.iter().collect();
    let shown = || -> Vec<String> {
        got.iter()
            .map(|e| format!("{}({})", e.name, short(&e.args)))
            .collect()
    };
    for want in want {
        let fits = |e: &&Execution| e.name == want.name && same(&e.args, &want.args);
        let Some(at) = left.iter().position(fits) else {
            return Some(format!(
                "{}({}) did not run; executed: {:?}",
                want.name,
                short(&want.args),
                shown()
            ));
        };
        left.swap_remove(at);
    }
    let extra = left.first()?;
    Some(format!(
        "{}({}) ran and should not have; executed: {:?}",
        extra.name,
        short(&extra.args),
        shown()
    ))
}
