//! The AG-UI agent server as a library.

#[doc(hidden)]
pub mod __private;
mod error;
pub mod prelude;
mod secret;

pub use antiphon_agent::*;
pub use antiphon_macros::{client_tool, private_input, tool};
pub use antiphon_model as model;
pub use antiphon_model::{Model, OpenAi};
pub use antiphon_protocol as protocol;
pub use error::{Error, Result};
pub use secret::Secret;
