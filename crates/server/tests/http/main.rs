//! The server as its clients see it: real sockets, every byte.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod access;
mod answers;
mod edge;
mod embedded;
mod identity;
mod leaving;
mod operation;
mod rejoin;
mod responses;
mod runs;
mod sessions;
mod shutdown;
mod streams;
mod support;
mod two_users;
mod waits;
