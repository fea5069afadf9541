//! The first events of a run.

use antiphon_protocol::{
    Custom, Event, MessagesSnapshot, PROTOCOL_VERSION, RunStarted, StateSnapshot, ToolCallResult,
};

use super::{Purpose, Run};
use crate::context::RunContext;
use crate::failpoint;

impl Run {
    /// Says that the run has begun. Nothing else ever comes first.
    pub(super) fn announce(&self) {
        self.start_middleware();
        self.emitter
            .emit(run_started(&self.record.key.thread, &self.record.run_id));
    }

    /// Says what of the thread the page does not know.
    pub(super) fn begin(&mut self) {
        failpoint::reach("run.announced");
        if self.purpose == Purpose::Open {
            return self.show_thread();
        }
        if !self.agent.settings.mappings.predictions.is_empty() {
            self.emitter.emit(Custom::new(
                "PredictState",
                self.agent.settings.mappings.announcement(),
            ));
        }
        for message in std::mem::take(&mut self.told) {
            self.emitter.emit(ToolCallResult::new(
                message.id,
                message.tool_call_id,
                message.content,
            ));
        }
        self.restate(true);
    }

    fn start_middleware(&self) {
        let middleware = &self.agent.settings.middleware;
        if middleware.is_empty() {
            return;
        }
        let scope = self.scope(
            None,
            String::new(),
            std::sync::Arc::new(self.shared.committed().clone()),
        );
        let begin = |layer: &std::sync::Arc<dyn crate::middleware::Middleware>| {
            layer.begin(RunContext::new(&scope))
        };
        self.emitter.filter(middleware.iter().map(begin).collect());
    }

    /// The whole thread, also where it is still empty.
    fn show_thread(&self) {
        self.emitter.emit(StateSnapshot::new(self.shared.view()));
        self.emitter
            .emit(MessagesSnapshot::new(self.conversation.messages()));
    }
}

/// RUN_STARTED with the protocol version that we speak.
pub(super) fn run_started(thread_id: &str, run_id: &str) -> Event {
    let mut started = RunStarted::new(thread_id, run_id);
    started.protocol_version = Some(PROTOCOL_VERSION.to_owned());
    started.into()
}
