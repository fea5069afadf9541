//! The `THINKING_*` events of 0.x agents, read as the `REASONING_*` events they have become.
//!
//! They name no message, so one is named for them, after the run.

use serde_json::Value;

#[derive(Debug, Default)]
pub(crate) struct Thinking {
    run: String,
    count: usize,
    span: String,
    message: String,
}

impl Thinking {
    /// Turns a retired event into its successor and says so; leaves all others.
    pub(crate) fn translate(&mut self, event: &mut Value) -> Option<String> {
        let kind = event.get("type")?.as_str()?;
        if kind == "RUN_STARTED" {
            self.run = event.get("runId")?.as_str()?.to_owned();
            self.count = 0;
        }
        let successor = match kind.strip_prefix("THINKING_")? {
            "START" => "REASONING_START",
            "END" => "REASONING_END",
            "TEXT_MESSAGE_START" => "REASONING_MESSAGE_START",
            "TEXT_MESSAGE_CONTENT" => "REASONING_MESSAGE_CONTENT",
            "TEXT_MESSAGE_END" => "REASONING_MESSAGE_END",
            _ => return None,
        };
        let warning = format!("is a retired {kind} and read as {successor}");
        let id = match successor {
            "REASONING_START" => {
                self.span = self.mint();
                &self.span
            }
            "REASONING_MESSAGE_START" => {
                self.message = self.mint();
                &self.message
            }
            "REASONING_END" => &self.span,
            _ => &self.message,
        };
        let members = event.as_object_mut()?;
        members.insert("type".to_owned(), successor.into());
        members.insert("messageId".to_owned(), id.as_str().into());
        members.shift_remove("title");
        if successor == "REASONING_MESSAGE_START" {
            members.insert("role".to_owned(), "reasoning".into());
        }
        Some(warning)
    }

    fn mint(&mut self) -> String {
        self.count += 1;
        format!("{}-thinking-{}", self.run, self.count)
    }
}
