//! Many answers at once, answers that contradict each other, and requests that meet on one thread:
//! one wins, everybody hears the same, and nothing happens twice.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use antiphon_e2e::{
    binary::Store,
    http::Request,
    json::{list, text as member},
    play::{Play, Setting, Step, Stop},
    provider::{
        Gate, ModelRequest, Reply, Write,
        chunks::{Call, calls, piece, text},
    },
    run::{Held, Run},
};
use serde_json::{Value, json};
use tokio::task::JoinSet;

/// Posts that race each other.
const RACERS: usize = 20;
/// A bound for what must happen at all.
const AT_ALL: Duration = Duration::from_secs(10);

/// A server on which many threads are raced, each named after its round.
struct Arena {
    play: Play,
}

/// Calls `pay` with the words it was told, and is content with any result.
fn model(request: &ModelRequest) -> Reply {
    Reply::stream(if request.ends_with_result() {
        text("All set.")
    } else {
        let words = request.last_user();
        calls(&[Call::new(
            &format!("c-{words}"),
            "pay",
            &json!({"for": words}),
        )])
    })
}

/// A bearer token's header.
fn bearer(request: Request, token: &str) -> Request {
    request.header("Authorization", &format!("Bearer {token}"))
}

impl Arena {
    async fn new(tool: Value) -> Step<Self> {
        let mut pay = json!({"name": "pay", "returns": "paid",
            "parameters": {"type": "object", "properties": {"for": {"type": "string"}}}});
        for (key, value) in tool.as_object().into_iter().flatten() {
            pay[key] = value.clone();
        }
        let setting = Setting {
            store: Store::Sqlite,
            top: json!({
                "auth": {
                    "tokens": [{"token": "alice-token", "user": "alice"}],
                    "service_tokens": [{"token": "worker-token", "name": "worker"}],
                },
                "limits": {"runs_per_user": 1024},
            }),
            ..Setting::default()
        };
        let mut play =
            Play::set(json!({"tools": [pay], "on_disconnect": "detach"}), setting).await?;
        play.stage.provider.answer(model);
        play.headers = vec![("Authorization".to_owned(), "Bearer alice-token".to_owned())];
        // Each thread is judged on its own here.
        play.is_stored = false;
        play.executions_are_streamed = false;
        Ok(Self { play })
    }

    /// A body for a thread.
    fn body(&self, thread: &str, change: &Value) -> Value {
        let mut body = json!({
            "threadId": thread, "runId": self.play.new_run_id(), "protocolVersion": "1.0",
            "messages": [], "tools": [], "context": [], "forwardedProps": {},
        });
        for (key, value) in change.as_object().into_iter().flatten() {
            body[key] = value.clone();
        }
        body
    }

    /// The first message of a thread: its name.
    fn first(&self, thread: &str) -> Value {
        self.body(thread, &json!({"messages": [{"id": format!("u-{thread}"), "role": "user", "content": thread}]}),
        )
    }

    async fn post(&self, body: &Value) -> Step<Run> {
        let request = self.play.request(body);
        let answer = request.fetch(self.play.stage.server.addr).await?;
        let mut run = Run::recorded(body.clone(), Held::default(), &answer.body);
        run.status = answer.status;
        Ok(run)
    }

    /// Plays a thread up to its approval; returns the interrupt's id.
    async fn gated(&self, thread: &str) -> Step<String> {
        let run = self.post(&self.first(thread)).await?;
        let open = run.interrupts().first();
        let open = open.ok_or_else(|| Stop::new(format!("{thread}: {}", run.ending())))?;
        Ok(member(open, "id").to_owned())
    }

    /// An answer to an interrupt, with nothing else.
    fn answer(&self, thread: &str, id: &str, payload: &Value) -> Value {
        let entry = json!({"interruptId": id, "status": "resolved", "payload": payload});
        self.body(thread, &json!({"resume": [entry]}))
    }

    /// Sends all bodies side by side.
    async fn race(&self, bodies: Vec<Value>) -> Step<Vec<Run>> {
        let mut racing = JoinSet::new();
        let addr = self.play.stage.server.addr;
        let count = bodies.len();
        let start = Arc::new(tokio::sync::Barrier::new(count));
        for (at, body) in bodies.into_iter().enumerate() {
            let request = self.play.request(&body);
            let start = Arc::clone(&start);
            racing.spawn(async move {
                start.wait().await;
                (at, body, request.fetch(addr).await)
            });
        }
        let mut runs: Vec<(usize, Run)> = Vec::with_capacity(count);
        while let Some(done) = racing.join_next().await {
            let (at, body, answer) = done.map_err(|e| Stop::new(e.to_string()))?;
            let answer = answer?;
            let mut run = Run::recorded(body, Held::default(), &answer.body);
            run.status = answer.status;
            runs.push((at, run));
        }
        runs.sort_by_key(|(at, _)| *at);
        Ok(runs.into_iter().map(|(_, run)| run).collect())
    }

