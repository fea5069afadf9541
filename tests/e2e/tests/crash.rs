//! The server dies at every place where it could matter, and nothing that was said is lost,
//! nothing happens twice.
//!
//! A debug build dies where `ANTIPHON_FAILPOINT=name:n` says. Each scenario is played by one
//! stubborn client: it does what is asked of it, sends a request again when its answer was lost,
//! opens the thread and goes on. It is played for the first, second, ... passing of every place,
//! until the server survives the scenario.

use std::{collections::BTreeSet, path::Path, time::Duration};

use antiphon_e2e::{
    binary::Store,
    http::Request,
    json::{list, text as member},
    play::{Play, Setting, Step, Stop},
    provider::{
        ModelRequest, Reply,
        chunks::{Call, calls, text},
    },
    run::Run,
    secret::Secret,
    told::Told,
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

/// Every place where a debug build can be made to die.
const FAILPOINTS: [&str; 10] = [
    "accept.before",
    "accept.stored",
    "call.before",
    "call.stored",
    "ending.before",
    "ending.stored",
    "run.announced",
    "tool.begins",
    "tool.ran",
    "turn.streamed",
];

/// A thread is usable so soon after a restart.
const SOON: Duration = Duration::from_secs(10);
/// What a private form is answered with.
const CANARY: &str = "CANARY-c4a5-crash";

// The client -------------------------------------------------------------------------------

/// Where the conversation stands for the client.
#[derive(Debug, Clone)]
enum Position {
    /// It has not begun.
    Fresh,
    /// Interrupts want answers.
    Asked(Vec<Value>),
    /// The page has to answer a call: its id.
    Page(String),
    /// Another system works: the wait's id.
    Elsewhere(String),
    /// Nothing is open.
    Free,
}

impl Position {
    fn after(run: &Run) -> Self {
        if !run.interrupts().is_empty() {
            return Self::Asked(run.interrupts().to_vec());
        }
        if let Some(wait) = run.custom("harnest.external_wait") {
            return Self::Elsewhere(member(&wait["pendingAction"], "id").to_owned());
        }
        match run.custom("harnest.client_tool") {
            Some(call) => Self::Page(member(call, "toolCallId").to_owned()),
            None => Self::Free,
        }
    }
}

/// A client that does what it is asked until nothing is left, whatever happens to the server.
struct Client {
    play: Play,
    told: Told,
    position: Position,
    /// Whether it approves.
    approves: bool,
    /// What it says about a call whose outcome is unknown.
    outcome: &'static str,
    deaths: usize,
    /// How often it was asked what became of a call.
    doubts: usize,
    /// A result that was acknowledged to whoever delivered it.
    delivered: Option<&'static str>,
}

/// The thing that every scenario calls.
fn tool(change: &Value) -> Value {
    let mut tool = json!({"name": "pay", "returns": "paid"});
    for (key, value) in change.as_object().into_iter().flatten() {
        tool[key] = value.clone();
    }
    json!({"tools": [tool], "on_disconnect": "detach"})
}

fn model(request: &ModelRequest) -> Reply {
    Reply::stream(match request.last_user().as_str() {
        _ if request.ends_with_result() => text("All set."),
        "go" => calls(&[Call::new("c1", "pay", &json!({"eur": 5}))]),
        _ => text("Noted."),
    })
}

impl Client {
    async fn new(agent: Value, failpoint: &str) -> Step<Self> {
        let setting = Setting {
            store: Store::Sqlite,
            top: json!({"auth": {
                "tokens": [{"token": "alice-token", "user": "alice"}],
                "service_tokens": [{"token": "worker-token", "name": "worker"}],
            }}),
            env: vec![("ANTIPHON_FAILPOINT".to_owned(), failpoint.to_owned())],
            ..Setting::default()
        };
        let mut play = Play::set(agent, setting).await?;
        play.stage.provider.answer(model);
        play.headers = vec![("Authorization".to_owned(), "Bearer alice-token".to_owned())];
        // Calls may have been streamed to a reader that died with the server.
        play.executions_are_streamed = false;
        Ok(Self {
            play,
            told: Told::default(),
            position: Position::Fresh,
            approves: true,
            outcome: "done",
            deaths: 0,
            doubts: 0,
            delivered: None,
        })
    }

    /// Goes on until nothing is open.
    async fn go(&mut self) -> Step {
        for _ in 0..8 {
            match self.position.clone() {
                Position::Free => return Ok(()),
                Position::Fresh => {
                    let body = self.play.body(&json!({}));
                    self.send(body).await?;
                }
                Position::Asked(interrupts) => {
                    let answers: Vec<_> = interrupts.iter().map(|i| self.answer(i)).collect();
                    let change = json!({"messages": [], "state": null, "resume": answers});
                    self.send(self.play.body(&change)).await?;
                }
                Position::Page(call) => {
                    let answer = json!({"id": "page-1", "role": "tool", "toolCallId": call, "content": "from the page"});
                    let body = self.play.next_body(&[answer], &json!({}));
                    self.send(body).await?;
                }
                Position::Elsewhere(wait) => self.deliver(&wait).await?,
            }
        }
        Err(Stop::new(format!("no end: {:?}", self.position)))
    }

    fn answer(&mut self, interrupt: &Value) -> Value {
        let payload = match member(interrupt, "reason") {
            "tool_call" => json!({"approved": self.approves}),
            "private_input" => json!({"token": CANARY}),
            _ => {
                self.doubts += 1;
                json!({"outcome": self.outcome})
            }
        };
        json!({"interruptId": interrupt["id"], "status": "resolved", "payload": payload})
    }

    /// Sends a request; when the server dies of it, once more to the next server.
    async fn send(&mut self, body: Value) -> Step {
        self.told.moves_on();
        match self.attempt(&body, false).await? {
            Some(run) => {
                self.position = Position::after(&run);
                Ok(())
            }
            None => {
                self.revive().await?;
                let again = self.attempt(&body, true).await?;
                let again = again.ok_or_else(|| Stop::new("the server died twice"))?;
                let fair = again.status == 409 || again.terminal().is_some();
                self.play
                    .check(fair, format!("sent again: {}", again.ending()));
                self.open().await
            }
        }
    }

    /// One POST, read to its end; nothing if the server died before the run's end.
    async fn attempt(&mut self, body: &Value, again: bool) -> Step<Option<Run>> {
        let mut run = match self.play.start(body).await {
            Ok(run) => run,
            Err(stop) => return self.has_died().await.then_some(None).ok_or(stop),
        };
        run.replay = again;
        if !list(body, "resume").is_empty() && list(body, "messages").is_empty() {
            // An answer that comes alone: the client holds the thread all the same.
            run.base.clone_from(&self.play.held);
        }
        run.read().await;
        let ended = !run.is_stream() || run.terminal().is_some();
        run.left_early = !ended;
        self.play.judge(&mut run);
        if !(list(body, "messages").is_empty() && list(body, "resume").is_empty()) {
            self.told.hear(&run);
        }
        if run.status == 200 && body["messages"].to_string().contains("from the page") {
            self.delivered = Some("from the page");
        }
        if !ended {
            if self.has_died().await {
                return Ok(None);
            }
            return Err(Stop::new(
                "a stream ended without its end, and the server lives",
            ));
        }
        if let Some(held) = run.held.clone() {
            self.play.held = held;
        }
        Ok(Some(run))
    }

    async fn has_died(&mut self) -> bool {
        self.play.stage.server.ended().await.is_ok()
    }

    /// Starts the next server, which nothing kills any more, and looks at what is left.
    async fn revive(&mut self) -> Step {
        self.restart().await?;
        self.open().await
    }

    async fn restart(&mut self) -> Step {
        self.deaths += 1;
        self.play.stage.home.forget_env("ANTIPHON_FAILPOINT");
        self.play.stage.restart().await
    }

    /// Opens the thread as soon as nothing is at work there, and compares it with what was told.
    async fn open(&mut self) -> Step {
        let end = Instant::now() + SOON;
        let body = json!({"messages": [], "state": null, "tools": [], "resume": null});
        let opened = loop {
            match self.attempt(&self.play.body(&body), true).await? {
                None => self.restart().await?,
                Some(run) if run.status == 409 && Instant::now() < end => {
                    sleep(Duration::from_millis(20)).await;
                }
                Some(run) => break run,
            }
        };
        if opened.terminal() != Some("RUN_FINISHED") {
            return Err(Stop::new(format!("opening: {}", opened.ending())));
        }
        self.told.check(&mut self.play, &opened).await?;
        self.position = Position::after(&opened);
        Ok(())
    }

    /// The other system reports, again if the answer is lost.
    async fn deliver(&mut self, wait: &str) -> Step {
        self.told.moves_on();
        let path = format!("/external-waits/{wait}/complete");
        let request = Request::post(&path, &json!({"result": "from elsewhere"}))
            .header("Authorization", "Bearer worker-token");
        let mut answer = self.play.stage.server.fetch(&request).await;
        if answer.is_err() && self.has_died().await {
            self.revive().await?;
            answer = self.play.stage.server.fetch(&request).await;
        }
        let answer = answer?;
        if answer.status != 200 {
            return Err(Stop::new(format!("the delivery: {}", answer.text())));
        }
        self.delivered = Some("from elsewhere");
        // The run goes on without a reader; it ends, or the server with it.
        let path = format!("/runs/run-1/events?threadId={}", self.play.thread);
        if self.play.get(&path).await.is_ok() {
            return self.open().await;
        }
        if self.has_died().await {
            return self.revive().await;
        }
        Err(Stop::new("the run that goes on has no end"))
    }

    /// Says something new, and judges what has become of everything.
    async fn end(mut self, effects: usize) -> Step {
        if self.deaths == 0 {
            // It dies at rest then.
            self.play.stage.server.kill().await?;
            self.revive().await?;
        }
        let run = self.play.when_free("and now?").await?;
        self.play
            .expect_success(&run, "the next message", Some("Noted."));
        self.told.moves_on();
        self.told.hear(&run);
        self.open().await?;
        let keys = self.keys();
        let distinct: BTreeSet<_> = keys.iter().collect();
        self.play.check(
            distinct.len() <= effects && keys.iter().all(|key| !key.is_empty()),
            format!("effects under the keys {keys:?}, expected at most {effects}"),
        );
        if let Some(result) = self.delivered {
            let kept = self
                .play
                .held
                .messages
                .iter()
                .any(|m| m["role"] == "tool" && m["content"] == result);
            self.play.check(
                kept,
                format!(
                    "the delivered result {result:?} was acknowledged and is lost: {:?}",
                    self.play.held.messages
                ),
            );
        }
        self.play.end().await
    }

    /// The idempotency keys of all executions.
    fn keys(&self) -> Vec<String> {
        let executions = self.play.stage.provider.executions();
        let key = |headers: &[(String, String)]| {
            let found = headers.iter().find(|(name, _)| name == "idempotency-key");
            found.map(|(_, key)| key.clone()).unwrap_or_default()
        };
        executions.iter().map(|e| key(&e.headers)).collect()
    }
}

// Every place ------------------------------------------------------------------------------

/// Plays a scenario for every passing of every place. `must` are places that it passes for sure.
async fn everywhere(
    agent: Value,
    approves: bool,
    must: &[&str],
    judge: impl Fn(&mut Client) -> usize,
) -> Step {
    let (mut died, mut problems) = (BTreeSet::new(), Vec::new());
    for name in FAILPOINTS {
        for passing in 1..=9 {
            let failpoint = format!("{name}:{passing}");
            let mut client = Client::new(agent.clone(), &failpoint).await?;
            client.approves = approves;
            let played = client.go().await;
            let (deaths, effects) = (client.deaths, judge(&mut client));
            let ended = match played {
                Ok(()) => client.end(effects).await,
                Err(stop) => Err(stop),
            };
            problems.extend(ended.err().map(|stop| format!("{failpoint}: {stop}")));
            if deaths == 0 {
                break;
            }
            died.insert(name);
        }
    }
    if !problems.is_empty() {
        return Err(Stop::new(problems.join("\n")));
    }
    let missed: Vec<_> = must.iter().filter(|name| !died.contains(*name)).collect();
    if missed.is_empty() {
        Ok(())
    } else {
        Err(Stop::new(format!("the server never died at {missed:?}")))
    }
}

/// The call happened at most once.
fn once(client: &mut Client) -> usize {
    let executions = client.play.stage.provider.execution_count();
    let text = format!("{executions} executions");
    client.play.check(executions <= 1, text);
    1
}

fn never(client: &mut Client) -> usize {
    client.play.expect_executions(0);
    0
}

const TURN: [&str; 6] = [
    "accept.before",
    "accept.stored",
    "ending.before",
    "ending.stored",
    "run.announced",
    "turn.streamed",
];

fn sources(folder: &Path, found: &mut BTreeSet<String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            sources(&path, found)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&path)?;
            let names = text.split("failpoint::reach(\"").skip(1);
            found.extend(
                names
                    .filter_map(|rest| rest.split('"').next())
                    .map(str::to_owned),
            );
        }
    }
    Ok(())
}

