//! Folding a stream of events into the turn that it describes.

use crate::{AssistantMessage, FinishReason, ModelEvent, Reasoning, ToolCall, Usage};

/// A turn as far as it has been received.
///
/// ```
/// use antiphon_model::{Collected, ModelEvent};
///
/// let mut turn = Collected::default();
/// turn.push(&ModelEvent::Text("Hel".into()));
/// turn.push(&ModelEvent::Text("lo".into()));
/// assert_eq!(turn.message.text, "Hello");
/// assert!(turn.finish.is_none());
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Collected {
    /// Text, reasoning and calls so far; with its origin once the turn is finished.
    pub message: AssistantMessage,
    /// What it cost, if the provider tells.
    pub usage: Option<Usage>,
    /// Why the model stopped; absent while it has not.
    pub finish: Option<FinishReason>,
}

impl Collected {
    /// Adds the next event.
    pub fn push(&mut self, event: &ModelEvent) {
        match event {
            ModelEvent::Text(delta) => self.message.text.push_str(delta),
            ModelEvent::Reasoning(delta) => match self.message.reasoning.last_mut() {
                Some(last) => last.text.push_str(delta),
                None => self.message.reasoning.push(Reasoning {
                    text: delta.clone(),
                }),
            },
            ModelEvent::CallStarted { id, name, .. } => {
                let call = ToolCall {
                    id: id.clone(),
                    name: name.clone(),
                    arguments: String::new(),
                };
                self.message.calls.push(call);
            }
            ModelEvent::CallArguments { index, delta } => {
                if let Some(call) = self.message.calls.get_mut(*index) {
                    call.arguments.push_str(delta);
                }
            }
            ModelEvent::CallEnded { .. } => {}
            ModelEvent::Usage(usage) => self.usage = Some(usage.clone()),
            ModelEvent::Finished(finish) => {
                self.finish = Some(finish.reason.clone());
                self.message.origin.clone_from(&finish.origin);
            }
        }
    }
}
