//! A model whose every word comes from the test.

use std::sync::Arc;

use antiphon_model::{EventStream, Finish, FinishReason, Model, ModelEvent, Request};
use futures_util::stream::unfold;
use tokio::sync::{Mutex, mpsc};

use super::within;

/// A model that waits for the test at each call.
#[derive(Debug, Clone)]
pub(crate) struct Puppet {
    calls: mpsc::UnboundedSender<Call>,
}

/// Where the test takes the calls.
#[derive(Clone)]
pub(crate) struct Strings {
    calls: Arc<Mutex<mpsc::UnboundedReceiver<Call>>>,
}

/// One model call.
#[derive(Debug)]
pub(crate) struct Call {
    events: mpsc::UnboundedSender<ModelEvent>,
}

pub(crate) fn puppet() -> (Puppet, Strings) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let calls = Arc::new(Mutex::new(receiver));
    (Puppet { calls: sender }, Strings { calls })
}

impl Model for Puppet {
    fn provider(&self) -> &str {
        "test"
    }

    fn name(&self) -> &str {
        "puppet"
    }

    fn stream(&self, _: &Request) -> EventStream {
        let (events, receiver) = mpsc::unbounded_channel();
        let _ = self.calls.send(Call { events });
        Box::pin(unfold(Some(receiver), |receiver| async move {
            let mut receiver = receiver?;
            let event = receiver.recv().await?;
            let is_last = matches!(event, ModelEvent::Finished(_));
            Some((Ok(event), (!is_last).then_some(receiver)))
        }))
    }
}

impl Strings {
    /// The next call of the model.
    pub(crate) async fn call(&self) -> Call {
        within(async { self.calls.lock().await.recv().await })
            .await
            .expect("the model lives")
    }

    /// Whether the model was called and nobody took the call yet.
    pub(crate) async fn is_called(&self) -> bool {
        !self.calls.lock().await.is_empty()
    }
}

impl Call {
    pub(crate) fn say(&self, text: &str) {
        let _ = self.events.send(ModelEvent::Text(text.to_owned()));
    }

    pub(crate) fn use_tool(&self, id: &str, name: &str, arguments: &str) {
        let index = 0;
        for event in [
            ModelEvent::CallStarted {
                index,
                id: id.to_owned(),
                name: name.to_owned(),
            },
            ModelEvent::CallArguments {
                index,
                delta: arguments.to_owned(),
            },
            ModelEvent::CallEnded { index },
        ] {
            let _ = self.events.send(event);
        }
        self.finish_with(FinishReason::ToolCalls);
    }

    pub(crate) fn finish(&self) {
        self.finish_with(FinishReason::Stop);
    }

    fn finish_with(&self, reason: FinishReason) {
        let origin = None;
        let _ = self
            .events
            .send(ModelEvent::Finished(Finish { reason, origin }));
    }

    /// Waits until the run has dropped the call.
    pub(crate) async fn dropped(&self) {
        within(self.events.closed()).await;
    }

    pub(crate) fn is_dropped(&self) -> bool {
        self.events.is_closed()
    }
}

/// A model that says the same words each time, one event for each.
#[derive(Debug, Clone)]
pub(crate) struct Parrot(Vec<String>);

impl Parrot {
    pub(crate) fn new(text: &str) -> Self {
        Self(text.split_inclusive(' ').map(str::to_owned).collect())
    }
}

impl Model for Parrot {
    fn provider(&self) -> &str {
        "test"
    }

    fn name(&self) -> &str {
        "parrot"
    }

    fn stream(&self, _: &Request) -> EventStream {
        let finish = ModelEvent::Finished(Finish {
            reason: FinishReason::Stop,
            origin: None,
        });
        let words = self.0.clone().into_iter().map(ModelEvent::Text);
        let events = words.chain([finish]).map(Ok);
        Box::pin(futures_util::stream::iter(events.collect::<Vec<_>>()))
    }
}
