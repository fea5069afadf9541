//! `antiphon chat` through a pipe: what it prints, and its exit codes.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};

use serde_json::Value;
use support::{Ended, Home, Server, of, outline, text};

const AGENTS: &str = include_str!("fixtures/chat.yaml");
const ANYWHERE: [&str; 5] = ["serve", "--listen", "127.0.0.1:0", "--store", "memory"];

fn start(home: &Home, args: &[&str], input: &[u8]) -> Child {
    let mut command = home.command(&[&["chat"], args].concat());
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    // A program that refuses its options doesn't read.
    let _ = child.stdin.take().unwrap().write_all(input);
    child
}

fn chat(home: &Home, args: &[&str], input: &str) -> Ended {
    start(home, args, input.as_bytes())
        .wait_with_output()
        .unwrap()
        .into()
}

fn served() -> (Home, Server) {
    let home = Home::with(AGENTS);
    let server = home.serve(&ANYWHERE);
    (home, server)
}

#[test]
fn a_pipe_gets_the_answer_and_nothing_else() {
    let (home, server) = served();
    let ended = chat(&home, &[&server.url], "hi\n");
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(0), "You said: hi\n")
    );
    assert_eq!(ended.stderr, "");
    let markdown = chat(&home, &[&server.url, "--agent", "talk"], "markdown");
    assert!(
        markdown.stdout.starts_with("# Title\n\nSome **bold** text"),
        "{markdown:?}"
    );
    let host = server.url.strip_prefix("http://").unwrap();
    assert_eq!(chat(&home, &[host], "hi").code, Some(0), "without a scheme");
}

#[test]
fn any_ag_ui_url_is_used_as_it_is() {
    let (home, server) = served();
    for path in ["/agui", "/agents/talk"] {
        let ended = chat(&home, &[&format!("{}{path}", server.url)], "hi");
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(0), "You said: hi\n"),
            "{path}"
        );
    }
    chat(
        &home,
        &[&format!("{}/agui", server.url), "--agent", "talk"],
        "hi",
    )
    .expect(2, &["/agui lists no agents", "leave --agent out"]);
}

#[test]
fn a_token_or_a_thread_that_no_server_takes_is_wrong_usage() {
    let home = Home::new();
    let nobody = "http://127.0.0.1:9";
    for token in ["very\nsecret", "sécret", "", " "] {
        for command in ["chat", "check"] {
            let ended = home.run(&[command, nobody, "--token", token]);
            ended.expect(2, &["--token"]);
            assert!(!ended.stderr.contains("cret"), "{ended:?}");
        }
    }
    let mut command = home.command(&["chat", nobody]);
    let ended: Ended = command
        .env("ANTIPHON_TOKEN", "a\nb")
        .output()
        .unwrap()
        .into();
    ended.expect(2, &["ANTIPHON_TOKEN"]);
    for thread in ["", &"x".repeat(257)] {
        chat(&home, &[nobody, "--thread", thread], "hi").expect(2, &["--thread", "1 to 256 bytes"]);
    }
    chat(&home, &[nobody, "--thread", &"x".repeat(256)], "hi").expect(4, &["can't reach"]);
}

#[test]
fn json_is_one_event_in_a_line() {
    let (home, server) = served();
    let ended = chat(&home, &[&server.url, "--json"], "hi");
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let events: Vec<Value> = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let outline = outline(&events);
    assert_eq!(outline.first(), Some(&"RUN_STARTED"));
    assert_eq!(outline.last(), Some(&"RUN_FINISHED"));
    assert_eq!(text(&events), "You said: hi");
}

#[test]
fn a_model_cannot_write_escape_sequences() {
    let (home, server) = served();
    let plain = chat(&home, &[&server.url], "hostile");
    assert_eq!(plain.stdout, "a[2J]0;titleb31mcd\n");
    let json = chat(&home, &[&server.url, "--json"], "hostile").stdout;
    assert!(
        !json.contains(|char: char| char.is_control() && char != '\n'),
        "{json:?}"
    );
    let events: Vec<Value> = json
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        text(&events),
        "a\u{1b}[2J\u{1b}]0;title\u{7}b\u{9b}31mc\u{202e}d"
    );
}

#[test]
fn a_thread_is_gone_on_with() {
    let (home, server) = served();
    for _ in 0..2 {
        assert_eq!(
            chat(&home, &[&server.url, "--thread", "t1"], "hi").code,
            Some(0)
        );
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let messages: Value = runtime.block_on(async {
        server
            .get("/sessions/t1/messages")
            .await
            .json()
            .await
            .unwrap()
    });
    let roles: Vec<&str> = messages["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant"]);
}

