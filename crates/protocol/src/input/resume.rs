//! The shapes in which clients send answers to interrupts.
//!
//! The protocol's own is a list of `{interruptId, status, payload?, metadata?}`. Older clients
//! wrap the list in an object, send a single entry, or use other member names; all of them mean
//! the same and are read as such. An entry in the protocol's own names has a status; one in other
//! names, which comes from a client without statuses, is resolved if it brings a payload.

use serde_json::Value;

use crate::wire::{Manners, Object, Reader, Reading, Wire};
use crate::{ResumeEntry, ResumeStatus};

/// The protocol's names for an entry's interrupt, in the order in which they are believed.
const ID: [&str; 2] = ["interruptId", "interrupt_id"];
/// Older names for it.
const OLD_ID: [&str; 2] = ["id", "toolCallId"];
/// The protocol's name for an entry's payload.
const PAYLOAD: [&str; 1] = ["payload"];
/// Older names for it.
const OLD_PAYLOAD: [&str; 2] = ["value", "response"];

/// Takes the `resume` member of a request.
pub(super) fn entries(object: &mut Object, reader: &mut Reader) -> Reading<Vec<ResumeEntry>> {
    let Some(value) = reader.take(object, "resume", "resume")? else {
        return Ok(Vec::new());
    };
    reader.at_key("resume", |reader| match value {
        Value::Null if reader.manners() == Manners::Input => {
            reader.warn("is null and read as absent");
            Ok(Vec::new())
        }
        Value::Object(mut map) if reader.manners() == Manners::Input => {
            let list = map
                .swap_remove("interrupts")
                .or_else(|| map.swap_remove("interrupt"));
            list_of(list.unwrap_or(Value::Object(map)), reader)
        }
        value => list_of(value, reader),
    })
}

fn list_of(value: Value, reader: &mut Reader) -> Reading<Vec<ResumeEntry>> {
    if reader.manners() == Manners::Event {
        return Vec::from_wire(value, reader);
    }
    match value {
        Value::Array(elements) => elements
            .into_iter()
            .enumerate()
            .map(|(index, element)| reader.at_index(index, |reader| entry(element, reader)))
            .collect(),
        single @ Value::Object(_) => entry(single, reader).map(|entry| vec![entry]),
        _ => Err(reader.malformed("must be an array of answers")),
    }
}

fn entry(value: Value, reader: &mut Reader) -> Reading<ResumeEntry> {
    let mut object = reader.object(value)?;
    let (id, old_id) = first_of(&ID, &OLD_ID, &mut object);
    let (payload, old_payload) = first_of(&PAYLOAD, &OLD_PAYLOAD, &mut object);
    if let Some(id) = id {
        object.0.insert("interruptId".to_owned(), id);
    }
    if let Some(payload) = payload {
        object.0.insert("payload".to_owned(), payload);
        if (old_id || old_payload) && !object.0.contains_key("status") {
            reader.warn("has no status and is read as resolved");
            let resolved = ResumeStatus::Resolved.as_str();
            object.0.insert("status".to_owned(), resolved.into());
        }
    }
    ResumeEntry::from_object(object, reader)
}

/// Takes the first of these members that is there, and says whether it has an older name; what else is
/// there is an unknown member.
fn first_of(names: &[&str], older: &[&str], object: &mut Object) -> (Option<Value>, bool) {
    let mut first = |names: &[&str]| names.iter().find_map(|name| object.0.swap_remove(*name));
    match first(names) {
        Some(value) => (Some(value), false),
        None => {
            let value = first(older);
            let is_older = value.is_some();
            (value, is_older)
        }
    }
}
