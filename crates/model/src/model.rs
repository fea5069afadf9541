//! The trait that every language model implements.

use std::{fmt, pin::Pin, sync::Arc};

use futures_core::Stream;

use crate::{Error, ModelEvent, Request};

/// One model call in progress: events until [`ModelEvent::Finished`] or one error, then the end.
///
/// Dropping it cancels the call.
pub type EventStream = Pin<Box<dyn Stream<Item = Result<ModelEvent, Error>> + Send>>;

/// A language model that can be called.
///
/// Implementations are cheap to call from many tasks at once. The stream they return keeps the guarantees listed at
/// [`ModelEvent`].
pub trait Model: Send + Sync + fmt::Debug + 'static {
    /// The provider's name, such as `openai`. It tags what only this provider understands.
    fn provider(&self) -> &str;

    /// The model's name in the provider's words, such as `gpt-5-mini`.
    fn name(&self) -> &str;

    /// Starts one model call. Nothing is sent before the stream is polled; dropping the stream cancels the call.
    fn stream(&self, request: &Request) -> EventStream;
}

impl<M: Model + ?Sized> Model for Arc<M> {
    fn provider(&self) -> &str {
        (**self).provider()
    }

    fn name(&self) -> &str {
        (**self).name()
    }

    fn stream(&self, request: &Request) -> EventStream {
        (**self).stream(request)
    }
}
