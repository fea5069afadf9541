//! `antiphon chat` at a terminal, typed into and looked at with tmux.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;
#[path = "support/tmux.rs"]
mod tmux;

use support::{Home, Server};
use tmux::Terminal;

const AGENTS: &str = include_str!("fixtures/chat.yaml");
const ANYWHERE: [&str; 5] = ["serve", "--listen", "127.0.0.1:0", "--store", "memory"];

fn served() -> (Home, Server) {
    let home = Home::with(AGENTS);
    let server = home.serve(&ANYWHERE);
    (home, server)
}

#[test]
fn markdown_is_shown_as_text_with_styles() {
    let (home, server) = served();
    let terminal = Terminal::start(&home, "", &["chat", &server.url]);
    terminal.shows("talk at http://127.0.0.1:");
    terminal.line("markdown");
    terminal.shows("• two");
    let screen = terminal.ends_with(">");
    let answer = "> markdown\n· They want markup.\nTitle\n\nSome bold text, code and a link (https://example.com/).\n\n• one\n• two\n>";
    assert!(screen.ends_with(answer), "{screen}");
    let styled = terminal.styled();
    assert!(styled.contains("\x1b[1mbold"), "{styled:?}");
    terminal.line(":q");
    terminal.shows("[ended 0]");
    terminal.shows("\nicanon");
}

#[test]
fn without_colours_the_text_is_the_same() {
    let (home, server) = served();
    for env in ["NO_COLOR=1", "TERM=dumb"] {
        let terminal = Terminal::start(&home, env, &["chat", &server.url]);
        terminal.line("markdown");
        terminal.shows("• two");
        let styled = terminal.styled();
        assert!(styled.contains("Some bold text"), "{styled:?}");
        assert!(!styled.contains('\x1b'), "{env}: {styled:?}");
    }
}

#[test]
fn progress_is_shown_without_colours_too() {
    let (home, server) = served();
    for (env, says) in [
        ("", " · Ctrl-C stops"),
        ("NO_COLOR=1", " · Ctrl-C stops"),
        ("TERM=dumb", "\nthinking · Ctrl-C stops"),
    ] {
        let terminal = Terminal::start(&home, env, &["chat", &server.url, "--agent", "patient"]);
        terminal.line("go");
        terminal.shows(says);
        let is_styled = terminal.styled().contains('\x1b');
        assert_eq!(is_styled, env.is_empty(), "{env}");
        terminal.key("C-c");
        terminal.shows("stopped");
    }
}

#[test]
fn long_lines_wrap_between_words_and_long_prompts_too() {
    let (home, server) = served();
    let terminal = Terminal::start(&home, "", &["chat", &server.url]);
    terminal.line("long");
    let screen = terminal.shows("word end");
    assert!(
        screen.lines().all(|line| line.chars().count() <= 80),
        "{screen}"
    );
    let text = "x".repeat(100);
    terminal.line(&text);
    let screen = terminal.until("the echo", |screen| screen.contains("You said:\n"));
    assert!(
        screen.contains(&format!("> {}\n{}", "x".repeat(78), "x".repeat(22))),
        "{screen}"
    );
}

#[test]
fn a_hostile_model_draws_nothing() {
    let (home, server) = served();
    let terminal = Terminal::start(&home, "", &["chat", &server.url]);
    terminal.line("hostile");
    let screen = terminal.shows("a[2J]0;titleb31mcd");
    assert!(
        screen.contains("> hostile"),
        "the screen was cleared: {screen}"
    );
}

#[test]
fn an_approval_is_answered_in_place_and_never_by_accident() {
    let (home, server) = served();
    let terminal = Terminal::start(&home, "", &["chat", &server.url, "--agent", "asks"]);
    terminal.line("go");
    let prompt = "y approves, n declines, e edits, c cancels >";
    let screen = terminal.ends_with(prompt);
    for part in [
        "? Delete customer c-7?",
        "  lapses in 14 min",
        "delete_customer",
        "\"id\": \"c-7\"",
    ] {
        assert!(screen.contains(part), "{part} in {screen}");
    }
    terminal.key("Enter");
    terminal.shows("please type y, n or c");
    terminal.line("y");
    terminal.shows("Done: deleted");

    terminal.line("go");
    terminal.ends_with(prompt);
    terminal.line("n");
    terminal.shows("why not?");
    terminal.line("too early");
    terminal.shows("I leave it, as it is too early.");

    terminal.line("go");
    terminal.ends_with(prompt);
    terminal.line("c");
    terminal.ends_with(">");
    assert!(
        terminal.all().contains("I leave it.\n"),
        "{}",
        terminal.all()
    );
}