#[test]
fn the_list_has_every_place_of_the_sources() -> Step {
    let mut found = BTreeSet::new();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates");
    for entry in std::fs::read_dir(crates)? {
        let folder = entry?.path().join("src");
        if folder.is_dir() {
            sources(&folder, &mut found)?;
        }
    }
    let listed: BTreeSet<_> = FAILPOINTS.iter().map(|name| (*name).to_owned()).collect();
    if found == listed {
        Ok(())
    } else {
        Err(Stop::new(format!(
            "the sources have {found:?}, the list has {listed:?}"
        )))
    }
}

#[tokio::test]
async fn d4_a_plain_answer_survives_every_crash() -> Step {
    let agent = json!({"instructions": "Say Noted.", "on_disconnect": "detach"});
    let mut died = 0;
    for name in FAILPOINTS {
        let mut client = Client::new(agent.clone(), name).await?;
        client
            .play
            .stage
            .provider
            .answer(|_| Reply::stream(text("Noted.")));
        let at = |stop: Stop| Stop::new(format!("{name}: {stop}"));
        client.go().await.map_err(at)?;
        died += client.deaths;
        client.end(0).await.map_err(at)?;
    }
    let expected = TURN.len();
    if died == expected {
        Ok(())
    } else {
        Err(Stop::new(format!("{died} deaths, expected {expected}")))
    }
}

