//! The body of a request.
//!
//! A thread's messages are written straight from where they are kept: a request costs their
//! bytes once and no copy of the history.

use antiphon_protocol::{
    Content, ContentPart, Context, Dialect, Message, ResumeEntry, Role, RunAgentInput, Source,
    TextPart, Tool,
};
use bytes::Bytes;
use serde::ser::SerializeSeq as _;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// A request as it goes out.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Body<'a> {
    pub(crate) thread_id: &'a str,
    pub(crate) run_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) protocol_version: Option<&'a str>,
    /// Never absent: 0.x servers require it.
    pub(crate) state: &'a Value,
    pub(crate) messages: Messages<'a>,
    pub(crate) tools: &'a [Tool],
    pub(crate) context: &'a [Context],
    pub(crate) forwarded_props: &'a Value,
    #[serde(skip_serializing_if = "<[ResumeEntry]>::is_empty")]
    pub(crate) resume: &'a [ResumeEntry],
}

impl<'a> Body<'a> {
    pub(crate) fn new(
        input: &'a RunAgentInput,
        state: &'a Value,
        forwarded_props: &'a Value,
        messages: Messages<'a>,
    ) -> Self {
        Self {
            thread_id: &input.thread_id,
            run_id: &input.run_id,
            protocol_version: input.protocol_version.as_deref(),
            state,
            messages,
            tools: &input.tools,
            context: &input.context,
            forwarded_props,
            resume: &input.resume,
        }
    }

    pub(crate) fn to_json(&self) -> Bytes {
        let json = serde_json::to_vec(self)
            .expect("writing maps with string keys into memory cannot fail");
        json.into()
    }
}

/// The messages that go out: those that are chosen, without activities, which never travel to
/// an agent.
pub(crate) struct Messages<'a> {
    pub(crate) kept: &'a [Message],
    pub(crate) chosen: &'a dyn Fn(&Message) -> bool,
    pub(crate) new: Option<&'a Message>,
    pub(crate) dialect: Dialect,
}

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        let kept = self.kept.iter().filter(|message| (self.chosen)(message));
        for message in kept.chain(self.new) {
            match (self.dialect, message.role()) {
                (_, Role::Activity) | (Dialect::V0, Role::Reasoning) => {}
                (Dialect::V0, _) => list.serialize_element(&translated(message))?,
                (Dialect::V1, _) => list.serialize_element(message)?,
            }
        }
        list.end()
    }
}

/// Returns a message as a 0.x server reads it: early ones refuse every member that they don't
/// know.
fn translated(message: &Message) -> Message {
    let mut message = message.clone();
    *message.metadata_mut() = None;
    match &mut message {
        Message::Developer(m) => (m.encrypted_value, m.subagent_run_id) = (None, None),
        Message::System(m) => (m.encrypted_value, m.subagent_run_id) = (None, None),
        Message::User(m) => {
            (m.encrypted_value, m.subagent_run_id) = (None, None);
            if let Content::Parts(parts) = &mut m.content {
                parts.iter_mut().for_each(replace_handle);
            }
        }
        Message::Assistant(m) => {
            (m.encrypted_value, m.subagent_run_id) = (None, None);
            for call in &mut m.tool_calls {
                (call.encrypted_value, call.metadata) = (None, None);
            }
        }
        Message::Tool(m) => {
            (m.encrypted_value, m.subagent_run_id) = (None, None);
            m.content = Content::Text(m.content.text().into_owned());
        }
        Message::Reasoning(_) | Message::Activity(_) => {}
    }
    message
}

/// A provider's handle means nothing to a 0.x server.
fn replace_handle(part: &mut ContentPart) {
    if let Some(Source::File(_)) = part.source() {
        *part = TextPart::new("[file]").into();
    }
}

#[cfg(test)]
mod tests {
    use antiphon_protocol::{
        ActivityMessage, AssistantMessage, Metadata, ReasoningMessage, ToolMessage, UserMessage,
    };
    use serde_json::json;

    use super::*;

    fn sent(messages: &[Message], dialect: Dialect) -> Value {
        let messages = Messages {
            kept: messages,
            chosen: &|_| true,
            new: None,
            dialect,
        };
        serde_json::to_value(messages).unwrap()
    }

    #[test]
    fn activities_stay_here() {
        let messages = [
            ActivityMessage::new("a1", "search", serde_json::Map::new()).into(),
            UserMessage::new("u1", "hi").into(),
        ];
        let expected = json!([{"role": "user", "id": "u1", "content": "hi"}]);
        assert_eq!(sent(&messages, Dialect::V1), expected);
    }

    #[test]
    fn a_0_x_server_is_sent_what_it_knows() {
        let mut answer = AssistantMessage::new("a1");
        answer.content = Some("42".to_owned());
        answer.metadata = Some(Metadata::new());
        answer.encrypted_value = Some("opaque".to_owned());
        let parts: Content = vec![TextPart::new("ma").into(), TextPart::new("de").into()].into();
        let messages = [
            ReasoningMessage::new("r1", "hm").into(),
            answer.into(),
            ToolMessage::new("t1", "c1", parts).into(),
        ];
        let expected = json!([
            {"role": "assistant", "id": "a1", "content": "42"},
            {"role": "tool", "id": "t1", "toolCallId": "c1", "content": "made"},
        ]);
        assert_eq!(sent(&messages, Dialect::V0), expected);
        assert_eq!(
            sent(&messages, Dialect::V1).as_array().map(Vec::len),
            Some(3)
        );
    }
}
