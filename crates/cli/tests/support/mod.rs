//! The built binary in a folder of its own, and runs against it.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder that is home and working folder of every command.
pub struct Home(TempDir);

impl Home {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn with(file: &str) -> Self {
        let home = Self::new();
        home.write("antiphon.yaml", file);
        home
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// A command with an environment of its own, so that no key of the caller matters.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_antiphon"));
        command
            .args(args)
            .current_dir(self.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, args: &[&str]) -> Ended {
        self.command(args).output().unwrap().into()
    }

    pub fn serve(&self, args: &[&str]) -> Server {
        Server::start(self.command(args))
    }
}

/// What a command left behind.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ended {
    /// The command ended with this code, printed nothing for programs, and said all of these.
    #[track_caller]
    pub fn expect(&self, code: i32, says: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        for word in says {
            assert!(
                self.stderr.contains(word),
                "{word:?} is not in {}",
                self.stderr
            );
        }
    }
}

/// A running server; it is killed when it is dropped.
pub struct Server {
    child: Child,
    stdout: BufReader<ChildStdout>,
    pub url: String,
}

impl Server {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let Some(url) = line.trim_end().strip_prefix("listening on ") else {
            let ended = child.wait_with_output().unwrap();
            panic!("{line:?}: {}", String::from_utf8_lossy(&ended.stderr));
        };
        let url = url.to_owned();
        Self { child, stdout, url }
    }

    /// Sends a signal by its name and waits for the end.
    pub fn signal(mut self, name: &str) -> Ended {
        self.send(name);
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        let mut stderr = String::new();
        self.child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut stderr)
            .unwrap();
        let code = self.child.wait().unwrap().code();
        Ended {
            code,
            stdout: rest,
            stderr,
        }
    }

    pub fn send(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill")
            .args([&format!("-{name}"), &pid])
            .status();
        assert!(sent.unwrap().success());
    }

    /// Runs an agent on a thread and gives back its events.
    pub async fn run(&self, agent: &str, input: Value) -> Vec<Value> {
        let path = format!("/agents/{agent}");
        let (status, body) = self.post(&path, &input).await;
        assert_eq!(status, 200, "{body}");
        events(&body)
    }

    pub async fn post(&self, path: &str, body: &Value) -> (u16, String) {
        let request = client().post(format!("{}{path}", self.url)).json(body);
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    pub async fn get(&self, path: &str) -> reqwest::Response {
        client()
            .get(format!("{}{path}", self.url))
            .send()
            .await
            .unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that has ended already needs no end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn client() -> reqwest::Client {
    antiphon::model::http::client(Duration::from_secs(5)).unwrap()
}

/// A request on a thread, with one user message where there is one.
pub fn input(thread: &str, run: &str, says: Option<&str>) -> Value {
    let message = |text: &str| json!({ "id": format!("m-{run}"), "role": "user", "content": text });
    let messages: Vec<Value> = says.map(message).into_iter().collect();
    json!({ "threadId": thread, "runId": run, "protocolVersion": "1.0", "messages": messages })
}

/// The events of a stream.
pub fn events(body: &str) -> Vec<Value> {
    let frames = body.split("\n\n").flat_map(|frame| frame.lines());
    let data = frames.filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

/// The types of events, runs of the same type once.
pub fn outline(events: &[Value]) -> Vec<&str> {
    let mut types: Vec<&str> = events.iter().map(|e| e["type"].as_str().unwrap()).collect();
    types.dedup();
    types
}

pub fn of<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events
        .iter()
        .filter(|event| event["type"] == kind)
        .collect()
}

/// All streamed text.
pub fn text(events: &[Value]) -> String {
    let deltas = of(events, "TEXT_MESSAGE_CONTENT");
    deltas
        .iter()
        .map(|event| event["delta"].as_str().unwrap())
        .collect()
}
