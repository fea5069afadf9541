//! Commands from outside: exit codes, sentences, signals, and what goes to standard output.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::net::TcpListener;

use serde_json::Value;
use support::{Home, input};

const GOOD: &str = "agents: { one: { model: { provider: script } } }\n";
const ANYWHERE: [&str; 4] = ["--listen", "127.0.0.1:0", "--store", "memory"];

fn serve(home: &Home, more: &[&str]) -> support::Ended {
    home.run(&[&["serve"], more].concat())
}

#[test]
fn wrong_usage_is_exit_code_2() {
    let home = Home::with(GOOD);
    serve(&home, &["--no-such"]).expect(2, &["--no-such"]);
    serve(&home, &["--drain", "soon"]).expect(2, &["--drain", "expected a duration"]);
    serve(&home, &["--store", "mysql:x"])
        .expect(2, &["--store mysql:x: expected memory or sqlite:PATH"]);
    serve(&home, &["--store", "postgres://x"]).expect(2, &["not supported yet by this build"]);
    serve(&home, &["--store", "memory", "--listen", "nowhere"])
        .expect(2, &["--listen: the port is missing"]);
    home.run(&["demo", "--model", "anthropic/x"])
        .expect(2, &["anthropic", "openai/NAME or script"]);
    home.run(&["demo", "--model", "openai/x"])
        .expect(2, &["OPENAI_API_KEY is not set"]);
    assert_eq!(home.run(&[]).code, Some(2));
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_place() {
    serve(&Home::new(), &[]).expect(
        2,
        &["antiphon.yaml: there is no such file", "antiphon demo"],
    );
    let home = Home::with("agents:\n  one:\n    modell: { provider: script }\n");
    serve(&home, &[]).expect(
        2,
        &["error: antiphon.yaml:3:5: agents.one: unknown key \"modell\" (did you mean \"model\"?)"],
    );
    home.write(
        "antiphon.yaml",
        "store: mysql:x\nagents: { one: { model: { provider: script } } }\n",
    );
    serve(&home, &[]).expect(
        2,
        &["antiphon.yaml:1:1: store: expected memory or sqlite:PATH"],
    );
    home.write(
        "antiphon.yaml",
        &GOOD.replace("script }", "script, name: '${NO_SUCH}' }"),
    );
    serve(&home, &[]).expect(
        2,
        &[
            "antiphon.yaml:1:",
            "agents.one.model.name: the variable NO_SUCH is not set",
        ],
    );
    home.write(".env", "A=1\nno assignment\n");
    serve(&home, &[]).expect(2, &[".env:2: expected NAME=value"]);
    assert!(
        !home.path().join("antiphon.db").exists(),
        "a wrong file made a store"
    );
}

#[test]
fn variables_come_from_the_environment_and_from_dot_env_beside_the_file() {
    let home = Home::new();
    std::fs::create_dir(home.path().join("sub")).unwrap();
    home.write(
        "sub/a.yaml",
        &GOOD.replace("script }", "script, name: '${MODEL_NAME}' }"),
    );
    let args = [&["serve", "sub/a.yaml"], &ANYWHERE[..]].concat();
    home.run(&args).expect(2, &["MODEL_NAME"]);
    home.write("sub/.env", "MODEL_NAME=x\n");
    assert_eq!(home.serve(&args).signal("TERM").code, Some(0));
}

#[test]
fn a_server_says_one_line_and_goes_when_it_is_told() {
    let home = Home::with(GOOD);
    let args = [&["serve"], &ANYWHERE[..]].concat();
    for (signal, code) in [("TERM", 0), ("INT", 130)] {
        let server = home.serve(&args);
        assert!(
            server.url.starts_with("http://127.0.0.1:"),
            "{}",
            server.url
        );
        let ended = server.signal(signal);
        assert_eq!(ended.code, Some(code), "{ended:?}");
        assert_eq!(ended.stdout, "", "more than one line");
    }
}

#[tokio::test]
async fn a_second_signal_ends_a_drain_at_once() {
    let slow = "agents: { one: { on_disconnect: detach, model: { provider: script, script: { pace: 2s, turns: [{ say: a long text that takes its time }] } } } }\n";
    let home = Home::with(slow);
    let server = home.serve(&[&["serve", "--drain", "60s"], &ANYWHERE[..]].concat());
    let request = support::client()
        .post(format!("{}/agents/one", server.url))
        .json(&input("t", "r", Some("hi")));
    let _stream = request.send().await.unwrap();
    server.send("TERM");
    std::thread::sleep(std::time::Duration::from_millis(300));
    let began = std::time::Instant::now();
    let ended = server.signal("TERM");
    assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
    assert!(
        ended.stderr.contains("stopped before all runs had ended"),
        "{ended:?}"
    );
}

#[test]
fn a_taken_port_is_said_with_a_way_out() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let home = Home::with(GOOD);
    let port = format!(
        "port {} is taken by another program",
        taken.local_addr().unwrap().port()
    );
    serve(&home, &["--listen", &address, "--store", "memory"])
        .expect(1, &[&port, "choose one with --listen"]);
}

