//! Text and reasoning messages as they stream.

use super::merge;
use super::thread::Thread;
use crate::{
    AssistantMessage, Content, DeveloperMessage, Message, Metadata, ReasoningMessage,
    ReasoningMessageStart, SystemMessage, TextMessageStart, TextRole, UserMessage,
};

impl Thread {
    /// Begins a text message, or goes on with the one that is there.
    pub(super) fn start_text(&mut self, event: &TextMessageStart) -> Result<(), String> {
        let metadata = event.base.metadata.as_ref();
        if self.position(&event.message_id).is_some() {
            return self.append_metadata(&event.message_id, metadata);
        }
        let id = event.message_id.clone();
        let name = event.name.clone();
        let metadata = metadata.cloned();
        let subagent_run_id = event.subagent_run_id.clone();
        let encrypted_value = None;
        let message = match event.role.unwrap_or(TextRole::Assistant) {
            TextRole::Assistant => Message::Assistant(AssistantMessage {
                id,
                content: Some(String::new()),
                name,
                encrypted_value,
                metadata,
                subagent_run_id,
                tool_calls: Vec::new(),
            }),
            TextRole::User => Message::User(UserMessage {
                id,
                content: Content::Text(String::new()),
                name,
                encrypted_value,
                metadata,
                subagent_run_id,
            }),
            TextRole::System => Message::System(SystemMessage {
                id,
                content: String::new(),
                name,
                encrypted_value,
                metadata,
                subagent_run_id,
            }),
            TextRole::Developer => Message::Developer(DeveloperMessage {
                id,
                content: String::new(),
                name,
                encrypted_value,
                metadata,
                subagent_run_id,
            }),
        };
        self.push(message);
        Ok(())
    }

    /// Begins a reasoning message, or goes on with the one that is there.
    pub(super) fn start_reasoning(&mut self, event: &ReasoningMessageStart) -> Result<(), String> {
        let metadata = event.base.metadata.as_ref();
        if self.position(&event.message_id).is_some() {
            return self.append_metadata(&event.message_id, metadata);
        }
        let mut message = ReasoningMessage::new(event.message_id.clone(), String::new());
        message.metadata = metadata.cloned();
        message.subagent_run_id.clone_from(&event.subagent_run_id);
        self.push(message.into());
        Ok(())
    }

    /// Appends to a message's text. Content that is not text is replaced.
    pub(super) fn append(
        &mut self,
        id: &str,
        delta: &str,
        metadata: Option<&Metadata>,
    ) -> Result<(), String> {
        let Some(message) = self.get_mut(id) else {
            return Err(format!("names no message {id:?}"));
        };
        let Some(text) = message.text_mut() else {
            return Err(format!("names the activity {id:?}"));
        };
        text.push_str(delta);
        self.append_metadata(id, metadata)
    }

    /// Ends a message, which may still tell something about it.
    pub(super) fn end(&mut self, id: &str, metadata: Option<&Metadata>) -> Result<(), String> {
        match self.position(id) {
            Some(_) => self.append_metadata(id, metadata),
            None => Err(format!("names no message {id:?}")),
        }
    }

    fn append_metadata(&mut self, id: &str, metadata: Option<&Metadata>) -> Result<(), String> {
        match self.get_mut(id) {
            Some(Message::Activity(_)) => Err(format!("names the activity {id:?}")),
            Some(message) if metadata.is_some() => {
                merge(message.metadata_mut(), metadata);
                Ok(())
            }
            Some(_) | None => Ok(()),
        }
    }
}

impl Message {
    /// Returns the text that [`text_mut`](Self::text_mut) would append to.
    pub(super) fn plain_text(&self) -> &str {
        match self {
            Self::Developer(message) => &message.content,
            Self::System(message) => &message.content,
            Self::Reasoning(message) => &message.content,
            Self::Assistant(message) => message.content.as_deref().unwrap_or_default(),
            Self::User(message) => message.content.plain_text(),
            Self::Tool(message) => message.content.plain_text(),
            Self::Activity(_) => "",
        }
    }

    /// Returns the text of anything but an activity, to append to it.
    pub(super) fn text_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Developer(message) => Some(&mut message.content),
            Self::System(message) => Some(&mut message.content),
            Self::Reasoning(message) => Some(&mut message.content),
            Self::Assistant(message) => Some(message.content.get_or_insert_default()),
            Self::User(message) => message.content.text_mut(),
            Self::Tool(message) => message.content.text_mut(),
            Self::Activity(_) => None,
        }
    }

    /// Returns the slot for opaque provider data of anything but an activity.
    pub(super) const fn encrypted_value_mut(&mut self) -> Option<&mut Option<String>> {
        match self {
            Self::Developer(message) => Some(&mut message.encrypted_value),
            Self::System(message) => Some(&mut message.encrypted_value),
            Self::Reasoning(message) => Some(&mut message.encrypted_value),
            Self::Assistant(message) => Some(&mut message.encrypted_value),
            Self::User(message) => Some(&mut message.encrypted_value),
            Self::Tool(message) => Some(&mut message.encrypted_value),
            Self::Activity(_) => None,
        }
    }
}

impl Content {
    fn plain_text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Parts(_) => "",
        }
    }

    /// Returns the text to append to. Parts give way to it.
    fn text_mut(&mut self) -> Option<&mut String> {
        if let Self::Parts(_) = self {
            *self = Self::Text(String::new());
        }
        match self {
            Self::Text(text) => Some(text),
            Self::Parts(_) => None,
        }
    }
}
