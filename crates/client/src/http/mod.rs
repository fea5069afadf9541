//! HTTP: the only files that know the client library.

mod address;
mod answer;
mod exchange;
mod failure;
mod headers;
mod transport;

pub(crate) use answer::{Answer, Wire};
pub(crate) use exchange::{Ask, BodyEnd, Exchange};
pub(crate) use headers::Headers;
pub(crate) use reqwest::Method;
pub(crate) use transport::Transport;

pub(crate) use address::Address;
