//! `init`, `check`, `completions` and the help texts, from outside.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use axum::routing::{get, post};
use serde_json::Value;
use support::{Ended, Home, input, of, text};

const ANYWHERE: [&str; 4] = ["--listen", "127.0.0.1:0", "--store", "memory"];
const FILES: [&str; 3] = [".env.example", "README.md", "antiphon.yaml"];

#[tokio::test]
async fn a_new_project_is_well_and_runs_at_once() {
    let home = Home::new();
    home.run(&["init", "my agents/one"])
        .expect(0, &["wrote antiphon.yaml", "antiphon serve"]);
    let folder = home.path().join("my agents/one");
    let mut names: Vec<String> = folder
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, FILES);
    let file = "my agents/one/antiphon.yaml";
    let doctor = home.run(&["doctor", file, "--listen", "127.0.0.1:0"]);
    assert_eq!(doctor.code, Some(0), "{doctor:?}");
    let server = home.serve(&[&["serve", file], &ANYWHERE[..]].concat());
    let events = server
        .run("assistant", input("t", "r1", Some("write a list")))
        .await;
    assert_eq!(
        text(&events),
        "The list is written. Say *order* to order it."
    );
    let states = of(&events, "STATE_DELTA");
    assert!(!states.is_empty(), "nothing was predicted");
    let events = server
        .run("assistant", input("t", "r2", Some("order")))
        .await;
    assert_eq!(
        of(&events, "RUN_FINISHED")[0]["outcome"]["interrupts"][0]["message"],
        "Order 3 things?"
    );
}

#[test]
fn the_real_model_of_a_new_project_only_waits_for_its_key() {
    let home = Home::new();
    home.run(&["init"]).expect(0, &["now: antiphon serve"]);
    let file = std::fs::read_to_string(home.path().join("antiphon.yaml")).unwrap();
    let (before, script) = file.split_once("    model:\n").unwrap();
    let (_, after) = script.split_once("    # A real model").unwrap();
    let (comment, rest) = after.split_once("\n\n").unwrap();
    let model: Vec<&str> = comment
        .lines()
        .skip(1)
        .map(|line| line.trim_start().strip_prefix("# ").unwrap())
        .collect();
    let model = model.join("\n    ");
    home.write("antiphon.yaml", &format!("{before}    {model}\n\n{rest}"));
    home.run(&["serve"]).expect(2, &["OPENAI_API_KEY"]);
    let example = std::fs::read_to_string(home.path().join(".env.example")).unwrap();
    home.write(".env", &example);
    let says = "agents.assistant.model.api_key: the variable OPENAI_API_KEY is empty";
    home.run(&["serve"]).expect(2, &[says]);
    let doctor = home.run(&["doctor", "--listen", "127.0.0.1:0"]);
    assert_eq!(doctor.code, Some(2), "{doctor:?}");
    assert!(doctor.stdout.contains(says), "{doctor:?}");
    home.write(
        ".env",
        &example.replace("OPENAI_API_KEY=", "OPENAI_API_KEY=k"),
    );
    let server = home.serve(&[&["serve"], &ANYWHERE[..]].concat());
    assert_eq!(server.signal("TERM").code, Some(0));
}

#[test]
fn a_project_never_overwrites_anything() {
    for name in FILES {
        let home = Home::new();
        home.write(name, "mine");
        home.run(&["init"])
            .expect(1, &[name, "is there already", "never overwrites"]);
        assert_eq!(
            std::fs::read_to_string(home.path().join(name)).unwrap(),
            "mine"
        );
        assert_eq!(
            home.path().read_dir().unwrap().count(),
            1,
            "something was written"
        );
    }
    let home = Home::new();
    home.write("file", "mine");
    home.run(&["init", "file"])
        .expect(1, &["file", "choose another folder"]);
    home.run(&["init", "a", "b"]).expect(2, &["'b'"]);
}

