//! Plays whole conversations against the `antiphon` binary.
//!
//! Everything here is black box: a real process, real sockets, a fake model provider. A
//! [`home`](binary::Home) holds an agent file and a store, a [`Provider`](provider::Provider)
//! answers as the model and as the HTTP tools, a [`Play`](play::Play) is one thread of one
//! client against one server, and every stream that comes back is [judged](rules).
//!
//! The cases under `tests/cases` are data: [`case`] reads them, [`flow`] plays the declarative
//! ones, [`steps`] holds the ones that need code.

#![expect(
    clippy::must_use_candidate,
    reason = "a test uses what it asks for, or the compiler says that it is dead"
)]

pub mod agent;
pub mod binary;
pub mod case;
pub mod client;
pub mod expect;
pub mod flow;
pub mod http;
pub mod json;
pub mod play;
pub mod provider;
pub mod rules;
pub mod run;
pub mod secret;
pub mod states;
pub mod steps;
pub mod stream;
pub mod told;
pub mod upstream;