    /// How often the tool ran for a thread.
    fn effects(&self, thread: &str) -> usize {
        let executions = self.play.stage.provider.executions();
        let own = executions.iter().filter(|e| e.args["for"] == thread);
        own.count()
    }

    /// The final decisions of a thread's interactions.
    async fn decisions(&self, thread: &str) -> Step<Vec<String>> {
        let path = format!("/sessions/{thread}/interactions");
        let record = self.play.get(&path).await?.json();
        let words = list(&record, "decisions").iter();
        let words = words.map(|d| member(d, "decision").to_owned());
        Ok(words.filter(|word| word != "executed").collect())
    }

    /// The messages of a thread as two readers open it at once.
    async fn opened_twice(&self, thread: &str) -> Step<[Run; 2]> {
        let bodies = vec![self.body(thread, &json!({})), self.body(thread, &json!({}))];
        let mut runs = self.race(bodies).await?.into_iter();
        match (runs.next(), runs.next()) {
            (Some(a), Some(b)) => Ok([a, b]),
            _ => Err(Stop::new("two readers, but not two answers")),
        }
    }
}

/// A refusal that names a thread at work or an interaction that is settled.
fn lost_fairly(run: &Run) -> bool {
    let code = run.error_code().unwrap_or_default();
    run.status == 409 && ["thread_busy", "interaction_settled"].contains(&code.as_str())
}

fn snapshot(run: &Run) -> Option<&Value> {
    run.first("MESSAGES_SNAPSHOT").map(|e| &e.value["messages"])
}

#[tokio::test]
async fn c1_double_click_approve() -> Step {
    const ROUNDS: usize = 200;
    let mut arena = Arena::new(json!({"approval": true})).await?;
    for round in 0..ROUNDS {
        let thread = format!("round-{round}");
        let id = arena.gated(&thread).await?;
        let first = arena.answer(&thread, &id, &json!({"approved": true}));
        let bodies = (0..RACERS).map(|_| {
            let mut body = first.clone();
            // A lost answer is sent again as it was; a second click has a run id of its own.
            if round % 2 == 0 {
                body["runId"] = json!(arena.play.new_run_id());
            }
            body
        });
        let runs = arena.race(bodies.collect()).await?;
        let won = runs.iter().filter(|run| run.succeeded()).count();
        let unfair = runs
            .iter()
            .find(|run| !run.succeeded() && !lost_fairly(run));
        let unfair = unfair.map(Run::ending);
        let effects = arena.effects(&thread);
        arena.play.check(
            won > 0 && unfair.is_none() && effects == 1,
            format!("{thread}: {won} of {RACERS} succeeded, {effects} effects, unfair: {unfair:?}"),
        );
        if round % 20 == 0 {
            let decisions = arena.decisions(&thread).await?;
            let text = format!("{thread} was decided {decisions:?}");
            arena.play.check(decisions == ["approved"], text);
        }
    }
    arena.play.expect_executions(ROUNDS);
    arena.play.expect_model_requests(2 * ROUNDS);
    arena.play.end().await
}