#[test]
fn an_address_for_others_needs_authentication() {
    let home = Home::with(GOOD);
    serve(&home, &["--listen", "0.0.0.0:0", "--store", "memory"])
        .expect(2, &["0.0.0.0:0", "add `auth`"]);
    let auth = "auth: { tokens: [{ token: secret-token, user: alice }] }\n";
    home.write("antiphon.yaml", &format!("{auth}{GOOD}"));
    let server = home.serve(&["serve", "--listen", "0.0.0.0:0", "--store", "memory"]);
    assert_eq!(server.signal("TERM").code, Some(0));
}

#[test]
fn an_address_of_the_file_is_wrong_at_its_place() {
    let home = Home::new();
    let refused = |listen: &str, says: &str| {
        home.write("antiphon.yaml", &format!("listen: {listen}\n{GOOD}"));
        let says = format!("antiphon.yaml:1:1: listen: {says}");
        home.run(&["serve", "--store", "memory"])
            .expect(2, &[&says]);
        let doctor = home.run(&["doctor"]);
        assert_eq!(doctor.code, Some(2), "{doctor:?}");
        assert!(doctor.stdout.contains(&says), "{doctor:?}");
    };
    refused("foo", "the port is missing; write it as HOST:PORT");
    refused("0.0.0.0:0", "0.0.0.0:0 can be reached from other machines");
    refused(
        "no.such.host.invalid:80",
        "the host of no.such.host.invalid:80 is not known; write it as",
    );
    home.write(".env", "PLACE=0.0.0.0:0\n");
    refused(
        "${PLACE}",
        "the address of the variable can be reached from other machines",
    );
    for (listen, says) in [
        ("foo", "the port is missing"),
        ("0.0.0.0:0", "from other machines"),
    ] {
        let args = ["serve", "--store", "memory", "--listen", listen];
        home.write("antiphon.yaml", GOOD);
        home.run(&args).expect(2, &["--listen: ", says]);
    }
}

#[tokio::test]
async fn tokens_of_the_file_open_the_door() {
    let auth = "auth: { tokens: [{ token: '${TOKEN}', user: alice }] }\n";
    let home = Home::with(&format!("{auth}{GOOD}"));
    home.write(".env", "TOKEN=secret-token\n");
    let server = home.serve(&[&["serve"], &ANYWHERE[..]].concat());
    let run = input("t", "r", Some("hi"));
    assert_eq!(server.post("/agents/one", &run).await.0, 401);
    let request = support::client()
        .post(format!("{}/agents/one", server.url))
        .json(&run);
    let answer = request.bearer_auth("secret-token").send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert!(answer.text().await.unwrap().contains("RUN_FINISHED"));
    assert!(!server.signal("TERM").stderr.contains("secret-token"));
}