#[test]
fn what_was_typed_before_a_question_does_not_answer_it() {
    let (home, server) = served();
    let terminal = Terminal::start(&home, "", &["chat", &server.url, "--agent", "asks_slowly"]);
    terminal.line("go");
    terminal.shows("I will look");
    terminal.line("y");
    let prompt = "y approves, n declines, c cancels >";
    terminal.ends_with(prompt);
    terminal.line("n");
    terminal.shows("why not?");
    terminal.key("Enter");
    terminal.shows("I leave it.");
    terminal.ends_with("> y");
}

#[test]
fn arguments_are_edited_in_a_line_or_in_the_editor() {
    let (home, server) = served();
    let terminal = Terminal::start(&home, "", &["chat", &server.url, "--agent", "asks"]);
    terminal.line("go");
    terminal.shows("e edits");
    terminal.line("e");
    terminal.shows("arguments > {\"id\":\"c-7\"}");
    terminal.key("C-u");
    terminal.line("{");
    terminal.shows("that is no JSON");
    terminal.key("C-u");
    terminal.line("{\"id\":\"c-8\"}");
    terminal.shows("approve with these arguments? y/n >");
    terminal.line("y");
    terminal.shows("Done: deleted");
    drop(terminal);

    let editor = home.path().join("edit");
    std::fs::write(&editor, "#!/bin/sh\nsed -i s/c-7/c-9/ \"$1\"\n").unwrap();
    std::process::Command::new("chmod")
        .arg("+x")
        .arg(&editor)
        .status()
        .unwrap();
    let env = format!("EDITOR={}", editor.display());
    let terminal = Terminal::start(&home, &env, &["chat", &server.url, "--agent", "asks"]);
    terminal.line("go");
    terminal.shows("e edits");
    terminal.line("e");
    terminal.shows("\"c-9\"");
    terminal.line("y");
    terminal.shows("Done: deleted");
}

#[test]
fn a_question_that_is_left_open_is_asked_again_or_given_up() {
    let (home, server) = served();
    let terminal = Terminal::start(
        &home,
        "",
        &["chat", &server.url, "--agent", "asks", "--thread", "t1"],
    );
    terminal.line("go");
    terminal.shows("c cancels >");
    terminal.key("C-c");
    terminal.shows(":answer asks again");
    terminal.line(":q");
    terminal.shows("[ended 0]");
    drop(terminal);

    let terminal = Terminal::start(
        &home,
        "",
        &["chat", &server.url, "--agent", "asks", "--thread", "t1"],
    );
    let screen = terminal.shows("c cancels >");
    assert!(
        screen.contains("> go"),
        "the thread's messages are not shown: {screen}"
    );
    terminal.key("C-c");
    terminal.shows(":answer asks again");
    terminal.line(":answer");
    terminal.until("the question again", |screen| {
        screen.matches("? Delete customer c-7?").count() == 2
    });
    terminal.key("C-c");
    terminal.until("the hint again", |screen| {
        screen.matches(":answer asks again").count() == 2
    });
    terminal.line("something else");
    terminal.until("the next question", |screen| {
        let after = screen.split_once("I leave it.");
        after.is_some_and(|(_, after)| after.contains("? Delete customer c-7?"))
    });
}

#[test]
fn ctrl_c_stops_the_run_and_not_the_program() {
    let (home, server) = served();
    let terminal = Terminal::start(&home, "", &["chat", &server.url, "--agent", "slow"]);
    terminal.line("count");
    terminal.shows("one two three");
    terminal.key("C-c");
    terminal.shows("stopping");
    let screen = terminal.ends_with(">");
    assert!(screen.contains("\nstopped\n"), "{screen}");
    assert!(!screen.contains("sixteen"), "{screen}");
    terminal.line("short");
    terminal.shows("done");
    terminal.ends_with(">");
    terminal.key("C-c");
    terminal.shows("Ctrl-C again, Ctrl-D or :q ends");
    terminal.key("C-c");
    terminal.shows("[ended 130]");
}

