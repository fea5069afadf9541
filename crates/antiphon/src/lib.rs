//! The AG-UI agent server as a library.
