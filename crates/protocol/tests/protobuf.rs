//! The protobuf binding: the published field numbers, round trips, and hostile bodies.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::HashMap;

use antiphon_protocol::{DecodeError, Event, EventType, Received, proto};
use common::{bare_events, whole_events};
use serde_json::{Map, Value, json};

const FIELDS: &str = include_str!("fixtures/ag-ui-proto-1.0-fields.json");
const LIMIT: usize = 1 << 20;

fn all_events() -> Vec<Event> {
    [whole_events(), bare_events()].concat()
}

/// The published messages: field number to name, type and whether it repeats.
#[derive(Default)]
struct Published(HashMap<String, HashMap<u32, (String, String, bool)>>);

impl Published {
    fn read() -> Self {
        let mut published = Self::default();
        for message in serde_json::from_str::<Vec<Value>>(FIELDS).unwrap() {
            let fields = message[2].as_array().unwrap().iter().map(|field| {
                let number = u32::try_from(field[0].as_u64().unwrap()).unwrap();
                let text = |at: usize| field[at].as_str().unwrap().to_owned();
                (number, (text(1), text(2), field[3] == "repeated"))
            });
            published
                .0
                .insert(message[1].as_str().unwrap().to_owned(), fields.collect());
        }
        // `google.protobuf`, which the list takes for granted except for the entries of a map.
        let mut google = |name: &str, fields: &[(u32, &str, &str, bool)]| {
            let fields = fields
                .iter()
                .map(|(n, name, kind, many)| (*n, ((*name).into(), (*kind).into(), *many)));
            published.0.insert(name.to_owned(), fields.collect());
        };
        google(
            "Struct",
            &[(1, "fields", "message Struct_FieldsEntry", true)],
        );
        google("ListValue", &[(1, "values", "message Value", true)]);
        google(
            "Value",
            &[
                (1, "null", "int32", false),
                (2, "number", "double", false),
                (3, "string", "string", false),
                (4, "bool", "bool", false),
                (5, "struct", "message Struct", false),
                (6, "list", "message ListValue", false),
            ],
        );
        published
    }

    /// Walks the bytes of a message by the published numbers alone.
    fn walk(&self, message: &str, mut bytes: &[u8]) -> Value {
        let mut walked = Map::new();
        while !bytes.is_empty() {
            let key = varint(&mut bytes);
            let number = u32::try_from(key >> 3).unwrap();
            let Some((name, kind, repeated)) = self.0[message].get(&number) else {
                panic!("{message} has no field {number}");
            };
            let value = match (key & 7, kind.as_str()) {
                (0, "bool") => json!(varint(&mut bytes) != 0),
                (0, "int32" | "int64") => json!(varint(&mut bytes).cast_signed()),
                (1, "double") => {
                    let (number, rest) = bytes.split_first_chunk::<8>().unwrap();
                    bytes = rest;
                    json!(f64::from_le_bytes(*number))
                }
                (2, kind) => {
                    let length = usize::try_from(varint(&mut bytes)).unwrap();
                    let (inner, rest) = bytes.split_at(length);
                    bytes = rest;
                    match kind.strip_prefix("message ") {
                        Some(message) => self.walk(message, inner),
                        None => json!(std::str::from_utf8(inner).unwrap()),
                    }
                }
                (wire_type, kind) => panic!("{message}.{name} is {kind}, wire type {wire_type}"),
            };
            if *repeated {
                let list = walked.entry(name.clone()).or_insert_with(|| json!([]));
                list.as_array_mut().unwrap().push(value);
            } else {
                assert!(
                    walked.insert(name.clone(), value).is_none(),
                    "{message}.{name} twice"
                );
            }
        }
        Value::Object(walked)
    }
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first().expect("a varint ends");
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return value;
        }
    }
    panic!("a varint is too long");
}

/// Free JSON as the walker shows it, as JSON again.
fn unpack(value: &Value) -> Value {
    let Some((kind, inner)) = value.as_object().and_then(|map| map.iter().next()) else {
        panic!("not a protobuf value: {value}");
    };
    match kind.as_str() {
        "null" => Value::Null,
        "list" => inner["values"]
            .as_array()
            .into_iter()
            .flatten()
            .map(unpack)
            .collect(),
        "struct" => unpack_struct(inner),
        _ => inner.clone(),
    }
}

