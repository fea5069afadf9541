//! How a command ends: exit codes, and the sentence for the person who gave it.

use std::fmt;
use std::process::ExitCode;

use crate::file::FileError;

/// A command that did what it was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It is done.
    Well,
    /// It was stopped by Ctrl-C.
    Interrupted,
    /// It found something wrong, and said so.
    Found(Code),
}

/// What kind of failure, as the exit code says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    /// It failed while running.
    Failed,
    /// It was used wrongly, or its file is invalid.
    Usage,
    /// It ended waiting for a person.
    Waiting,
    /// A server could not be reached.
    Unreachable,
}

/// A command that could not do what it was told.
#[derive(Debug)]
pub(crate) struct Failure {
    code: Code,
    message: String,
}

impl Failure {
    /// It failed while running.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self {
            code: Code::Failed,
            message: message.into(),
        }
    }

    /// It was used wrongly, or its file is invalid.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self {
            code: Code::Usage,
            message: message.into(),
        }
    }

    /// A server could not be reached.
    pub(crate) fn unreachable(message: impl Into<String>) -> Self {
        Self {
            code: Code::Unreachable,
            message: message.into(),
        }
    }

    /// It ended waiting for a person.
    pub(crate) fn waiting(message: impl Into<String>) -> Self {
        Self {
            code: Code::Waiting,
            message: message.into(),
        }
    }

    pub(crate) fn code(&self) -> Code {
        self.code
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(match code {
            Code::Failed => 1,
            Code::Usage => 2,
            Code::Waiting => 3,
            Code::Unreachable => 4,
        })
    }
}

impl From<Ended> for ExitCode {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Well => Self::SUCCESS,
            Ended::Interrupted => Self::from(130),
            Ended::Found(code) => code.into(),
        }
    }
}
