//! A model with a meter at it.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use antiphon_model::{Error, EventStream, Model, ModelEvent, Request};
use futures_util::Stream;
use tokio::time::Instant;

use super::Meter;

/// Counts the calls of a model and what comes of them.
#[derive(Debug)]
pub(crate) struct Metered {
    model: Arc<dyn Model>,
    meter: Arc<Meter>,
}

impl Metered {
    pub(crate) fn new(model: Arc<dyn Model>, meter: Arc<Meter>) -> Self {
        Self { model, meter }
    }
}

impl Model for Metered {
    fn provider(&self) -> &str {
        self.model.provider()
    }

    fn name(&self) -> &str {
        self.model.name()
    }

    fn stream(&self, request: &Request) -> EventStream {
        add(&self.meter.model_calls, 1);
        Box::pin(Listening {
            events: self.model.stream(request),
            meter: Arc::clone(&self.meter),
            since: Some(Instant::now()),
        })
    }
}

/// One call of a model.
struct Listening {
    events: EventStream,
    meter: Arc<Meter>,
    /// When the call began, until it says something.
    since: Option<Instant>,
}

impl Stream for Listening {
    type Item = Result<ModelEvent, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = ready!(self.events.as_mut().poll_next(cx));
        if let Some(event) = &event {
            self.hear(event);
        }
        Poll::Ready(event)
    }
}

impl Listening {
    fn hear(&mut self, event: &Result<ModelEvent, Error>) {
        let meter = &self.meter;
        match event {
            Ok(ModelEvent::Text(_) | ModelEvent::Reasoning(_)) => {}
            Ok(ModelEvent::CallStarted { .. }) => add(&meter.tool_calls, 1),
            Ok(ModelEvent::Usage(usage)) => {
                add(&meter.input_tokens, usage.input_tokens.unwrap_or(0));
                add(&meter.output_tokens, usage.output_tokens.unwrap_or(0));
                return;
            }
            Ok(_) => return,
            Err(_) => return add(&meter.model_failures, 1),
        }
        if let Some(since) = self.since.take() {
            meter.first_token.observe(since.elapsed());
        }
    }
}

fn add(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::Relaxed);
}
