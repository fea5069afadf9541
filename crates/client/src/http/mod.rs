//! HTTP: the only files that know the client library.

mod address;
mod answer;
mod failure;
mod headers;
mod transport;

pub(crate) use answer::{Answer, Wire};
pub(crate) use headers::Headers;
pub(crate) use transport::Transport;

pub(crate) use address::Address;