#[tokio::test]
async fn d4_a_tool_runs_at_most_once_over_every_crash() -> Step {
    everywhere(tool(&json!({})), true, &FAILPOINTS, once).await
}

#[tokio::test]
async fn d4_an_approved_call_runs_at_most_once_over_every_crash() -> Step {
    everywhere(tool(&json!({"approval": true})), true, &FAILPOINTS, once).await
}

#[tokio::test]
async fn d4_a_declined_call_never_runs_over_every_crash() -> Step {
    everywhere(tool(&json!({"approval": true})), false, &TURN, never).await
}

#[tokio::test]
async fn d4_an_answer_of_the_page_survives_every_crash() -> Step {
    everywhere(tool(&json!({"kind": "client"})), true, &TURN, never).await
}

#[tokio::test]
async fn d4_an_external_wait_survives_every_crash() -> Step {
    let agent = tool(&json!({"kind": "external_wait", "capability": "kyc.verify"}));
    everywhere(agent, true, &FAILPOINTS, once).await
}

#[tokio::test]
async fn d9_a_private_value_is_kept_by_no_crash() -> Step {
    let form = json!({"type": "object", "properties": {"token": {"type": "string"}}, "required": ["token"]});
    let agent =
        tool(&json!({"kind": "private_input", "responseSchema": form, "model_sees": "stored"}));
    let secret = Secret::new(CANARY);
    everywhere(agent, true, &FAILPOINTS, |client| {
        let found = secret.found_in_files(client.play.stage.home.path());
        client.play.check(
            found.as_ref().is_ok_and(Vec::is_empty),
            format!("{found:?}"),
        );
        once(client)
    })
    .await
}

