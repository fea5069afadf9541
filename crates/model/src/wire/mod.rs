//! Provider wires: how a request becomes bytes and how bytes become events, without I/O.
//!
//! A wire is a pure encoder and a pure decoder. The HTTP side ([`HttpModel`](crate::http::HttpModel)) is the same for
//! all of them, and [`Turn`] keeps the promises of [`ModelEvent`] for all of them, so that a new wire only has to
//! read its provider's format.

mod completeness;
mod ids;
mod limits;
pub mod openai;
mod results;
mod turn;

use std::fmt;

pub use ids::CallIds;
pub use limits::Limits;
pub use turn::Turn;

use crate::{Error, ModelEvent, Request};

/// One provider's format.
pub trait Wire: fmt::Debug + Send + Sync + 'static {
    /// Reads one answer.
    type Decoder: Decode + Send + 'static;

    /// The provider's name, such as `openai`.
    fn provider(&self) -> &str;

    /// The model that a request asks for.
    fn model(&self) -> &str;

    /// The body of the request.
    fn encode(&self, request: &Request) -> Vec<u8>;

    /// A decoder for the answer to this request.
    fn decoder(&self, request: &Request) -> Self::Decoder;

    /// Reads the body of an answer with an error status, or of a successful one that is no stream. `None` if it says
    /// nothing more than the status does.
    fn failure(&self, body: &[u8]) -> Option<Error>;
}

/// A decoder of one answer: bytes in, events out.
///
/// Give it bytes with [`push`](Self::push), take events with [`next_event`](Self::next_event) until that returns `None`, and tell
/// it the end of the body with [`finish`](Self::finish). It keeps the guarantees of [`ModelEvent`].
pub trait Decode {
    /// Takes the next bytes of the body.
    fn push(&mut self, bytes: &[u8]);

    /// Marks the end of the body.
    fn finish(&mut self);

    /// The next event. `None` means that more bytes are needed or, after `Finished` or an error, that nothing follows.
    fn next_event(&mut self) -> Option<Result<ModelEvent, Error>>;

    /// Whether the provider's finish has been read: if the body ends now, however it ends, the turn is whole.
    fn is_settled(&self) -> bool;
}
