//! Tool calls and their results.

use super::merge;
use super::thread::Thread;
use crate::{
    AssistantMessage, FunctionCall, Message, Metadata, Role, ToolCall, ToolCallResult,
    ToolCallStart, ToolMessage,
};

impl Thread {
    /// Begins a call. One that is there already is kept, with the name it is given now.
    pub(super) fn start_call(&mut self, event: &ToolCallStart) -> Result<(), String> {
        let metadata = event.base.metadata.as_ref();
        if let Some(call) = self.call_mut(&event.tool_call_id) {
            merge(&mut call.metadata, metadata);
            if call.function.name == event.tool_call_name {
                return Ok(());
            }
            let renamed = format!(
                "renames call {:?} from {:?} to {:?}",
                call.id, call.function.name, event.tool_call_name
            );
            call.function.name.clone_from(&event.tool_call_name);
            return Err(renamed);
        }
        let (at, outcome) = self.place_of_call(event);
        let function = FunctionCall::new(event.tool_call_name.clone(), String::new());
        let mut call = ToolCall::new(event.tool_call_id.clone(), function);
        call.metadata = metadata.cloned();
        self.push_call(at, call);
        outcome
    }

    /// Returns the assistant message that a new call belongs to, made for it if need be.
    fn place_of_call(&mut self, event: &ToolCallStart) -> (usize, Result<(), String>) {
        let mut outcome = Ok(());
        let mut id = &event.tool_call_id;
        if let Some(parent) = &event.parent_message_id {
            match self.position(parent) {
                None => id = parent,
                Some(at) => match self.messages.get(at).map(Message::role) {
                    Some(Role::Assistant) | None => return (at, outcome),
                    Some(role) => {
                        outcome = Err(format!(
                            "names the {role} message {parent:?} as parent; the call gets its own"
                        ));
                    }
                },
            }
        }
        let mut message = AssistantMessage::new(id.clone());
        if self.position(id).is_none() {
            message.subagent_run_id.clone_from(&event.subagent_run_id);
        }
        (self.push(message.into()), outcome)
    }

    pub(super) fn append_arguments(
        &mut self,
        id: &str,
        delta: &str,
        metadata: Option<&Metadata>,
    ) -> Result<(), String> {
        let Some(call) = self.call_mut(id) else {
            return Err(format!("names no tool call {id:?}"));
        };
        call.function.arguments.push_str(delta);
        merge(&mut call.metadata, metadata);
        Ok(())
    }

    /// Adds a result behind the message of its call and the results that are there.
    pub(super) fn add_result(&mut self, event: &ToolCallResult) {
        let message = Message::Tool(ToolMessage {
            id: event.message_id.clone(),
            tool_call_id: event.tool_call_id.clone(),
            content: event.content.clone(),
            error: None,
            encrypted_value: None,
            metadata: event.base.metadata.clone(),
            subagent_run_id: event.subagent_run_id.clone(),
        });
        let Some(of_call) = self.call_message(&event.tool_call_id) else {
            self.push(message);
            return;
        };
        let behind = self.messages.iter().skip(of_call + 1);
        let results = behind
            .take_while(|message| message.role() == Role::Tool)
            .count();
        self.insert(of_call + 1 + results, message);
    }
}