#[tokio::test]
async fn d3_an_idempotent_call_runs_again_under_its_key() -> Step {
    let agent = tool(&json!({"idempotent": true, "approval": true}));
    everywhere(agent, true, &FAILPOINTS, |client| {
        let executions = client.play.stage.provider.execution_count();
        let text = format!("{executions} executions after one crash");
        client.play.check(executions <= 2, text);
        let asked = format!("{} questions about an idempotent call", client.doubts);
        client.play.check(client.doubts == 0, asked);
        1
    })
    .await
}

// A call that was cut in the middle ---------------------------------------------------------

/// Dies in the middle of the call, says what became of it, and returns what the model heard.
async fn cut(failpoint: &str, outcome: &'static str, executions: usize) -> Step<String> {
    let mut client = Client::new(tool(&json!({"approval": true})), failpoint).await?;
    client.outcome = outcome;
    client.go().await?;
    client.play.check(
        client.deaths == 1,
        format!("{} deaths at {failpoint}", client.deaths),
    );
    client.play.expect_executions(executions);
    let requests = client.play.stage.provider.requests();
    let heard = requests.last().map(|r| r.results_of("c1").concat());
    client.end(1).await?;
    Ok(heard.unwrap_or_default())
}

#[tokio::test]
async fn d3_a_cut_call_runs_again_when_the_person_says_retry() -> Step {
    for (failpoint, executions) in [("tool.begins", 1), ("tool.ran", 2)] {
        let heard = cut(failpoint, "retry", executions).await?;
        expect(heard.contains("paid"), failpoint, &heard)?;
    }
    Ok(())
}