#[tokio::test]
async fn threads_are_kept_beside_the_file_unless_it_says_otherwise() {
    let home = Home::with(GOOD);
    let args = ["serve", "--listen", "127.0.0.1:0"];
    let server = home.serve(&args);
    server
        .run("one", input("t", "r", Some("remember me")))
        .await;
    assert_eq!(server.signal("TERM").code, Some(0));
    assert!(home.path().join("antiphon.db").exists());
    let server = home.serve(&args);
    let events = server.run("one", input("t", "r2", None)).await;
    let snapshot = support::of(&events, "MESSAGES_SNAPSHOT")[0];
    assert_eq!(snapshot["messages"][0]["content"], "remember me");
}

#[test]
fn the_log_is_json_where_that_is_asked_for() {
    let home = Home::with(GOOD);
    let server = home.serve(&[&["serve", "--log", "json"], &ANYWHERE[..]].concat());
    let ended = server.signal("TERM");
    let lines: Vec<Value> = ended
        .stderr
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(
        lines
            .iter()
            .any(|line| line["fields"]["message"] == "serving"),
        "{lines:?}"
    );
    let mut quiet = home.command(&[&["serve"], &ANYWHERE[..]].concat());
    quiet.env("RUST_LOG", "error");
    let ended = support::Server::start(quiet).signal("TERM");
    assert_eq!(ended.stderr, "");
}

#[test]
fn the_schema_agrees_with_the_reader() {
    let home = Home::new();
    let ended = home.run(&["schema"]);
    assert_eq!(ended.code, Some(0));
    let schema: Value = serde_json::from_str(&ended.stdout).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let value = |yaml: &str| serde_saphyr::from_str::<Value>(yaml).unwrap();
    for good in [
        GOOD,
        include_str!("fixtures/every-key.yaml"),
        include_str!("../src/demo/agents.yaml"),
    ] {
        let errors: Vec<String> = schema
            .iter_errors(&value(good))
            .map(|e| format!("{}: {e}", e.instance_path()))
            .collect();
        assert_eq!(errors, Vec::<String>::new());
    }
    let tool = |tool: &str| GOOD.replace("} } }", &format!("}}, tools: [{tool}] }} }}"));
    assert!(schema.is_valid(&value(&tool("{ name: t, returns: null }"))));
    for bad in [
        "{}".to_owned(),
        "agents: {}".to_owned(),
        GOOD.replace("model", "modell"),
        GOOD.replace("script", "scrypt"),
        format!("heartbeat: 10\n{GOOD}"),
        format!("heartbeat: soon\n{GOOD}"),
        format!("limits: {{ body: lots }}\n{GOOD}"),
        tool("{ returns: 1 }"),
        tool("{ name: t }"),
        tool("{ name: t, returns: 1, fails: x }"),
        tool("{ name: t, http: { method: GET } }"),
        tool("{ name: t, returns: 1, approval: sometimes }"),
        tool("{ name: t, private_input: { schema: {} } }"),
    ] {
        assert!(!schema.is_valid(&value(&bad)), "taken: {bad}");
    }
}