#[tokio::test]
async fn c2_approve_and_decline_at_the_same_moment() -> Step {
    let mut arena = Arena::new(json!({"approval": true})).await?;
    for round in 0..40 {
        let thread = format!("round-{round}");
        let id = arena.gated(&thread).await?;
        let mut bodies = vec![
            arena.answer(&thread, &id, &json!({"approved": true})),
            arena.answer(&thread, &id, &json!({"approved": false})),
        ];
        let approve_first = round % 2 == 0;
        if !approve_first {
            bodies.reverse();
        }
        let runs = arena.race(bodies.clone()).await?;
        let winners: Vec<_> = runs.iter().map(Run::succeeded).collect();
        let losers = runs.iter().filter(|run| lost_fairly(run)).count();
        arena.play.check(
            winners.iter().filter(|won| **won).count() == 1 && losers == 1,
            format!(
                "{thread}: {:?}",
                runs.iter().map(Run::ending).collect::<Vec<_>>()
            ),
        );
        let approved = winners.first() == Some(&approve_first);
        let effects = arena.effects(&thread);
        arena.play.check(
            effects == usize::from(approved),
            format!("{thread}: approved {approved}, {effects} effects"),
        );
        // Whoever lost hears later, too, that the other answer counts.
        let loser = winners
            .iter()
            .position(|won| !won)
            .and_then(|at| bodies.get(at));
        if let Some(loser) = loser {
            let late = arena.post(loser).await?;
            arena.play.check(
                late.status == 409 && late.error_code().as_deref() == Some("interaction_settled"),
                format!("{thread}: the loser later: {}", late.ending()),
            );
        }
        let decisions = arena.decisions(&thread).await?;
        let expected = if approved { "approved" } else { "declined" };
        let text = format!("{thread}: decided {decisions:?}, the winner {expected}");
        arena.play.check(decisions == [expected], text);
        readers_agree(&mut arena, &thread, approved).await?;
    }
    arena.play.end().await
}

/// Two readers see one thread, with the result that the decision led to.
async fn readers_agree(arena: &mut Arena, thread: &str, approved: bool) -> Step {
    let [one, other] = arena.opened_twice(thread).await?;
    // Two requests for one thread may meet; the one that is refused says so.
    let seen: Vec<_> = [&one, &other].into_iter().filter_map(snapshot).collect();
    let refused = [&one, &other].iter().filter(|run| lost_fairly(run)).count();
    let alike = seen.windows(2).all(|pair| pair.first() == pair.last());
    arena.play.check(
        !seen.is_empty() && seen.len() + refused == 2 && alike,
        format!("{thread}: the readers see {seen:?}, {refused} refused"),
    );
    let results = seen.first().and_then(|seen| seen.as_array()).cloned();
    let results = results.unwrap_or_default();
    let result = results.iter().find(|m| m["role"] == "tool");
    let fits = result.is_some_and(|m| (m["content"] == "paid") == approved);
    let text = format!("{thread}: approved {approved}, the result is {result:?}");
    arena.play.check(fits, text);
    Ok(())
}

#[tokio::test]
async fn c5_two_new_runs_at_once_on_one_thread() -> Step {
    const ROUNDS: usize = 50;
    let mut arena = Arena::new(json!({})).await?;
    for round in 0..ROUNDS {
        let thread = format!("round-{round}");
        let gate = Gate::new();
        let door = gate.clone();
        arena.play.stage.provider.answer(move |_| {
            let held = [piece("Well. "), Write::Gate(door.clone())];
            Reply::stream(held.into_iter().chain(text("Done.")).collect())
        });
        let (one, other) = (arena.first(&thread), arena.first(&thread));
        let play = &arena.play;
        let (one, other) = tokio::join!(play.start(&one), play.start(&other));
        gate.open();
        let (mut one, mut other) = (one?, other?);
        one.read().await;
        other.read().await;
        let (won, lost) = if one.status == 200 {
            (one, other)
        } else {
            (other, one)
        };
        arena.play.check(
            won.succeeded() && won.text() == "Well. Done.",
            format!("{thread}: the winner: {}", won.ending()),
        );
        let named = lost.text_body().contains(member(&won.request, "runId"));
        arena.play.check(
            lost.status == 409 && lost.error_code().as_deref() == Some("thread_busy") && named,
            format!(
                "{thread}: the loser: HTTP {} {}",
                lost.status,
                lost.text_body()
            ),
        );
    }
    arena.play.expect_model_requests(ROUNDS);
    arena.play.end().await
}

#[tokio::test]
async fn an_answer_may_come_while_the_run_that_asked_still_ends() -> Step {
    let mut arena = Arena::new(json!({"approval": true})).await?;
    for round in 0..60 {
        let thread = format!("round-{round}");
        let mut run = arena.play.start(&arena.first(&thread)).await?;
        run.read_to("RUN_FINISHED").await?;
        let open = run.interrupts().first().cloned().unwrap_or_default();
        let answer = arena.answer(&thread, member(&open, "id"), &json!({"approved": true}));
        let mut resumed = arena.play.start(&answer).await?;
        resumed.read_to("RUN_FINISHED").await?;
        let next = arena.body(
            &thread,
            &json!({"messages": [{"id": "n", "role": "user", "content": format!("{thread}-b")}]}),
        );
        let mut next = arena.play.start(&next).await?;
        next.read().await;
        let fair = resumed.succeeded() && next.outcome() == Some("interrupt");
        let text = format!("{thread}: {}, then {}", resumed.ending(), next.ending());
        arena.play.check(fair, text);
    }
    arena.play.expect_executions(60);
    arena.play.end().await
}

