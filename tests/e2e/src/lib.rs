//! Plays whole conversations against the `antiphon` binary.
