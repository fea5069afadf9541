//! Tools that are HTTP calls: a [template](Template) from the file, filled with a call's arguments.
//!
//! The file alone says where a call goes. Arguments are percent-encoded, stand after the host, and
//! can't climb out of the path; redirects stay on the host. Each call carries an `Idempotency-Key`
//! that is the same whenever the same call is made again.

mod call;
mod handler;
mod placeholder;
mod template;

pub(crate) use handler::{HttpTool, PrivateDelivery};
pub(crate) use placeholder::names_in;
pub(crate) use template::{Template, Wrong};

#[cfg(test)]
mod tests;
