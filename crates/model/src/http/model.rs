//! A model behind an HTTP endpoint.

use std::sync::Arc;

use futures_util::stream;

use super::{Endpoint, call::Call};
use crate::{Error, EventStream, Model, Request, wire::Wire};

/// A model that is reached over HTTP and speaks the wire `W`.
#[derive(Debug, Clone)]
pub struct HttpModel<W> {
    wire: W,
    /// A wrong set-up is reported by each call, so that making a model cannot fail.
    endpoint: Result<Arc<Endpoint>, Error>,
}

impl<W: Wire> HttpModel<W> {
    /// A model that speaks `wire` at an endpoint; the error of an endpoint that could not be made comes back from
    /// each call.
    #[must_use]
    pub fn new(wire: W, endpoint: Result<Endpoint, Error>) -> Self {
        Self {
            wire,
            endpoint: endpoint.map(Arc::new),
        }
    }

    /// Whether calls can be made at all. Sends nothing.
    ///
    /// # Errors
    /// [`ErrorKind::Setup`](crate::ErrorKind::Setup) for a wrong URL or header.
    pub fn check(&self) -> Result<(), Error> {
        self.endpoint.as_ref().map(|_| ()).map_err(Clone::clone)
    }
}

impl<W: Wire + Clone> Model for HttpModel<W> {
    fn provider(&self) -> &str {
        self.wire.provider()
    }

    fn name(&self) -> &str {
        self.wire.model()
    }

    fn stream(&self, request: &Request) -> EventStream {
        match &self.endpoint {
            Ok(endpoint) => {
                let call = Box::new(Call::new(endpoint.clone(), self.wire.clone(), request));
                Box::pin(stream::unfold(call, async |mut call| {
                    let item = call.next_event().await?;
                    Some((item, call))
                }))
            }
            Err(error) => Box::pin(stream::iter([Err(error.clone())])),
        }
    }
}