#[test]
fn a_good_server_passes_the_check_in_every_format() {
    let home = Home::with(
        "agents: { one: { model: { provider: script, script: { pace: 0ms, turns: [{ say: hi }] } } } }\n",
    );
    let server = home.serve(&[&["serve"], &ANYWHERE[..]].concat());
    let text = home.run(&["check", &server.url]);
    assert_eq!((text.code, text.stderr.as_str()), (Some(0), ""), "{text:?}");
    assert!(
        text.stdout.contains(" 0 broken that must be kept"),
        "{text:?}"
    );
    let json = home.run(&["check", &server.url, "--agent", "one", "--format", "json"]);
    let report: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(report["url"], format!("{}/agents/one", server.url));
    let junit = home.run(&["check", &server.url, "--format", "junit"]);
    assert_eq!(junit.code, Some(0));
    assert!(
        junit.stdout.contains("<testsuites>") && junit.stdout.contains("failures=\"0\""),
        "{junit:?}"
    );
}

/// A server whose only agent sends events that are none.
async fn broken() -> String {
    let answer = || async {
        (
            [("content-type", "text/event-stream")],
            "data: {\"type\":\"RUN_FINISHED\"}\n\n",
        )
    };
    let page = || async { "a page" };
    let app = axum::Router::new()
        .route("/agent", post(answer))
        .route("/page", get(page).post(page));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    format!("http://{address}")
}

async fn run(args: Vec<String>) -> Ended {
    let run = move || Home::new().run(&args.iter().map(String::as_str).collect::<Vec<_>>());
    tokio::task::spawn_blocking(run).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_server_fails_the_check_with_the_rules_that_it_breaks() {
    let url = broken().await;
    let check = |path: &str, format: &str| {
        run(["check", &format!("{url}{path}"), "--format", format]
            .map(str::to_owned)
            .to_vec())
    };
    let text = check("/agent", "text").await;
    assert_eq!((text.code, text.stderr.as_str()), (Some(1), ""), "{text:?}");
    assert!(text.stdout.contains("must "), "{text:?}");
    let junit = check("/agent", "junit").await;
    assert_eq!(junit.code, Some(1));
    assert!(junit.stdout.contains("<failure "), "{junit:?}");
}

#[test]
fn there_may_be_nothing_to_check() {
    let home = Home::new();
    home.run(&["check", "http://127.0.0.1:9"])
        .expect(4, &["can't reach http://127.0.0.1:9"]);
    home.run(&["check"]).expect(2, &["<URL>"]);
    home.run(&["check", "mailto:x"])
        .expect(2, &["not an http or https URL"]);
    home.run(&["check", "http://127.0.0.1:9", "--format", "xml"])
        .expect(2, &["xml", "text, json, junit"]);
    home.write("antiphon.yaml", "auth: { tokens: [{ token: secret-token, user: a }] }\nagents: { one: { model: { provider: script, script: { pace: 0ms, turns: [{ say: hi }] } } } }\n");
    let server = home.serve(&[&["serve"], &ANYWHERE[..]].concat());
    home.run(&["check", &server.url])
        .expect(1, &["401", "--token"]);
    let ended = home.run(&["check", &server.url, "--token", "secret-token"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[test]
fn shells_can_complete_commands() {
    let home = Home::new();
    for (shell, part) in [
        ("bash", "complete -F _antiphon"),
        ("zsh", "#compdef antiphon"),
        ("fish", "complete -c antiphon"),
    ] {
        let ended = home.run(&["completions", shell]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(
            ended.stdout.contains(part) && ended.stdout.contains("doctor"),
            "{shell}"
        );
    }
    let script = home.run(&["completions", "bash"]).stdout;
    home.write("antiphon.bash", &script);
    let syntax = std::process::Command::new("bash")
        .arg("-n")
        .arg(home.path().join("antiphon.bash"))
        .status();
    assert!(syntax.unwrap().success());
    home.run(&["completions", "tcsh"])
        .expect(2, &["tcsh", "bash"]);
    home.run(&["completions"]).expect(2, &["<SHELL>"]);
}

#[test]
fn the_help_of_every_command_has_examples() {
    let home = Home::new();
    let help = |args: &[&str]| {
        let ended = home.run(args);
        assert_eq!(
            (ended.code, ended.stderr.as_str()),
            (Some(0), ""),
            "{ended:?}"
        );
        assert!(ended.stdout.contains("Examples:"), "{ended:?}");
        ended.stdout
    };
    insta::assert_snapshot!("help", help(&["--help"]));
    for command in [
        "serve",
        "demo",
        "chat",
        "init",
        "check",
        "doctor",
        "schema",
        "completions",
    ] {
        insta::assert_snapshot!(format!("help_{command}"), help(&[command, "--help"]));
    }
    home.run(&["chatt"]).expect(2, &["chatt", "chat"]);
}
