//! The AG-UI vocabulary: events, messages, run input, codecs, verifier and replica. No I/O.
