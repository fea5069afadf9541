//! A model that plays a script: for demos without a key, and for tests.
//!
//! It is no imitation of intelligence. It looks at the last user message and at the tool results since, takes the
//! first turn of its script that fits, and streams it in fragments at a pace that a person can watch, through the
//! same events as every other model.
//!
//! # The script
//! ```yaml
#![doc = include_str!("example.yaml")]
//! ```
//!
//! # Which turn is played
//! The first one whose conditions all hold. After tool results only what followed the last user message counts: then
//! a turn needs `after_tool`, `result` or a `turn` above 1 to be played, so that a turn with calls is followed by its closing
//! words and not by itself. Where no turn fits, the model says so, or `Done.` after results.
//!
//! | condition | holds when |
//! |---|---|
//! | `user` | the last user message contains the text, or one of the texts, in upper or lower case |
//! | `after_tool` | one of the latest results is this tool's; `*` is any tool's |
//! | `result` | the last result contains the text, or one of the texts, in upper or lower case |
//! | `tool_offered` | the request offers this tool |
//! | `turn` | this is the n-th answer to the last user message, counted from 1 |
//!
//! `{{user}}` becomes the text of the last user message and `{{result}}` that of the last tool result, in `think`,
//! `say` and the strings of `arguments`.

mod description;
mod duration;
mod play;
mod select;

pub use description::{
    Arguments, Fail, FailKind, FinishWord, Script, ScriptCall, ScriptTurn, When,
};
pub use play::ScriptModel;
