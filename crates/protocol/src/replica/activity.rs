//! Activities.

use serde_json::Value;

use super::merge;
use super::thread::Thread;
use crate::{ActivityDelta, ActivityMessage, ActivitySnapshot, Message};

impl Thread {
    /// Sets an activity's content, unless it is there and the snapshot does not replace it.
    pub(super) fn set_activity(&mut self, event: &ActivitySnapshot) {
        let replaces = event.replace != Some(false);
        let mut message = ActivityMessage::new(
            event.message_id.clone(),
            event.activity_type.clone(),
            event.content.clone(),
        );
        message.subagent_run_id.clone_from(&event.subagent_run_id);
        let metadata = event.base.metadata.as_ref();
        let Some(at) = self.position(&event.message_id) else {
            message.metadata = metadata.cloned();
            self.push(message.into());
            return;
        };
        match self.messages.get_mut(at) {
            Some(Message::Activity(held)) => {
                message.metadata = held.metadata.take();
                merge(&mut message.metadata, metadata);
                if replaces {
                    *held = message;
                } else {
                    held.metadata = message.metadata;
                }
            }
            Some(_) if replaces => {
                message.metadata = metadata.cloned();
                self.replace(at, message.into());
            }
            Some(_) | None => {}
        }
    }

    /// Changes an activity's content as a whole or not at all.
    pub(super) fn change_activity(&mut self, event: &ActivityDelta) -> Result<(), String> {
        let activity = match self.get_mut(&event.message_id) {
            // A change of what this reader never saw; the snapshot may be in a part of the
            // stream that it did not get.
            None => return Ok(()),
            Some(Message::Activity(activity)) => activity,
            Some(message) => {
                return Err(format!(
                    "names the {} message {:?}",
                    message.role(),
                    event.message_id
                ));
            }
        };
        merge(&mut activity.metadata, event.base.metadata.as_ref());
        let mut content = Value::Object(std::mem::take(&mut activity.content));
        let before = event
            .patch
            .iter()
            .any(|operation| operation.path().is_root());
        let before = before.then(|| content.clone());
        let mut outcome = event
            .patch
            .apply(&mut content)
            .map_err(|error| format!("does not apply: {error}"));
        if !content.is_object() {
            outcome = Err("leaves content that is not an object".to_owned());
            content = before.unwrap_or_default();
        }
        if let Value::Object(content) = content {
            activity.content = content;
        }
        if outcome.is_ok() {
            activity.activity_type.clone_from(&event.activity_type);
        }
        outcome
    }
}
