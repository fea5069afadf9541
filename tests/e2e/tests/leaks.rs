//! What is private is in no stream, file, log, error, metric or model request, in no disguise; and
//! keys, tokens and prompts are in no log.

use std::time::Duration;

use antiphon_e2e::{
    binary::{Home, Store},
    http::{Answer, Request},
    json::text as member,
    play::{Play, Setting, Step, Stop},
    provider::{
        Gate, Reply, Tool, Write,
        chunks::{Call, calls, text},
    },
    run::Run,
    secret::Secret,
};
use serde_json::{Value, json};

/// Has quotes for JSON and signs for URLs, so that each disguise differs.
const VALUE: &str = "CANARY-\"q7\"/b81c+zeroize";
/// What a person types after the answer was taken.
const LATER: &str = "SECOND-\"w9\"/c42d+zeroize";
/// A bound for what must happen at all.
const AT_ALL: Duration = Duration::from_secs(10);

/// Everything that came out of the server, named.
struct Sinks {
    bytes: Vec<(String, Vec<u8>)>,
}

impl Sinks {
    fn add(&mut self, name: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.bytes.push((name.into(), bytes.into()));
    }

    fn add_run(&mut self, name: &str, run: &Run) {
        self.add(name, run.body.clone());
    }

    /// What the model was sent, with its headers.
    fn add_model(&mut self, play: &Play) {
        for request in play.stage.provider.requests() {
            let name = format!("model request {}", request.number);
            let headers = format!("{} {:?}", request.path, request.headers);
            self.add(name.clone(), request.raw.to_vec());
            self.add(name, headers);
        }
    }

    /// Notes every place where a secret is.
    fn judge(&self, play: &mut Play, secret: &Secret) {
        for (name, bytes) in &self.bytes {
            let forms = secret.found_in(bytes);
            play.check(forms.is_empty(), format!("{name} holds it {forms:?}"));
        }
    }
}

/// Notes what files of the server hold a secret.
fn judge_files(play: &mut Play, secret: &Secret) -> Step {
    let found = secret.found_in_files(play.stage.home.path())?;
    play.check(found.is_empty(), format!("files: {found:?}"));
    Ok(())
}

fn top() -> Value {
    json!({"auth": {"tokens": [
        {"token": "alice-token-4711", "user": "alice"},
        {"token": "bob-token-4712", "user": "bob"},
    ]}})
}

fn tracing(top: Value) -> Setting {
    Setting {
        store: Store::Sqlite,
        top,
        env: vec![("RUST_LOG".to_owned(), "trace".to_owned())],
        ..Setting::default()
    }
}

fn bearer(token: &str) -> (String, String) {
    ("Authorization".to_owned(), format!("Bearer {token}"))
}

// Private input ----------------------------------------------------------------------------

/// A thread that waits for a token; the model asks for it whenever it hears "log in".
async fn asked() -> Step<(Play, Sinks, String)> {
    let form = json!({"type": "object", "additionalProperties": false, "required": ["token"],
        "properties": {"token": {"type": "string", "pattern": "^(CANARY|SECOND)", "minLength": 8}}});
    let agent = json!({"on_disconnect": "detach", "tools": [
        {"name": "log_in", "kind": "private_input", "responseSchema": form, "model_sees": "Logged in."},
    ]});
    let mut play = Play::set(agent, tracing(top())).await?;
    play.headers = vec![bearer("alice-token-4711")];
    play.executions_are_streamed = false;
    play.stage.provider.answer(|request| {
        Reply::stream(if request.ends_with_result() {
            text("All set.")
        } else {
            calls(&[Call::new(
                &format!("p{}", request.number),
                "log_in",
                &json!({}),
            )])
        })
    });
    let body = play.body(&json!({}));
    let run = play.post(&body).await?;
    let open = run.interrupts().first();
    let open = open.ok_or_else(|| Stop::new(format!("no question: {}", run.ending())))?;
    let id = member(open, "id").to_owned();
    let mut sinks = Sinks { bytes: Vec::new() };
    sinks.add_run("the stream that asks", &run);
    Ok((play, sinks, id))
}

/// A request that brings a private answer and nothing else.
fn answer(play: &Play, id: &str, payload: &Value) -> Value {
    let entry = json!({"interruptId": id, "status": "resolved", "payload": payload});
    play.body(&json!({"messages": [], "state": null, "resume": [entry]}))
}

