//! How the vocabulary is written and read.
//!
//! Writing is strict: camelCase, optional members without a value left out and never null.
//! Reading is tolerant where the protocol says so ([`Reader`]). Types are declared once, with
//! the macros of [`object`], and get their struct, constructor, serializer and reader from there.

pub(crate) mod object;
mod reader;
mod scalar;

pub(crate) use reader::{Fault, Manners, Object, Presence, Reader, Reading};
pub use reader::{FieldError, Read, Warning};

use serde_json::Value;

/// What can be a member of a wire object.
pub(crate) trait Wire: Sized {
    /// Whether null in an optional slot is read as absent, with a warning. It is where peers
    /// are known to send it; elsewhere null is malformed.
    const NULL_IS_ABSENT: bool = false;

    /// Reads a value that is present.
    fn from_wire(value: Value, reader: &mut Reader) -> Reading<Self>;

    /// Returns whether this would be written as null, which no optional member may be.
    fn is_null(&self) -> bool {
        false
    }
}

/// Reads a value for `serde::Deserialize`: warnings are dropped, unknown members of required
/// unions are errors.
pub(crate) fn deserialize<'de, T: Wire, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    let value = <Value as serde::Deserialize>::deserialize(deserializer)?;
    let mut reader = Reader::new(Manners::Event);
    T::from_wire(value, &mut reader).map_err(|fault| match fault {
        Fault::Malformed(error) => serde::de::Error::custom(error),
        Fault::Unknown => serde::de::Error::custom("unknown variant"),
    })
}
