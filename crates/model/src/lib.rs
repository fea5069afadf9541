//! Language models: one trait, one stream of events, provider wires as codecs without I/O.