/// Bodies that bring the value in a way that must be refused.
fn wrong_bodies(play: &Play, id: &str) -> Vec<(&'static str, Value)> {
    let good = json!({"token": VALUE});
    let mut with_messages = answer(play, id, &good);
    with_messages["messages"] = json!([{"id": "m", "role": "user", "content": VALUE}]);
    let mut with_state = answer(play, id, &good);
    with_state["state"] = json!({"token": VALUE});
    let mut twice = answer(play, id, &good);
    twice["resume"] = json!([twice["resume"][0], twice["resume"][0]]);
    let mut bad_status = answer(play, id, &good);
    bad_status["resume"][0]["status"] = json!(VALUE);
    let mut other_thread = answer(play, id, &good);
    other_thread["threadId"] = json!("elsewhere");
    vec![
        ("with messages", with_messages),
        ("with state", with_state),
        ("the same entry twice", twice),
        ("a status that is none", bad_status),
        ("another thread", other_thread),
        ("an unknown id", answer(play, "client_tool_unknown", &good)),
        ("the value as the id", answer(play, VALUE, &good)),
        ("a list", answer(play, id, &json!({"token": [VALUE]}))),
        (
            "the pattern",
            answer(play, id, &json!({"token": format!("x{VALUE}")})),
        ),
        (
            "another member",
            answer(play, id, &json!({"token": VALUE, "more": VALUE})),
        ),
        (
            "a member of that name",
            answer(play, id, &json!({ VALUE: 1 })),
        ),
        ("a bare text", answer(play, id, &json!(VALUE))),
        (
            "JSON as text",
            answer(play, id, &json!(json!({"tokens": VALUE}).to_string())),
        ),
    ]
}

/// Requests to other routes, and requests that are none, with the value in them.
fn wrong_requests(play: &Play, id: &str) -> Vec<(&'static str, Request)> {
    let good = answer(play, id, &json!({"token": VALUE}));
    let cut: String = good.to_string().chars().rev().skip(3).collect();
    let cut: String = cut.chars().rev().collect();
    let deep = format!("{}{}", "[".repeat(200), json!(VALUE));
    let post = |path: &str, body: Value| Request::post(path, &body);
    vec![
        ("half a body", play.request(&good).body(cut)),
        ("too deep", play.request(&good).body(deep)),
        (
            "no JSON type",
            play.request(&good).header("Content-Type", "text/plain"),
        ),
        ("another user", {
            let (name, value) = bearer("bob-token-4712");
            play.request(&good).header(&name, &value)
        }),
        ("nobody", play.request(&good).without("Authorization")),
        (
            "no agent",
            post(&format!("/agents/{}", "nobody"), good.clone()),
        ),
        (
            "the client tool route, unfit",
            post(
                &format!("/client-tools/{id}"),
                json!({"output": {"token": [VALUE]}}),
            ),
        ),
        (
            "the client tool route, unknown",
            post("/client-tools/unknown", json!({"output": {"token": VALUE}})),
        ),
        (
            "the client tool route, another member",
            post(
                &format!("/client-tools/{id}"),
                json!({"output": 1, "token": VALUE}),
            ),
        ),
        (
            "the approval route",
            post(
                &format!("/approvals/{id}"),
                json!({"decision": VALUE, "reason": VALUE}),
            ),
        ),
    ]
}

async fn all_wrong(play: &mut Play, sinks: &mut Sinks, id: &str) -> Step {
    for (what, body) in wrong_bodies(play, id) {
        let run = play.start(&body).await?;
        let run = play.finish_aside(run).await;
        play.check(run.is_refused(), format!("{what}: {}", run.ending()));
        sinks.add_run(what, &run);
    }
    for (what, request) in wrong_requests(play, id) {
        // A request that says who asks keeps it.
        let is_own = !["another user", "nobody"].contains(&what);
        let answer = if is_own {
            play.fetch(request).await?
        } else {
            play.stage.server.fetch(&request).await?
        };
        let refused = (400..500).contains(&answer.status);
        play.check(
            refused,
            format!("{what}: HTTP {} {}", answer.status, answer.text()),
        );
        sinks.add(what, answer.body.to_vec());
    }
    play.expect_executions(0);
    Ok(())
}