#[test]
fn what_is_typed_during_a_run_waits_at_the_prompt() {
    let (home, server) = served();
    let terminal = Terminal::start(&home, "", &["chat", &server.url, "--agent", "slow"]);
    terminal.line("count");
    terminal.shows("one two");
    terminal.key("s");
    terminal.key("h");
    terminal.key("C-c");
    terminal.ends_with("> sh");
    terminal.line("ort");
    terminal.shows("done");
    terminal.key("C-d");
    terminal.shows("[ended 0]");
}

#[test]
fn a_private_value_is_neither_shown_nor_kept() {
    let home = Home::new();
    let server = home.serve(&["demo", "--listen", "127.0.0.1:0", "--store", "memory"]);
    let terminal = Terminal::start(
        &home,
        "",
        &["chat", &server.url, "--agent", "private_token"],
    );
    terminal.line("go");
    terminal.shows("what you type is not shown");
    terminal.until("the field", |screen| screen.ends_with(" >"));
    terminal.line("hunter2-secret");
    terminal.shows("the token is stored");
    terminal.ends_with(">");
    terminal.key("Up");
    terminal.ends_with("> go");
    terminal.key("C-c");
    terminal.line(":events all");
    terminal.shows(" events");
    assert!(!terminal.all().contains("hunter2"), "{}", terminal.all());
}

#[test]
fn a_page_tool_is_answered_by_hand_or_skipped() {
    let (home, server) = served();
    let terminal = Terminal::start(&home, "", &["chat", &server.url, "--agent", "page"]);
    terminal.line("go");
    terminal.shows("? the agent wants a page to run change_background");
    terminal.line("{\"a");
    terminal.shows("that is no JSON");
    terminal.line("\"blue\"");
    terminal.shows("It is blue now.");
    terminal.line("again");
    terminal.until("the question again", |screen| {
        screen.matches("s skips > ").count() >= 1 && screen.ends_with("s skips >")
    });
    terminal.line("s");
    terminal.shows("Never mind.");
}

#[test]
fn another_system_is_waited_for() {
    let home = Home::new();
    let server = home.serve(&["demo", "--listen", "127.0.0.1:0", "--store", "memory"]);
    let terminal = Terminal::start(&home, "", &["chat", &server.url, "--agent", "verification"]);
    terminal.line("verify");
    terminal.shows("waiting for another system · ");
    let screen = terminal.shows("Your identity is verified.");
    assert!(
        !screen.contains("waiting for another system · "),
        "the progress stayed: {screen}"
    );
}

#[test]
fn state_events_and_threads_are_shown() {
    let (home, server) = served();
    let terminal = Terminal::start(
        &home,
        "",
        &["chat", &server.url, "--agent", "state", "--thread", "t1"],
    );
    terminal.line("go");
    let screen = terminal.shows("state changed: items (:state shows it)");
    assert!(
        screen.contains("▸ write_list {\"items\":[\"bread\",\"milk\"]}\n  ↳ ok ("),
        "{screen}"
    );
    terminal.line(":state");
    terminal.shows("{\n  \"items\": [\n    \"bread\",\n    \"milk\"\n  ]\n}");
    terminal.line(":events 1");
    terminal.shows("{\"type\":\"RUN_FINISHED\"");
    terminal.shows("1 of ");
    terminal.line(":threads");
    terminal.shows("* t1 go");
    terminal.line(":new");
    terminal.line(":state");
    terminal.shows("> :state\n{}");
    terminal.line(":open t1");
    terminal.until("the thread again", |screen| screen.ends_with("Written.\n>"));
    terminal.line(":help");
    terminal.shows(":q, quit");
    terminal.line(":nonsense");
    terminal.shows("there is no command \":nonsense\"");
    terminal.line("quit");
    terminal.shows("[ended 0]");
}

#[test]
fn a_server_that_goes_away_is_an_error_and_not_the_end() {
    let (home, server) = served();
    let terminal = Terminal::start(&home, "", &["chat", &server.url]);
    terminal.line("hi");
    terminal.shows("You said: hi");
    drop(server);
    terminal.line("still there?");
    terminal.shows("error: can't reach the agent");
    terminal.line(":q");
    terminal.shows("[ended 0]");
}