fn unpack_struct(value: &Value) -> Value {
    let entries = value["fields"].as_array().into_iter().flatten();
    let entries = entries.map(|entry| {
        (
            entry["key"].as_str().unwrap_or_default().to_owned(),
            unpack(&entry["value"]),
        )
    });
    Value::Object(entries.collect())
}

#[test]
fn every_field_has_its_published_number_and_value() {
    let published = Published::read();
    for event in all_events() {
        let walked = published.walk("Event", &proto::encode(&event));
        let (arm, fields) = walked.as_object().unwrap().iter().next().unwrap();
        let json = serde_json::to_value(&event).unwrap();
        let screaming: String = arm
            .chars()
            .map(|c| {
                if c.is_ascii_uppercase() {
                    format!("_{c}")
                } else {
                    c.to_uppercase().collect()
                }
            })
            .collect();
        assert_eq!(json["type"], screaming);
        for (name, value) in json.as_object().unwrap() {
            match (name.as_str(), value) {
                ("type", _) => {}
                ("timestamp", value) => assert_eq!(&fields["baseEvent"]["timestamp"], value),
                ("metadata", value) => {
                    assert_same(&unpack_struct(&fields["baseEvent"]["metadata"]), value);
                }
                ("rawEvent", value) => {
                    assert_same(&unpack(&fields["baseEvent"]["rawEvent"]), value);
                }
                ("outcome", value) => assert_eq!(fields["outcome"], value["type"]),
                ("snapshot" | "event" | "value" | "result", value) => {
                    assert_same(&unpack(&fields[name]), value);
                }
                // An empty string, false and 0 are how proto3 leaves a plain field out.
                (_, Value::String(text)) if text.is_empty() => {}
                (_, Value::String(_) | Value::Bool(_)) => assert_eq!(&fields[name], value, "{arm}"),
                (_, Value::Array(list)) if name != "content" => {
                    let length = fields[name].as_array().map_or(0, Vec::len);
                    assert_eq!(length, list.len(), "{arm}.{name}");
                }
                _ => {}
            }
        }
    }
}

/// Numbers are doubles on the one side.
fn assert_same(left: &Value, right: &Value) {
    assert!(
        antiphon_state::json_eq(left, right),
        "{left} is not {right}"
    );
}

#[test]
fn the_echoed_request_has_its_published_numbers() {
    let published = Published::read();
    let event = whole_events().swap_remove(0);
    let walked = published.walk("Event", &proto::encode(&event));
    let input = &walked["runStarted"]["input"];
    let messages = input["messages"].as_array().unwrap();
    let roles: Vec<_> = messages
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(
        roles,
        [
            "developer",
            "system",
            "user",
            "reasoning",
            "assistant",
            "tool",
            "activity"
        ]
    );
    assert_eq!(
        messages[2]["contentParts"][1]["image"]["source"]["url"]["mimeType"],
        "image/png"
    );
    assert_eq!(
        messages[2]["contentParts"][4]["document"]["source"]["file"]["provider"],
        "openai"
    );
    assert_eq!(
        messages[4]["toolCalls"][0]["function"]["arguments"],
        r#"{"q":"tea"}"#
    );
    assert_eq!(messages[5]["toolCallId"], "c1");
    assert_eq!(messages[5]["error"], "half");
    assert_eq!(messages[6]["activityType"], "plan");
    assert_eq!(
        unpack_struct(&messages[6]["activityContent"]),
        json!({"steps": [{"done": null}]})
    );
    assert_eq!(input["tools"][0]["description"], "Searches");
    assert_eq!(input["context"][0]["value"], "Bob");
    assert_eq!(input["resume"][0]["status"], "resolved");
    assert_eq!(
        unpack(&input["resume"][0]["payload"]),
        json!({"approved": true})
    );
    assert_eq!(input["protocolVersion"], "1.0");
}

#[test]
fn patches_carry_their_operations_as_numbers() {
    let published = Published::read();
    let delta = whole_events()
        .into_iter()
        .find(|event| event.kind() == EventType::StateDelta);
    let walked = published.walk("Event", &proto::encode(&delta.unwrap()));
    let operations = walked["stateDelta"]["delta"].as_array().unwrap();
    // The number of `add` is 0, which proto3 leaves out.
    let numbers: Vec<_> = operations
        .iter()
        .map(|o| o["op"].as_i64().unwrap_or(0))
        .collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5]);
    assert_eq!(operations[0]["path"], "/a~1b");
    assert_eq!(unpack(&operations[0]["value"]), Value::Null);
    assert_eq!(operations[3]["from"], "/x");
}

fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Result<Received, DecodeError>> {
    let mut decoder = proto::Decoder::new(LIMIT);
    let mut received = Vec::new();
    for piece in pieces {
        decoder.push(piece);
        received.extend(std::iter::from_fn(|| decoder.next_event()));
    }
    decoder.finish();
    received.extend(std::iter::from_fn(|| decoder.next_event()));
    received
}

fn body(events: &[Event]) -> Vec<u8> {
    events.iter().flat_map(proto::frame).collect()
}

#[test]
fn every_event_comes_back() {
    for event in all_events() {
        let frame = proto::frame(&event);
        assert_eq!(&frame[4..], proto::encode(&event));
        let received = decode([&frame[..]]).remove(0).unwrap();
        assert_eq!(
            received,
            Received {
                id: None,
                event: Some(event),
                warnings: Vec::new()
            }
        );
    }
}

#[test]
fn a_body_says_the_same_wherever_it_is_cut() {
    let events = bare_events();
    let body = body(&events);
    let whole = |received: Vec<Result<Received, DecodeError>>| -> Vec<Event> {
        received
            .into_iter()
            .map(|received| received.unwrap().event.unwrap())
            .collect()
    };
    assert_eq!(whole(decode(body.chunks(1))), events);
    for cut in 0..body.len() {
        let (head, tail) = body.split_at(cut);
        assert_eq!(whole(decode([head, tail])), events, "cut at {cut}");
    }
}

#[test]
fn a_body_that_ends_inside_of_a_frame_is_truncated() {
    let frame = proto::frame(&bare_events()[3]);
    for cut in 1..frame.len() {
        let mut received = decode([&frame[..cut]]);
        assert!(
            matches!(received.pop(), Some(Err(DecodeError::Truncated))),
            "cut at {cut}"
        );
        assert!(received.is_empty());
    }
}

#[test]
fn a_frame_over_the_limit_is_refused_before_it_is_held() {
    let mut decoder = proto::Decoder::new(64);
    decoder.push(&[0xff, 0xff, 0xff, 0xff]);
    let refused = decoder.next_event().unwrap();
    assert!(matches!(
        refused,
        Err(DecodeError::TooLarge { limit: 64, .. })
    ));
    decoder.push(&proto::frame(&bare_events()[3]));
    assert!(decoder.next_event().is_none());
}

fn framed(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap();
    [&length.to_be_bytes()[..], bytes].concat()
}

#[test]
fn an_event_of_a_later_version_is_dropped_with_a_warning() {
    // Arm 99, a message with a string in field 2.
    let later = framed(&[0x9a, 0x06, 0x03, 0x12, 0x01, b'x']);
    let received = decode([&later[..]]).remove(0).unwrap();
    assert_eq!(received.event, None);
    assert_eq!(received.warnings.len(), 1);
}

#[test]
fn a_frame_that_is_not_one_event_is_refused() {
    let step = proto::encode(&bare_events()[3]);
    let error = proto::encode(&bare_events()[2]);
    let mut wrong_type = step.clone();
    wrong_type[5] = 13;
    let without_base = [0x7a, 0x06, 0x12, 0x04, b'p', b'l', b'a', b'n'];
    for (what, frame) in [
        ("empty", Vec::new()),
        ("two events", [step.clone(), error].concat()),
        ("another type in the base", wrong_type),
        ("no base", without_base.to_vec()),
        ("cut off", step[..step.len() - 1].to_vec()),
        ("a number as event", vec![0x78, 0x01]),
        ("garbage", vec![0xff; 12]),
    ] {
        let received = decode([&framed(&frame)[..]]);
        assert_eq!(received.len(), 1, "{what}");
        assert!(received[0].is_err(), "{what}");
    }
}

#[test]
fn an_event_in_two_pieces_is_merged() {
    let step = proto::encode(&bare_events()[3]);
    let renamed = [0x7a, 0x05, 0x12, 0x03, b'n', b'e', b'w'];
    let received = decode([&framed(&[&step[..], &renamed].concat())[..]])
        .remove(0)
        .unwrap();
    let Some(Event::StepStarted(step)) = received.event else {
        panic!("a step")
    };
    assert_eq!(step.step_name, "new");
}