#[test]
fn waiting_for_a_person_is_exit_code_3_and_says_how_to_go_on() {
    let (home, server) = served();
    let asked = [
        "waits for a person: Delete customer c-7?",
        "--agent asks --thread t1",
    ];
    chat(
        &home,
        &[&server.url, "--agent", "asks", "--thread", "t1"],
        "go",
    )
    .expect(3, &asked);
    let page = ["waits for the result of change_background"];
    chat(&home, &[&server.url, "--agent", "page"], "go").expect(3, &page);
    let json = chat(&home, &[&server.url, "--agent", "asks", "--json"], "go");
    assert_eq!(json.code, Some(3), "{json:?}");
    let events: Vec<Value> = json
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        of(&events, "RUN_FINISHED")[0]["outcome"]["type"],
        "interrupt"
    );
}

#[test]
fn a_failed_run_is_exit_code_1() {
    let (home, server) = served();
    let ended = chat(&home, &[&server.url, "--agent", "breaks"], "hi");
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(1), "well\n"),
        "{ended:?}"
    );
    assert!(
        ended.stderr.starts_with("error: the run failed with "),
        "{ended:?}"
    );
    let json = chat(&home, &[&server.url, "--agent", "breaks", "--json"], "hi");
    assert_eq!(json.code, Some(1));
    assert!(
        json.stdout.lines().last().unwrap().contains("RUN_ERROR"),
        "{json:?}"
    );
    chat(&home, &[&format!("{}/healthz", server.url)], "hi").expect(1, &["405"]);
}

#[test]
fn a_server_that_is_away_is_exit_code_4() {
    let home = Home::new();
    for args in [
        &["http://127.0.0.1:9"][..],
        &["http://127.0.0.1:9/agents/a", "--json"],
    ] {
        chat(&home, args, "hi").expect(4, &["can't reach http://127.0.0.1:9", "antiphon demo"]);
    }
}

#[test]
fn wrong_use_is_exit_code_2() {
    let (home, server) = served();
    let url = server.url.as_str();
    chat(&home, &["ftp://example.com"], "hi").expect(2, &["not an http or https URL"]);
    chat(&home, &["http://"], "hi").expect(2, &["not an http or https URL"]);
    chat(&home, &[url, "--agent", "tlak"], "hi").expect(
        2,
        &[
            "no agent \"tlak\" (did you mean \"talk\"?)",
            "it has talk, slow",
        ],
    );
    chat(&home, &[&format!("{url}/agents/no")], "hi").expect(2, &["no agent \"no\""]);
    chat(&home, &[url], " \n").expect(2, &["there is no message", "echo hi | antiphon chat"]);
    chat(&home, &[url, "--jsno"], "hi").expect(2, &["--jsno", "--json"]);
    chat(&home, &[url, "more"], "hi").expect(2, &["more"]);
    let ended: Ended = start(&home, &[url], b"\xff\xfe")
        .wait_with_output()
        .unwrap()
        .into();
    ended.expect(2, &["not UTF-8"]);
}

#[test]
fn a_token_opens_the_door_and_is_never_shown() {
    let home = Home::with(&format!(
        "auth: {{ tokens: [{{ token: secret-token, user: alice }}] }}\n{AGENTS}"
    ));
    let server = home.serve(&ANYWHERE);
    chat(&home, &[&server.url], "hi").expect(1, &["401", "--token or ANTIPHON_TOKEN"]);
    let wrong = chat(&home, &[&server.url, "--token", "wrong-token"], "hi");
    wrong.expect(1, &["401"]);
    assert!(!wrong.stderr.contains("wrong-token"));
    assert_eq!(
        chat(&home, &[&server.url, "--token", "secret-token"], "hi").code,
        Some(0)
    );
    let mut command = home.command(&["chat", &server.url]);
    let mut child = command
        .env("ANTIPHON_TOKEN", "secret-token")
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"hi").unwrap();
    let ended: Ended = child.wait_with_output().unwrap().into();
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(0), "You said: hi\n")
    );
    let mut help = home.command(&["chat", "--help"]);
    let help: Ended = help
        .env("ANTIPHON_TOKEN", "secret-token")
        .output()
        .unwrap()
        .into();
    assert!(!help.stdout.contains("secret-token"), "{help:?}");
}

#[test]
fn ctrl_c_stops_the_run_on_the_server_too() {
    let (home, server) = served();
    let args = [&server.url, "--agent", "slow", "--thread", "t1", "--json"];
    let mut child = start(&home, &args, b"count");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    while !lines
        .next()
        .unwrap()
        .unwrap()
        .contains("TEXT_MESSAGE_CONTENT")
    {}
    let pid = child.id().to_string();
    assert!(
        std::process::Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(child.wait().unwrap().code(), Some(130));
    // The run would go on without its reader; that its thread is free shows that it was stopped.
    let args = [&server.url, "--agent", "slow", "--thread", "t1"];
    let ended = chat(&home, &args, "short");
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(0), "done\n"),
        "{ended:?}"
    );
}

#[test]
fn a_reader_that_has_had_enough_ends_it_quietly() {
    let (home, server) = served();
    let mut child = start(&home, &[&server.url, "--agent", "slow"], b"count");
    let mut first = [0];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut first).unwrap();
    drop(stdout);
    let ended: Ended = child.wait_with_output().unwrap().into();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), ""));
}
