//! What is judged: each stream as it comes, and the whole play at its end.

use serde_json::Value;

use super::{Play, Step, Stop};
use crate::{
    agent::ToolKind,
    json::{arguments, clip, same, short, text},
    provider::wire,
    rules::{self, Memory},
    run::Run,
};

impl Play {
    /// Reads a run to its end, judges it, and holds what the client now holds.
    pub async fn finish(&mut self, mut run: Run) -> Run {
        run.read().await;
        self.judge(&mut run);
        if let Some(held) = run.held.clone().filter(|_| !run.left_early) {
            self.held = held;
        }
        run
    }

    /// As [`finish`](Self::finish), but the client goes on with what it held.
    pub async fn finish_aside(&mut self, mut run: Run) -> Run {
        run.read().await;
        self.judge(&mut run);
        run
    }

    /// Judges what has been read of a run.
    pub fn judge(&mut self, run: &mut Run) {
        if !run.is_stream() {
            self.problems.extend(rules::refusal(run));
            return;
        }
        let declared = run.request["tools"].as_array().cloned().unwrap_or_default();
        let mut page: Vec<String> = declared
            .iter()
            .map(|t| text(t, "name").to_owned())
            .collect();
        page.extend(self.stage.agent.client_tools().map(str::to_owned));
        // Another thread than this one has a memory of its own.
        let own = text(&run.request, "threadId") == self.thread && !run.replay;
        let memory = if own {
            &mut self.memory
        } else {
            &mut Memory::default()
        };
        self.problems.extend(rules::judge(run, memory, &page));
        if !run.replay {
            self.calls.extend(run.calls());
        }
        if run.outcome() == Some("interrupt") {
            self.open = run.interrupts().to_vec();
        }
    }

    /// Judges what needs the whole play, ends the server, and reports everything.
    ///
    /// # Errors
    ///
    /// Something was wrong, now or before.
    pub async fn end(mut self) -> Step {
        if let Err(stop) = self.judge_whole().await {
            self.bad(stop.to_string());
        }
        if let Err(error) = self.stage.server.stop().await {
            self.bad(format!("the end of the server: {error}"));
        }
        self.report()
    }

    /// Reports everything that was wrong so far.
    ///
    /// # Errors
    ///
    /// Something was.
    pub fn report(&self) -> Step {
        if self.problems.is_empty() {
            return Ok(());
        }
        let stderr = self.stage.server.stderr();
        let lines: Vec<_> = stderr.lines().rev().take(6).collect();
        let log: String = lines
            .iter()
            .rev()
            .map(|l| format!("\n    {}", clip(l, 300)))
            .collect();
        Err(Stop(format!(
            "{}\n  the server's log ends:{log}",
            self.problems.join("\n  ")
        )))
    }

    async fn judge_whole(&mut self) -> Step {
        let provider = &self.stage.provider;
        let mut found = provider.problems();
        for request in provider.requests() {
            if request.wire != self.stage.agent.provider {
                found.push(format!(
                    "model request {} went to {}",
                    request.number, request.path
                ));
            }
            let problems = wire::problems(request.wire, &request.body);
            found.extend(
                problems
                    .into_iter()
                    .map(|p| format!("{p} (model request {})", request.number)),
            );
        }
        self.problems.extend(found);
        if self.executions_are_streamed {
            self.judge_executions();
        }
        if self.is_stored && self.held.state.is_object() {
            self.judge_stored().await?;
        }
        Ok(())
    }

    /// Every execution is a call of its own on the wire, with the arguments that were shown.
    fn judge_executions(&mut self) {
        let mut left: Vec<_> = self
            .calls
            .iter()
            .map(|c| (c.name.clone(), arguments(&c.arguments)))
            .collect();
        let own = |name: &str| {
            let mut tools = self.stage.agent.tools.iter();
            tools.any(|t| t.name == name && t.kind == ToolKind::Backend)
        };
        for execution in self.stage.provider.executions() {
            if !own(&execution.name) {
                continue;
            }
            let fits = |(name, args): &(String, Option<Value>)| {
                *name == execution.name && args.as_ref().is_some_and(|a| same(a, &execution.args))
            };
            match left.iter().position(fits) {
                Some(at) => drop(left.swap_remove(at)),
                None => {
                    let call = format!("{}({})", execution.name, short(&execution.args));
                    self.problems.push(format!(
                        "{call} was executed without a call of its own on the wire"
                    ));
                }
            }
        }
    }

    /// The stored state is what the client holds.
    async fn judge_stored(&mut self) -> Step {
        let path = format!("/sessions/{}", self.thread);
        let answer = self.get(&path).await?;
        let stored = answer.json();
        if answer.status != 200 || stored.get("state").is_none() {
            self.bad(format!(
                "the stored state cannot be read: GET {path} gives {}",
                answer.status
            ));
        } else if !same(&stored["state"], &self.held.state) {
            let (stored, held) = (short(&stored["state"]), short(&self.held.state));
            self.bad(format!(
                "the stored state {stored} is not what the client holds: {held}"
            ));
        }
        Ok(())
    }
}
