//! Server-sent events as a push decoder, without I/O.
