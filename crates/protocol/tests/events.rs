//! Every event on the wire: golden JSON, the published schema, and back.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::HashSet;

use antiphon_protocol::{Event, EventType};
use common::{bare_events, whole_events};
use serde_json::{Value, json};

const SCHEMA: &str = include_str!("fixtures/ag-ui-schema-1.0.json");
const GOLDEN: &str = include_str!("fixtures/events.jsonl");

fn all_events() -> Vec<Event> {
    [whole_events(), bare_events()].concat()
}

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

/// A validator for one of the schema's definitions.
fn validator(definition: &str) -> jsonschema::Validator {
    let mut schema = schema();
    let members = schema.as_object_mut().unwrap();
    members.remove("oneOf");
    members.remove("$ref");
    members.insert("$ref".to_owned(), json!(format!("#/$defs/{definition}")));
    jsonschema::validator_for(&schema).unwrap()
}

#[test]
fn every_event_is_written_as_in_the_golden_file() {
    let events = all_events();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let lines: Vec<_> = events
            .iter()
            .map(|event| String::from_utf8(event.to_json()).unwrap() + "\n")
            .collect();
        std::fs::write("tests/fixtures/events.jsonl", lines.concat()).unwrap();
        return;
    }
    let lines: Vec<_> = GOLDEN.lines().collect();
    assert_eq!(lines.len(), events.len());
    for (event, line) in events.iter().zip(lines) {
        assert_eq!(String::from_utf8(event.to_json()).unwrap(), line);
    }
}

#[test]
fn every_event_in_the_golden_file_is_read_without_a_warning() {
    for (event, line) in all_events().into_iter().zip(GOLDEN.lines()) {
        let read = Event::read(serde_json::from_str(line).unwrap()).unwrap();
        assert_eq!(read.warnings, [], "{line}");
        assert_eq!(read.value, Some(event), "{line}");
    }
}

#[test]
fn every_event_satisfies_the_published_schema() {
    let validator = validator("Event");
    for event in all_events() {
        let value = serde_json::to_value(&event).unwrap();
        if let Err(error) = validator.validate(&value) {
            panic!("{error} in {value}");
        }
    }
}

#[test]
fn the_golden_file_has_every_type_whole_and_bare() {
    for events in [whole_events(), bare_events()] {
        let kinds: HashSet<_> = events.iter().map(Event::kind).collect();
        assert_eq!(kinds.len(), EventType::ALL.len());
    }
    assert_eq!(EventType::ALL.len(), 31);
}

/// Collects the members that a definition of the schema has, also by composition.
fn members_of(schema: &Value, definition: &Value, into: &mut HashSet<String>) {
    if let Some(properties) = definition["properties"].as_object() {
        into.extend(properties.keys().cloned());
    }
    for part in definition["allOf"].as_array().into_iter().flatten() {
        let name = part["$ref"]
            .as_str()
            .unwrap()
            .trim_start_matches("#/$defs/");
        members_of(schema, &schema["$defs"][name], into);
    }
}