#[tokio::test]
async fn d3_a_cut_call_stays_as_it_is_when_the_person_says_done() -> Step {
    for (failpoint, executions) in [("tool.begins", 0), ("tool.ran", 1)] {
        let heard = cut(failpoint, "done", executions).await?;
        let fair = !heard.contains("paid") && !heard.contains("Error");
        expect(fair, failpoint, &heard)?;
    }
    Ok(())
}

#[tokio::test]
async fn d3_a_cut_call_has_failed_when_the_person_says_failed() -> Step {
    for (failpoint, executions) in [("tool.begins", 0), ("tool.ran", 1)] {
        let heard = cut(failpoint, "failed", executions).await?;
        expect(heard.contains("failed"), failpoint, &heard)?;
    }
    Ok(())
}

fn expect(holds: bool, failpoint: &str, heard: &str) -> Step {
    if holds {
        Ok(())
    } else {
        Err(Stop::new(format!("{failpoint}: the model heard {heard:?}")))
    }
}

#[tokio::test]
async fn c12_an_answer_that_was_taken_is_carried_out_after_a_crash() -> Step {
    for (approves, executions) in [(true, 1), (false, 0)] {
        for failpoint in ["accept.stored:2", "run.announced:2", "call.before:2"] {
            let agent = tool(&json!({"approval": true}));
            let mut client = Client::new(agent, failpoint).await?;
            client.approves = approves;
            client.go().await?;
            let text = format!("{failpoint}: {} deaths", client.deaths);
            client.play.check(client.deaths == 1, text);
            client.play.expect_executions(executions);
            client.end(1).await?;
        }
    }
    Ok(())
}
