//! Waiting for people, pages and other systems, over HTTP with two users: what must be refused is
//! refused by name, whole, and without a trace; what counts, counts once.
//!
//! Tests of an attack or a fault begin with its number, such as `a5` for a forged approval.
//! Questions that tool code asks are not here: only a program that embeds the server has them.

mod dialects;
mod elsewhere;
mod forged;
mod kept;
mod late;
mod partial;
mod stage;