#[test]
fn doctor_reports_each_finding_with_what_to_do() {
    let home = Home::with(GOOD);
    let free = ["doctor", "--listen", "127.0.0.1:0"];
    let ended = home.run(&free);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.stdout.contains("Everything is well."),
        "{}",
        ended.stdout
    );
    assert!(
        !home.path().join("antiphon.db").exists(),
        "doctor made a store"
    );

    home.write(
        "antiphon.yaml",
        "agents: { one: { model: { provider: openai, name: m } }, two: {} }\n",
    );
    let ended = home.run(&free);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stdout.contains(
            "wrong file      antiphon.yaml:1:58: agents.two: the key \"model\" is missing"
        ),
        "{}",
        ended.stdout
    );

    let away = "agents: { one: { model: { provider: openai, name: m, base_url: 'http://127.0.0.1:9/v1' } } }\n";
    home.write("antiphon.yaml", away);
    let ended = home.run(&free);
    assert_eq!(ended.code, Some(4), "{ended:?}");
    assert!(
        ended.stdout.contains("can't be reached; check the network"),
        "{}",
        ended.stdout
    );

    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    home.write("antiphon.yaml", GOOD);
    let ended = home.run(&[
        "doctor",
        "--listen",
        &address,
        "--store",
        "sqlite:antiphon.yaml/x.db",
    ]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.stdout.contains("is taken by another program"),
        "{}",
        ended.stdout
    );
    assert!(
        ended.stdout.contains("2 things are to be done."),
        "{}",
        ended.stdout
    );
}

fn entries(home: &Home) -> Vec<String> {
    let entries = home.path().read_dir().unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn doctor_judges_a_store_as_serve_does_and_leaves_nothing_behind() {
    let home = Home::with(GOOD);
    for (store, is_well, says) in [
        ("sqlite:no/such/x.db", true, "no/such/x.db will be made"),
        ("sqlite:empty.db", true, "empty.db can be used"),
        (
            "sqlite:antiphon.yaml",
            false,
            "file is not a database; choose another store",
        ),
        (
            "sqlite:antiphon.yaml/x.db",
            false,
            "make it usable, or choose another store",
        ),
        ("sqlite:folder", false, "Is a directory"),
        ("sqlite:folder/../antiphon.yaml", false, "not a database"),
    ] {
        home.write("empty.db", "");
        std::fs::create_dir_all(home.path().join("folder")).unwrap();
        let before = entries(&home);
        let ended = home.run(&["doctor", "--listen", "127.0.0.1:0", "--store", store]);
        assert_eq!(ended.code, Some(if is_well { 0 } else { 1 }), "{ended:?}");
        assert!(ended.stdout.contains(says), "{ended:?}");
        assert_eq!(entries(&home), before, "{store}");
        if is_well {
            let args = ["serve", "--listen", "127.0.0.1:0", "--store", store];
            assert_eq!(home.serve(&args).signal("TERM").code, Some(0));
        } else {
            home.run(&["serve", "--listen", "127.0.0.1:0", "--store", store])
                .expect(1, &["the store "]);
        }
        for name in entries(&home) {
            if name.ends_with(".lock") {
                std::fs::remove_file(home.path().join(name)).unwrap();
            }
        }
    }
}

#[test]
fn doctor_judges_users_as_serve_does() {
    let jwt = "jwks_url: 'http://a.example/x', issuer: 'https://a.example', audience: a";
    let home = Home::with(&format!("auth: {{ jwt: {{ {jwt} }} }}\n{GOOD}"));
    let says = "antiphon.yaml:1:9: auth.jwt: the key address";
    home.run(&["serve", "--listen", "127.0.0.1:0", "--store", "memory"])
        .expect(2, &[says]);
    let doctor = home.run(&["doctor", "--listen", "127.0.0.1:0"]);
    assert_eq!(doctor.code, Some(2), "{doctor:?}");
    assert!(doctor.stdout.contains(says), "{doctor:?}");
}

#[test]
fn the_name_of_a_store_that_a_variable_names_is_not_printed() {
    let home = Home::with(&format!(
        "store: sqlite:${{PLACE}}\nlisten: 127.0.0.1:0\n{GOOD}"
    ));
    home.write(".env", "PLACE=antiphon.yaml\n");
    let ended = home.run(&["serve"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.stderr.contains("the store that a variable names: "),
        "{ended:?}"
    );
    assert!(!ended.stderr.contains("antiphon.yaml:"), "{ended:?}");
    let ended = home.run(&["doctor"]);
    assert!(
        ended.stdout.contains("the store that a variable names: "),
        "{ended:?}"
    );
}
