//! `antiphon schema`: the JSON Schema of agent files.

use std::io::Write;

use crate::failure::{Ended, Failure};
use crate::file::Document;

/// Prints the schema, made from the same types that read a file.
///
/// # Errors
/// Standard output can't be written.
pub(crate) fn print() -> Result<Ended, Failure> {
    let schema = schemars::schema_for!(Document);
    let mut out = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &schema)
        .map_err(std::io::Error::from)
        .and_then(|()| writeln!(out))
        .map_err(|error| Failure::failed(format!("standard output can't be written: {error}")))?;
    Ok(Ended::Well)
}