/// Gives the value while a second reader watches; the handler repeats it in what it answers.
async fn given(play: &mut Play, sinks: &mut Sinks, id: &str) -> Step {
    let gate = Gate::new();
    let echo = Tool::returns(json!({"echo": VALUE})).after(Write::Gate(gate.clone()));
    play.stage.provider.tool("log_in", echo);
    let body = answer(play, id, &json!({"token": VALUE}));
    let mut run = play.start(&body).await?;
    run.base.clone_from(&play.held);
    play.stage
        .provider
        .until(AT_ALL, "the delivery", |log| {
            log.executions.first().map(|_| ())
        })
        .await?;
    let mut reader = play.follow(&run, None).await?;
    reader.read_to("MESSAGES_SNAPSHOT").await?;
    gate.open();
    reader.read().await;
    let run = play.finish(run).await;
    play.expect_success(&run, "the answer", Some("All set."));
    sinks.add_run("the stream of the answer", &run);
    sinks.add_run("the second reader", &reader);
    let mut late = play.follow(&run, None).await?;
    late.read().await;
    sinks.add_run("the reader that came later", &late);
    let executions = play.stage.provider.executions();
    let delivered =
        executions.len() == 1 && executions.iter().all(|e| e.args == json!({"token": VALUE}));
    play.check(delivered, format!("delivered: {executions:?}"));
    for (what, value) in [("again", VALUE), ("another value later", LATER)] {
        let body = answer(play, id, &json!({"token": value}));
        let run = play.post_again(&body).await?;
        sinks.add_run(what, &run);
    }
    play.expect_executions(1);
    Ok(())
}

/// What every route tells about the thread.
async fn shown(play: &mut Play, sinks: &mut Sinks) -> Step {
    let opened = play.open().await?;
    sinks.add_run("the opened thread", &opened);
    let thread = play.thread.clone();
    for path in [
        "/sessions".to_owned(),
        format!("/sessions/{thread}"),
        format!("/sessions/{thread}/messages"),
        format!("/sessions/{thread}/interactions"),
        "/copilotkit/threads".to_owned(),
        format!("/copilotkit/threads/{thread}/messages"),
        format!("/copilotkit/threads/{thread}/state"),
        format!("/copilotkit/threads/{thread}/events"),
        "/agents".to_owned(),
        "/metrics".to_owned(),
        "/readyz".to_owned(),
        "/openapi.json".to_owned(),
    ] {
        let answer: Answer = play.get(&path).await?;
        play.check(
            answer.status < 500,
            format!("GET {path}: HTTP {}", answer.status),
        );
        sinks.add(format!("GET {path}"), answer.body.to_vec());
    }
    Ok(())
}

#[tokio::test]
async fn v1_a_private_value_is_nowhere() -> Step {
    let (mut play, mut sinks, id) = asked().await?;
    all_wrong(&mut play, &mut sinks, &id).await?;
    given(&mut play, &mut sinks, &id).await?;
    shown(&mut play, &mut sinks).await?;
    let secrets = [Secret::new(VALUE), Secret::new(LATER)];
    for secret in &secrets {
        judge_files(&mut play, secret)?;
    }
    let log = play.stage.server.stderr();
    play.check(log.contains("TRACE"), "the log is not at the level trace");
    sinks.add("the log", log);
    play.stage.kill_and_restart().await?;
    shown(&mut play, &mut sinks).await?;
    play.expect_executions(1);
    sinks.add_model(&play);
    sinks.add("the log after the restart", play.stage.server.stderr());
    for secret in &secrets {
        judge_files(&mut play, secret)?;
        sinks.judge(&mut play, secret);
    }
    play.end().await
}

#[tokio::test]
async fn v3_a_handler_that_fails_with_the_value_tells_nobody() -> Step {
    let (mut play, mut sinks, id) = asked().await?;
    let failing = Tool {
        wait: None,
        answer: Err(format!("cannot log in with {VALUE}")),
    };
    play.stage.provider.tool("log_in", failing);
    let body = answer(&play, &id, &json!({"token": VALUE}));
    let mut run = play.start(&body).await?;
    run.base.clone_from(&play.held);
    let run = play.finish(run).await;
    play.expect_success(&run, "the run goes on", Some("All set."));
    sinks.add_run("the stream of the answer", &run);
    shown(&mut play, &mut sinks).await?;
    sinks.add_model(&play);
    sinks.add("the log", play.stage.server.stderr());
    let secret = Secret::new(VALUE);
    sinks.judge(&mut play, &secret);
    judge_files(&mut play, &secret)?;
    play.expect_executions(1);
    play.end().await
}

