//! Calling a provider over HTTP: one POST whose answer is a stream.
//!
//! This is the only part of the crate that does I/O. It knows no provider's format: a [`Wire`](crate::wire::Wire)
//! gives it the bytes to send and reads the bytes that come back.

mod call;
mod client;
mod endpoint;
mod model;
mod timing;

pub use client::client;
pub use endpoint::Endpoint;
pub use model::HttpModel;
pub use timing::{Retries, Timeouts};
