//! The server as its clients see it: real sockets, every byte.

mod leaving;
mod rejoin;
mod runs;
mod support;