#[test]
fn every_member_of_every_event_is_in_the_golden_file() {
    let schema = schema();
    for variant in schema["$defs"]["Event"]["oneOf"].as_array().unwrap() {
        let name = variant["$ref"]
            .as_str()
            .unwrap()
            .trim_start_matches("#/$defs/");
        let definition = &schema["$defs"][name];
        let mut members = HashSet::new();
        members_of(&schema, definition, &mut members);
        let kind = definition["properties"]["type"]["const"].as_str().unwrap();
        let written: HashSet<String> = GOLDEN
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|event| event["type"] == kind)
            .flat_map(|event| {
                event
                    .as_object()
                    .unwrap()
                    .keys()
                    .cloned()
                    .collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(written, members, "{kind}");
    }
}

#[test]
fn a_request_satisfies_the_published_schema() {
    let validator = validator("RunAgentInput");
    let bare = antiphon_protocol::RunAgentInput::new("t1", "r1", Vec::new());
    for input in [common::input(), bare] {
        let value = serde_json::to_value(&input).unwrap();
        if let Err(error) = validator.validate(&value) {
            panic!("{error} in {value}");
        }
    }
}

#[test]
fn capabilities_satisfy_the_published_schema_and_come_back() {
    let declared = json!({
        "identity": {"name": "recipe", "type": "antiphon", "description": "d", "version": "1",
            "provider": "p", "documentationUrl": "https://example.com", "metadata": {"a": null}},
        "transport": {"streaming": true, "websocket": false, "httpBinary": true,
            "pushNotifications": false, "resumable": true},
        "tools": {"supported": true, "items": [{"name": "f", "description": "d"}],
            "parallelCalls": true, "clientProvided": true},
        "output": {"structuredOutput": true, "supportedMimeTypes": ["text/plain"]},
        "state": {"snapshots": true, "deltas": true, "memory": false, "persistentState": true},
        "multiAgent": {"supported": true, "delegation": true, "handoffs": false,
            "subagents": [{"name": "s", "description": "d"}]},
        "reasoning": {"supported": true, "streaming": true, "encrypted": false},
        "multimodal": {"input": {"image": true, "audio": false, "video": false, "pdf": true,
            "file": false}, "output": {"image": false, "audio": false}},
        "execution": {"codeExecution": false, "sandboxed": false, "maxIterations": 16,
            "maxExecutionTime": 300_000},
        "humanInTheLoop": {"supported": true, "approvals": true, "interventions": false,
            "feedback": false, "interrupts": true, "approveWithEdits": true},
        "custom": {"acme": {"x": 1}},
    });
    let capabilities: antiphon_protocol::AgentCapabilities =
        serde_json::from_value(declared.clone()).unwrap();
    let written = serde_json::to_value(&capabilities).unwrap();
    assert_eq!(written, declared);
    assert!(validator("AgentCapabilities").is_valid(&written));
    let mut members = HashSet::new();
    let schema = schema();
    members_of(&schema, &schema["$defs"]["AgentCapabilities"], &mut members);
    assert_eq!(
        members,
        written.as_object().unwrap().keys().cloned().collect()
    );
}

#[test]
fn null_in_an_optional_slot_is_never_written() {
    let mut finished = antiphon_protocol::RunFinished::new("t1", "r1");
    finished.result = Some(Value::Null);
    finished.base.raw_event = Some(Value::Null);
    let event = Event::from(finished);
    assert_eq!(
        event.to_json(),
        br#"{"type":"RUN_FINISHED","threadId":"t1","runId":"r1"}"#
    );
}

/// Calls `visit` with every document that differs from this one in a single place.
fn each_mutation(whole: &Value, visit: &mut dyn FnMut(Value)) {
    let mut pointers = Vec::new();
    collect_pointers(whole, "", &mut pointers);
    for pointer in pointers {
        for other in [
            json!(null),
            json!(7),
            json!(-1.5),
            json!("x"),
            json!([]),
            json!({}),
            json!(true),
        ] {
            let mut mutated = whole.clone();
            *mutated.pointer_mut(&pointer).unwrap() = other;
            visit(mutated);
        }
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let mut mutated = whole.clone();
        if let Some(Value::Object(members)) = mutated.pointer_mut(parent) {
            members.shift_remove(&key.replace("~1", "/"));
            visit(mutated);
        }
    }
}

fn collect_pointers(value: &Value, at: &str, pointers: &mut Vec<String>) {
    let members: Vec<(String, &Value)> = match value {
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (key.replace('/', "~1"), value))
            .collect(),
        Value::Array(list) => list
            .iter()
            .enumerate()
            .map(|(at, value)| (at.to_string(), value))
            .collect(),
        _ => return,
    };
    for (key, value) in members {
        let pointer = format!("{at}/{key}");
        pointers.push(pointer.clone());
        collect_pointers(value, &pointer, pointers);
    }
}

#[test]
fn whatever_is_read_of_a_broken_event_is_a_sound_event() {
    let validator = validator("Event");
    let mut read_at_all = 0;
    for event in whole_events() {
        let whole = serde_json::to_value(&event).unwrap();
        each_mutation(&whole, &mut |mutated| {
            let Ok(read) = Event::read(mutated.clone()) else {
                return;
            };
            let Some(event) = read.value else { return };
            read_at_all += 1;
            let written = serde_json::to_value(&event).unwrap();
            if let Err(error) = validator.validate(&written) {
                panic!("{error}: {mutated} was read as {written}");
            }
            // Nothing was dropped or changed without saying so.
            if read.warnings.is_empty() {
                assert!(validator.is_valid(&mutated), "{mutated}");
            }
        });
    }
    assert!(read_at_all > 500);
}

#[test]
fn whatever_is_read_of_a_broken_request_is_a_sound_request() {
    let validator = validator("RunAgentInput");
    let whole = serde_json::to_value(common::input()).unwrap();
    each_mutation(&whole, &mut |mutated| {
        if let Ok(read) = antiphon_protocol::RunAgentInput::read(mutated.clone()) {
            let written = serde_json::to_value(&read.value).unwrap();
            if let Err(error) = validator.validate(&written) {
                panic!("{error}: {mutated} was read as {written}");
            }
        }
    });
}
