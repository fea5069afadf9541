//! What a person sees of events.

use std::time::Duration;

use antiphon_client::Event;
use serde_json::{Value, json};

use super::*;
use crate::chat::console::Looks;

fn shown(events: &[Value]) -> String {
    let looks = Looks {
        width: 60,
        styled: false,
        moves: false,
        newline: "\n",
    };
    let mut out = Vec::new();
    let mut screen = Screen::new(&mut out, looks);
    let mut view = View::default();
    for event in events {
        let event = Event::read(event.clone()).unwrap().value.unwrap();
        view.event(&event, &mut screen);
    }
    view.end(&mut screen);
    drop(screen);
    String::from_utf8(out).unwrap()
}

fn text(id: &str, delta: &str) -> Value {
    json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": delta })
}

fn call(id: &str, name: &str, arguments: &str) -> [Value; 3] {
    [
        json!({ "type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": name }),
        json!({ "type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": arguments }),
        json!({ "type": "TOOL_CALL_END", "toolCallId": id }),
    ]
}

fn result(id: &str, content: &str) -> Value {
    json!({ "type": "TOOL_CALL_RESULT", "messageId": "r", "toolCallId": id, "content": content })
}

/// What a silent run shows, so many milliseconds after it began.
fn waited(moves: bool, passed: &[u64]) -> String {
    let looks = Looks {
        width: 60,
        styled: false,
        moves,
        newline: "\n",
    };
    let mut out = Vec::new();
    let mut screen = Screen::new(&mut out, looks);
    let mut view = View::default();
    let made = Instant::now();
    view.tick(made, &mut screen);
    let began = made + Duration::from_secs(6);
    view.begin(began);
    for passed in passed {
        view.tick(began + Duration::from_millis(*passed), &mut screen);
    }
    view.end(&mut screen);
    view.tick(began, &mut screen);
    drop(screen);
    String::from_utf8(out).unwrap()
}

#[test]
fn the_time_at_the_prompt_is_not_the_time_of_a_run() {
    assert_eq!(
        waited(true, &[200]),
        format!(
            "\r\x1b[2K⠹ waiting · {} · Ctrl-C stops\r\x1b[2K",
            seconds(Duration::from_millis(200))
        )
    );
}

#[test]
fn a_terminal_that_takes_no_line_back_gets_one_line_that_stays() {
    assert_eq!(waited(false, &[0, 999]), "");
    assert_eq!(
        waited(false, &[0, 1000, 1100, 9000]),
        "waiting · Ctrl-C stops\n"
    );
}

#[test]
fn messages_do_not_run_into_each_other() {
    let thought = json!({ "type": "REASONING_MESSAGE_CONTENT", "messageId": "t", "delta": "hm" });
    let events = [
        thought,
        text("a", "one "),
        text("b", "two"),
        text("a", "three"),
    ];
    assert_eq!(shown(&events), "· hm\none\ntwo\nthree\n");
}

#[test]
fn calls_are_lines_with_their_results() {
    let mut events = vec![text("a", "Let me see")];
    events.extend(call("c1", "look", "{\"city\":\"Bonn\"}"));
    events.push(result("c1", "rain"));
    assert_eq!(
        shown(&events),
        "Let me see\n▸ look {\"city\":\"Bonn\"}\n  ↳ rain (0.0 s)\n"
    );
}

#[test]
fn results_name_their_call_where_there_are_several() {
    let mut events = Vec::new();
    events.extend(call("c1", "look", "{}"));
    events.extend(call("c2", "find", "{}"));
    events.extend([result("c2", "42"), result("c1", "rain")]);
    assert_eq!(
        shown(&events),
        "▸ look {}\n▸ find {}\n  ↳ find: 42 (0.0 s)\n  ↳ rain (0.0 s)\n"
    );
}

#[test]
fn long_arguments_and_results_are_folded_into_a_line_each() {
    let mut events = Vec::new();
    events.extend(call(
        "c1",
        "write",
        &format!("{{\"text\":\"{}\"}}", "x".repeat(9000)),
    ));
    events.push(result("c1", &"y\n".repeat(9000)));
    let shown = shown(&events);
    assert_eq!(shown.lines().count(), 2, "{shown}");
    assert!(
        shown.lines().all(|line| line.chars().count() <= 60),
        "{shown}"
    );
}

#[test]
fn a_hostile_tool_can_draw_nothing() {
    let mut events = Vec::new();
    events.extend(call("c1", "\u{1b}[2Jx", "{\"a\":\"\u{1b}]0;t\u{7}\"}"));
    events.push(result("c1", "\u{1b}[1A\rapproved"));
    let shown = shown(&events);
    assert!(
        !shown.contains(|char: char| char.is_control() && char != '\n'),
        "{shown:?}"
    );
}

#[test]
fn predicted_state_is_told_from_state() {
    let mut progress = Progress::new(Instant::now());
    let mut take = |value: Value| {
        progress.event(&Event::read(value).unwrap().value.unwrap());
        progress.line(Instant::now())
    };
    let delta = json!({
        "type": "STATE_DELTA", "delta": [{ "op": "add", "path": "/recipe/title", "value": "x" }]
    });
    assert!(take(delta.clone()).contains(" state /recipe/title"));
    let [start, args, end] = call("c1", "write", "{\"recipe\"");
    assert!(take(start).contains("writing write"));
    assert!(take(args).contains("9 bytes"));
    assert!(take(delta.clone()).contains("predicted state /recipe/title"));
    assert!(take(end).contains("running tools"));
}
