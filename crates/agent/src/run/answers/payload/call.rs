//! A call that a client sends along with its answer, held against the call that waits.

use serde_json::{Map, Value};

use super::decoded;
use crate::store::Interaction;

/// Clients that send the call along must mean the one that waits: they name it by an id, or by its name
/// and arguments, and say nothing that is not so. A client that shows one call and answers another
/// would approve what its user never saw.
pub(super) fn check(pending: &Interaction, call: &Value) -> Result<(), &'static str> {
    let Value::Object(members) = call else {
        return Err("a call is a JSON object");
    };
    let mut seen = Seen::default();
    if !seen.agrees(members, pending) {
        return Err("this is not the call that waits");
    }
    if !(seen.id || seen.name && seen.arguments) {
        return Err("a call is named by its id, or by its name and arguments");
    }
    Ok(())
}

/// What a client said of a call.
#[derive(Default)]
struct Seen {
    id: bool,
    name: bool,
    arguments: bool,
}

impl Seen {
    /// Notes what the members say; whether all of it is so. A null says nothing.
    fn agrees(&mut self, members: &Map<String, Value>, pending: &Interaction) -> bool {
        let mut said = members.iter().filter(|(_, value)| !value.is_null());
        said.all(|(member, value)| match bare(member).as_str() {
            "id" | "callid" | "toolcallid" => {
                self.id = true;
                *value == pending.call_id || *value == pending.id
            }
            "name" | "toolname" | "toolcallname" => {
                self.name = true;
                *value == pending.request["name"]
            }
            "arguments" | "args" | "toolargs" | "toolarguments" | "input" => {
                self.arguments = true;
                decoded(value.clone()) == pending.request["arguments"]
            }
            "function" => match value {
                Value::Object(function) => self.agrees(function, pending),
                _ => false,
            },
            _ => true,
        })
    }
}

/// A member's name without what spellings differ in.
fn bare(member: &str) -> String {
    let letters = member.chars().filter(|c| !matches!(c, '_' | '-'));
    letters.flat_map(char::to_lowercase).collect()
}