#[tokio::test]
async fn c11_the_page_answers_many_times_at_once() -> Step {
    let mut arena = Arena::new(json!({"kind": "client"})).await?;
    for round in 0..20 {
        let thread = format!("round-{round}");
        let run = arena.post(&arena.first(&thread)).await?;
        let call = run
            .calls()
            .first()
            .map(|c| c.id.clone())
            .unwrap_or_default();
        let bodies = (0..RACERS).map(|racer| {
            let answer = json!({"id": format!("t-{racer}"), "role": "tool", "toolCallId": call, "content": "ok"});
            arena.body(&thread, &json!({"messages": [answer]}))
        });
        let runs = arena.race(bodies.collect()).await?;
        let won = runs.iter().filter(|run| run.succeeded()).count();
        let unfair = runs
            .iter()
            .find(|run| !run.succeeded() && !lost_fairly(run));
        let unfair = unfair.map(Run::ending);
        let text = format!("{thread}: {won} answers succeeded, unfair: {unfair:?}");
        arena.play.check(won > 0 && unfair.is_none(), text);
        let messages = arena
            .play
            .get(&format!("/sessions/{thread}/messages"))
            .await?
            .json();
        let results = list(&messages, "messages")
            .iter()
            .filter(|m| m["role"] == "tool");
        let results = results.count();
        arena.play.check(
            results == 1,
            format!("{thread}: {results} results are stored"),
        );
    }
    arena.play.expect_model_requests(40);
    arena.play.end().await
}

#[tokio::test]
async fn a_service_reports_many_times_at_once() -> Step {
    let mut arena =
        Arena::new(json!({"kind": "external_wait", "capability": "kyc.verify"})).await?;
    for round in 0..20 {
        let thread = format!("round-{round}");
        let run = arena.post(&arena.first(&thread)).await?;
        let wait = run
            .custom("harnest.external_wait")
            .cloned()
            .unwrap_or_default();
        let id = member(&wait["pendingAction"], "id").to_owned();
        let addr = arena.play.stage.server.addr;
        let mut reports = JoinSet::new();
        for _ in 0..RACERS {
            let path = format!("/external-waits/{id}/complete");
            let report = bearer(
                Request::post(&path, &json!({"result": "verified"})),
                "worker-token",
            );
            reports.spawn(async move { report.fetch(addr).await });
        }
        let mut statuses = BTreeSet::new();
        while let Some(done) = reports.join_next().await {
            statuses.insert(done.map_err(|e| Stop::new(e.to_string()))??.status);
        }
        let fair = statuses.contains(&200) && statuses.iter().all(|s| [200, 409].contains(s));
        arena
            .play
            .check(fair, format!("{thread}: the reports got {statuses:?}"));
        let path = format!(
            "/responses/{}?sessionId={thread}",
            member(&wait, "responseId")
        );
        let end = arena
            .play
            .until(&path, "its end", |a| a.json()["status"] == "completed");
        let end = end.await?.text();
        arena
            .play
            .check(end.contains("All set."), format!("{thread}: {end}"));
    }
    arena.play.expect_model_requests(40);
    arena.play.expect_executions(20);
    arena.play.end().await
}

#[tokio::test]
async fn threads_that_race_do_not_wait_for_each_other() -> Step {
    let mut arena = Arena::new(json!({"approval": true})).await?;
    let slow = Gate::new();
    let door = slow.clone();
    arena.play.stage.provider.answer(move |request| {
        if request.last_user() == "slow" {
            return Reply::stream(vec![piece("Hm."), Write::Gate(door.clone())]);
        }
        model(request)
    });
    let held = arena.play.start(&arena.first("slow")).await?;
    let bodies = (0..RACERS).map(|n| arena.first(&format!("quick-{n}")));
    let race = tokio::time::timeout(AT_ALL, arena.race(bodies.collect()));
    let runs = race
        .await
        .map_err(|_| Stop::new("the quick threads waited"))??;
    for run in &runs {
        let text = format!("{}: {}", run.request["threadId"], run.ending());
        arena.play.check(run.outcome() == Some("interrupt"), text);
    }
    drop(held);
    slow.open();
    arena.play.end().await
}
