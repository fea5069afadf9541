//! How a snapshot of the messages is reconciled with what is held.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::thread::Thread;
use crate::{Message, MessagesSnapshot, Metadata, Role};

/// The metadata key under which a producer says which activities its snapshot speaks for.
const CLIENT_METADATA: &str = "@ag-ui/client";

impl Thread {
    /// Adopts a snapshot: a message of the same id is replaced in its place, a new one appended,
    /// one that is missing dropped. Activities and reasoning, which an agent need not keep, stay
    /// unless the snapshot speaks for them.
    pub(super) fn adopt(&mut self, event: &MessagesSnapshot) {
        let mut given: HashMap<&str, &Message> = HashMap::with_capacity(event.messages.len());
        for message in &event.messages {
            given.insert(message.id(), message);
        }
        let claim = Claim::of(event);
        let speaks_for_reasoning = event.messages.iter().any(|m| m.role() == Role::Reasoning);
        let mut messages = Vec::with_capacity(event.messages.len());
        let mut held = HashSet::with_capacity(event.messages.len());
        for message in std::mem::take(&mut self.messages) {
            let stays = match &message {
                Message::Activity(activity) => !claim.covers(&activity.activity_type),
                Message::Reasoning(_) => !speaks_for_reasoning,
                _ => false,
            };
            if let Some(restated) = given.get(message.id()) {
                held.insert(restated.id());
                messages.push((*restated).clone());
            } else if stays {
                messages.push(message);
            }
        }
        let new = event
            .messages
            .iter()
            .filter(|message| !held.contains(message.id()));
        messages.extend(new.cloned());
        self.set(messages);
    }
}

/// The activities that a snapshot speaks for.
enum Claim<'a> {
    All,
    None,
    Types(&'a [Value]),
}

impl<'a> Claim<'a> {
    fn of(event: &'a MessagesSnapshot) -> Self {
        match declared(event.base.metadata.as_ref()) {
            Some(claim) => claim,
            None if event.messages.iter().any(|m| m.role() == Role::Activity) => Self::All,
            None => Self::None,
        }
    }

    fn covers(&self, activity_type: &str) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Types(types) => types.iter().any(|known| known == activity_type),
        }
    }
}

/// Reads `metadata["@ag-ui/client"].authoritativeActivityTypes`: null speaks for all, a list
/// for its types, anything else for none.
fn declared(metadata: Option<&Metadata>) -> Option<Claim<'_>> {
    let Some(client) = metadata?.get(CLIENT_METADATA)?.as_object() else {
        return Some(Claim::None);
    };
    Some(match client.get("authoritativeActivityTypes")? {
        Value::Null => Claim::All,
        Value::Array(types) if types.iter().all(Value::is_string) => Claim::Types(types),
        _ => Claim::None,
    })
}
