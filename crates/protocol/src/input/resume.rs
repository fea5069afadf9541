//! The shapes in which clients send answers to interrupts.
//!
//! The protocol's own is a list of `{interruptId, status, payload?, metadata?}`. Older clients
//! wrap the list in an object, send a single entry, or use other member names; all of them mean
//! the same and are read as such. What none may leave out is the status: an answer is nobody's
//! guess.

use serde_json::Value;

use crate::ResumeEntry;
use crate::wire::{Manners, Object, Reader, Reading, Wire};

/// Where else an entry may name its interrupt, in the order in which they are believed.
const ID_ALIASES: [&str; 4] = ["interruptId", "interrupt_id", "id", "toolCallId"];
/// Where else an entry may keep its payload.
const PAYLOAD_ALIASES: [&str; 3] = ["payload", "value", "response"];

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
    if let Some(id) = first_of(&ID_ALIASES, &mut object) {
        object.0.insert("interruptId".to_owned(), id);
    }
    if let Some(payload) = first_of(&PAYLOAD_ALIASES, &mut object) {
        object.0.insert("payload".to_owned(), payload);
    }
    ResumeEntry::from_object(object, reader)
}

/// Takes the first of these members that is there; what else is there is an unknown member.
fn first_of(aliases: &[&str], object: &mut Object) -> Option<Value> {
    aliases
        .iter()
        .find_map(|alias| object.0.swap_remove(*alias))
}
