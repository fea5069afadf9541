//! One error for whatever goes wrong while a program sets itself up.

use std::error::Error as StdError;
use std::fmt;

/// Any error, made by `?` from whatever a function of this crate, or of any other, failed with.
///
/// It reads as a sentence, also where `main` returns it:
///
/// ```
/// use antiphon::prelude::*;
///
/// fn number(text: &str) -> Result<u32> {
///     Ok(text.parse()?)
/// }
///
/// let error = number("x").unwrap_err();
/// assert_eq!(format!("{error:?}"), "invalid digit found in string");
/// ```
pub struct Error(Box<dyn StdError + Send + Sync>);

/// A result whose error is, unless named, an [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The error that it was made from.
    #[must_use]
    pub fn get_ref(&self) -> &(dyn StdError + Send + Sync + 'static) {
        &*self.0
    }
}

// `Error` is no `std::error::Error` itself: then this conversion could not be for all of them.
impl<E: StdError + Send + Sync + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        Self(Box::new(error))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Writes what `Display` writes, and then the causes: `main` prints its error this way.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut said = self.0.to_string();
        let mut cause = self.0.source();
        while let Some(error) = cause {
            let text = error.to_string();
            // Many errors already repeat what their cause says.
            if !said.contains(&text) {
                write!(f, ": {text}")?;
                said = text;
            }
            cause = error.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::Error;

    #[derive(Debug, thiserror::Error)]
    #[error("the file can't be read")]
    struct Unreadable(#[source] io::Error);

    #[test]
    fn causes_are_told_once() {
        let error = Error::from(Unreadable(io::Error::other("no such file")));
        assert_eq!(error.to_string(), "the file can't be read");
        assert_eq!(format!("{error:?}"), "the file can't be read: no such file");
    }
}
