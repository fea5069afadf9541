//! Where a server listens, and who said so: an option, or a file, whose errors have a place.

use crate::failure::Failure;
use crate::file::{AgentFile, KeyPath};

/// Where a file that does not say so is served.
const LISTEN: &str = "127.0.0.1:8888";

/// An address to listen on.
#[derive(Debug)]
pub(crate) struct Address<'a> {
    /// The address.
    pub(crate) text: &'a str,
    /// The file that it comes from; none for an option.
    file: Option<&'a AgentFile>,
}

impl<'a> Address<'a> {
    /// The one of `--listen`.
    pub(crate) fn of_option(text: &'a str) -> Self {
        Self { text, file: None }
    }

    /// The option, else the file, else the usual address.
    pub(crate) fn new(file: &'a AgentFile, option: Option<&'a str>) -> Self {
        match option {
            Some(text) => Self::of_option(text),
            None => Self {
                text: file.document.listen.as_deref().unwrap_or(LISTEN),
                file: Some(file),
            },
        }
    }

    /// How it is printed: without what a variable filled in.
    pub(crate) fn shown(&self) -> String {
        match self.file {
            Some(file) if file.is_filled(&key()) => "the address of the variable".to_owned(),
            _ => self.text.to_owned(),
        }
    }

    /// An error about the address as it is written.
    pub(crate) fn wrong(&self, what: &str) -> Failure {
        match self.file {
            Some(file) => file.error(key(), what).into(),
            None => Failure::usage(format!("--listen: {what}")),
        }
    }

    /// The error of an address that names no place, if it is one.
    ///
    /// # Errors
    /// It is no HOST:PORT.
    pub(crate) fn checked(&self) -> Result<(), Failure> {
        match unusable(self.text) {
            None => Ok(()),
            Some(what) => Err(self.wrong(&what)),
        }
    }

    /// An error about an address whose host is not known.
    pub(crate) fn unknown_host(&self) -> Failure {
        let shown = self.shown();
        self.wrong(&format!(
            "the host of {shown} is not known; write it as HOST:PORT, such as {LISTEN}"
        ))
    }
}

fn key() -> KeyPath {
    KeyPath::default().key("listen")
}

/// What is wrong with a text that is to be HOST:PORT. It is not quoted, as a variable may have filled it
/// in.
pub(crate) fn unusable(text: &str) -> Option<String> {
    let what = match text.rsplit_once(':') {
        _ if text.trim().is_empty() => "the address is empty",
        _ if text.contains('/') => "this is a URL or a path",
        None => "the port is missing",
        Some((host, _))
            if host.contains(':') && !(host.starts_with('[') && host.ends_with(']')) =>
        {
            "an IPv6 address stands in brackets, as in [::1]:8888"
        }
        Some(("", _)) => "the host is missing",
        Some((_, port)) => match port.parse::<u16>() {
            Ok(_) => return None,
            Err(_) => "the port is no number from 0 to 65535",
        },
    };
    Some(format!("{what}; write it as HOST:PORT, such as {LISTEN}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_host_and_a_port() {
        for good in ["127.0.0.1:0", "localhost:8888", "[::1]:65535", "0.0.0.0:80"] {
            assert_eq!(unusable(good), None, "{good}");
        }
        for (wrong, says) in [
            ("", "the address is empty"),
            ("foo", "the port is missing"),
            ("127.0.0.1", "the port is missing"),
            ("127.0.0.1:99999", "the port is no number from 0 to 65535"),
            ("127.0.0.1:", "the port is no number"),
            ("127.0.0.1:http", "the port is no number"),
            (":8888", "the host is missing"),
            ("::1", "an IPv6 address stands in brackets"),
            ("http://127.0.0.1:8888", "this is a URL"),
        ] {
            let what = unusable(wrong).unwrap();
            assert!(what.starts_with(says), "{wrong}: {what}");
            assert!(what.ends_with("such as 127.0.0.1:8888"), "{what}");
        }
    }
}
