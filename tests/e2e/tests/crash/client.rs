//! A client that does what is asked of it, sends a request again when its answer was lost, opens
//! the thread and goes on.

use std::{collections::BTreeSet, time::Duration};

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
    told::Told,
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

/// A thread is usable so soon after a restart.
const SOON: Duration = Duration::from_secs(10);
/// What a private form is answered with.
pub(crate) const CANARY: &str = "CANARY-c4a5-crash";

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
pub(crate) struct Client {
    pub(crate) play: Play,
    told: Told,
    position: Position,
    /// Whether it approves.
    pub(crate) approves: bool,
    /// What it says about a call whose outcome is unknown.
    pub(crate) outcome: &'static str,
    pub(crate) deaths: usize,
    /// How often it was asked what became of a call.
    pub(crate) doubts: usize,
    /// A result that was acknowledged to whoever delivered it.
    delivered: Option<&'static str>,
}

/// The thing that every scenario calls.
pub(crate) fn tool(change: &Value) -> Value {
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
    pub(crate) async fn new(agent: Value, failpoint: &str) -> Step<Self> {
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
    pub(crate) async fn go(&mut self) -> Step {
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
    pub(crate) async fn end(mut self, effects: usize) -> Step {
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
