//! What a tool's function may return, told apart by its type.

use std::fmt::Display;

use antiphon_agent::{ToolError, ToolOutput};
use serde::Serialize;

/// What a function returned. [`outcome`](Self::outcome) of a `Result` takes it apart; that of any
/// other value comes from [`Plain`], which method lookup considers second.
#[derive(Debug)]
pub struct Returned<T>(pub T);

impl<T, E> Returned<Result<T, E>> {
    /// The value, or the error as the model reads it.
    ///
    /// # Errors
    /// What the function failed with.
    pub fn outcome(self) -> Result<T, ToolError>
    where
        E: Reason,
    {
        self.0.map_err(ToolError::new)
    }
}

/// The outcome of a function that can't fail.
pub trait Plain {
    /// What it returned.
    type Value;

    /// The value.
    ///
    /// # Errors
    /// None.
    fn outcome(self) -> Result<Self::Value, ToolError>;
}

impl<T> Plain for Returned<T> {
    type Value = T;

    fn outcome(self) -> Result<T, ToolError> {
        Ok(self.0)
    }
}

/// An error that says in words what went wrong.
#[diagnostic::on_unimplemented(
    message = "a tool can't fail with `{Self}`: it is not `Display`",
    label = "the model reads this error, so it has to be `Display`"
)]
pub trait Reason: Display {}

impl<E: Display> Reason for E {}

/// A value that can be a tool's result. `How` keeps the two ways apart.
#[diagnostic::on_unimplemented(
    message = "a tool can't return `{Self}`",
    label = "neither `Serialize` nor a `ToolOutput`",
    note = "a tool returns a value that is `serde::Serialize`, a `ToolOutput`, or a `Result` of either"
)]
pub trait IntoOutput<How> {
    /// The result.
    ///
    /// # Errors
    /// When the value can't be written as JSON.
    fn into_output(self) -> Result<ToolOutput, ToolError>;
}

/// A value that is written as JSON.
#[derive(Debug)]
pub struct AsJson;

impl<T: Serialize> IntoOutput<AsJson> for T {
    fn into_output(self) -> Result<ToolOutput, ToolError> {
        ToolOutput::of(&self)
    }
}

/// An output as it is.
#[derive(Debug)]
pub struct AsIs;

impl IntoOutput<AsIs> for ToolOutput {
    fn into_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self)
    }
}

/// A tool's result.
///
/// # Errors
/// When the value can't be written as JSON.
pub fn output<How>(value: impl IntoOutput<How>) -> Result<ToolOutput, ToolError> {
    value.into_output()
}

/// What a private input returns.
#[diagnostic::on_unimplemented(
    message = "a private input can't return `{Self}`",
    label = "the model is told the declared response and nothing else",
    note = "a private input returns nothing, or a `Result` of nothing"
)]
pub trait Nothing {}

impl Nothing for () {}

/// Takes what a private input returned.
pub fn nothing<T: Nothing>(_: T) {}
