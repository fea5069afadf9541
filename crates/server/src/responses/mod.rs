//! Responses: runs by their other name, for clients that speak no AG-UI.
//!
//! A response is what one user message led to. It has an id of the server's own and may span several
//! runs: the one that stopped to ask and those that went on with the answers. Everything here is told
//! from what is stored or from the run's own events, so a response looks the same while its client
//! waits, afterwards, and after a restart.

mod action;
mod item;
mod live;
mod receipt;
mod stream;
mod tale;

pub(crate) use live::{end, record};
pub(crate) use receipt::receipt;
pub(crate) use stream::stream;