#[tokio::test]
async fn v1_the_client_tool_route_takes_a_private_value_and_tells_nobody() -> Step {
    let (mut play, mut sinks, id) = asked().await?;
    let request = Request::post(
        &format!("/client-tools/{id}"),
        &json!({"output": {"token": VALUE}}),
    );
    let receipt = play.fetch(request.clone()).await?;
    play.check(
        receipt.status == 200,
        format!("the answer: {}", receipt.text()),
    );
    sinks.add("the receipt", receipt.body.to_vec());
    let again = play.fetch(request).await?;
    sinks.add("the receipt again", again.body.to_vec());
    play.expect_executions(1);
    shown(&mut play, &mut sinks).await?;
    sinks.add_model(&play);
    sinks.add("the log", play.stage.server.stderr());
    let secret = Secret::new(VALUE);
    sinks.judge(&mut play, &secret);
    judge_files(&mut play, &secret)?;
    play.end().await
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn v1_a_crash_of_the_server_writes_no_core() -> Step {
    let agent = json!({"one": {"model": {"provider": "script", "name": "any"}}});
    let home = Home::new(&json!({ "agents": agent }).to_string())?.before("ulimit -c unlimited");
    let mut server = home.serve().await?;
    let pid = server.pid().ok_or_else(|| Stop::new("no process"))?;
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits"))?;
    let core = limits
        .lines()
        .find(|line| line.starts_with("Max core file size"));
    let words: Vec<_> = core.unwrap_or_default().split_whitespace().collect();
    let soft = words.get(4).copied();
    server.stop().await?;
    if soft == Some("0") {
        Ok(())
    } else {
        Err(Stop::new(format!("the limit is {core:?}")))
    }
}

// Keys, tokens, prompts --------------------------------------------------------------------

const KEY: &str = "sk-KEY-5d1f+provider/x";
const TOKEN: &str = "tok-USER-8e2a-carol-1234";
const WRONG: &str = "tok-WRONG-9f3b-mallory-55";
const PROMPT: &str = "PROMPT-a1b2-my-diary-entry";
const ARGUMENT: &str = "ARGUMENT-c3d4-of-the-call";
const REPLY: &str = "REPLY-e5f6-of-the-model-x";

/// A run with a call, its approval, and a run that the provider refuses with the key in its words.
async fn spoken() -> Step<(Play, Sinks)> {
    let tool = json!({"name": "pay", "returns": "paid", "approval": true});
    let agent = json!({"model": {"api_key": KEY}, "tools": [tool]});
    let top = json!({"auth": {"tokens": [{"token": TOKEN, "user": "carol"}]}});
    let mut play = Play::set(agent, tracing(top)).await?;
    play.headers = vec![bearer(TOKEN)];
    play.stage.provider.answer(|request| match request.number {
        1 => Reply::stream(calls(&[Call::new("c1", "pay", &json!({"to": ARGUMENT}))])),
        2 => Reply::stream(text(REPLY)),
        _ => {
            let message = format!("wrong key {:?}", request.headers);
            let body = json!({"error": {"message": message, "code": "invalid_api_key"}});
            Reply::body(401, "application/json", body.to_string())
        }
    });
    let body = play.body(&json!({"messages": [{"id": "u1", "role": "user", "content": PROMPT}]}));
    play.post(&body).await?;
    let entry = play.entry_at(0, &json!({"approved": true}))?;
    let run = play.resume(&[entry]).await?;
    play.expect_success(&run, "the answer", Some(REPLY));
    let failed = play.say("and again").await?;
    play.check(failed.terminal() == Some("RUN_ERROR"), failed.ending());
    let mut sinks = Sinks { bytes: Vec::new() };
    sinks.add_run("the run that the provider refused", &failed);
    Ok((play, sinks))
}

#[tokio::test]
async fn v4_keys_tokens_and_prompts_are_in_no_log() -> Step {
    let (mut play, mut sinks) = spoken().await?;
    let is_told = play.stage.provider.requests();
    let is_told = is_told
        .iter()
        .all(|r| format!("{:?}", r.headers).contains(KEY));
    play.check(is_told, "the model was not told its key");
    let (name, value) = bearer(WRONG);
    let refused = Request::get("/sessions").header(&name, &value);
    let refused = play.stage.server.fetch(&refused).await?;
    play.check(refused.status == 401, format!("HTTP {}", refused.status));
    sinks.add("the refusal of a token", refused.body.to_vec());
    let open = [
        "/metrics",
        "/readyz",
        "/agents",
        "/agents/agent",
        "/openapi.json",
    ];
    for path in open {
        let answer = play.get(path).await?;
        sinks.add(format!("GET {path}"), answer.body.to_vec());
    }
    let log = play.stage.server.stderr();
    play.check(log.contains("TRACE"), "the log is not at the level trace");
    sinks.add("the log", log);
    for secret in [KEY, TOKEN, WRONG, PROMPT, ARGUMENT, REPLY] {
        sinks.judge(&mut play, &Secret::new(secret));
    }
    let mut asked = Sinks { bytes: Vec::new() };
    asked.add_model(&play);
    for secret in [TOKEN, WRONG] {
        asked.judge(&mut play, &Secret::new(secret));
    }
    play.end().await
}
