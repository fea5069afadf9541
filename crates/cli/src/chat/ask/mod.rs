//! Asking the person what the agent asks.

mod approval;
mod call;
mod edit;
mod field;
mod form;

use antiphon_client::{Answer, Question, ToolCall};
use serde_json::Value;

use super::console::{Console, Style, clean, fold};

/// How many lines of arguments are shown before the person asks for more.
const SHOWN_LINES: usize = 40;

/// What a person says to a question.
#[derive(Debug)]
enum Said<T> {
    This(T),
    /// They give it up.
    Nothing,
    /// They leave it open.
    Later,
}

impl<T> Said<T> {
    fn map<U>(self, change: impl FnOnce(T) -> U) -> Said<U> {
        match self {
            Self::This(value) => Said::This(change(value)),
            Self::Nothing => Said::Nothing,
            Self::Later => Said::Later,
        }
    }
}

/// Asks all questions; `None`: the person left them open, and nothing is answered.
pub(super) async fn questions(
    console: &mut Console,
    questions: &[Question],
) -> Option<Vec<Answer>> {
    // What was typed before a question was there is no answer to it.
    console.forget_keys().await;
    let mut answers = Vec::with_capacity(questions.len());
    for question in questions {
        answers.push(one(console, question).await?);
    }
    Some(answers)
}

/// Asks for the results of calls that the agent left to this client, a result for each call and
/// `None` for one that is skipped; `None` for all: the person left them open.
pub(super) async fn calls(console: &mut Console, calls: &[ToolCall]) -> Option<Vec<Option<Value>>> {
    console.forget_keys().await;
    let mut results = Vec::with_capacity(calls.len());
    for call in calls {
        match call::ask(console, call).await {
            Said::This(result) => results.push(Some(result)),
            Said::Nothing => results.push(None),
            Said::Later => return None,
        }
    }
    Some(results)
}

async fn one(console: &mut Console, question: &Question) -> Option<Answer> {
    if question.is_client_tool()
        && let Some(call) = question.call()
    {
        return match call::ask(console, call).await {
            Said::This(result) => Some(question.answer(result)),
            Said::Nothing => Some(question.cancel()),
            Said::Later => None,
        };
    }
    console
        .screen
        .line(Style::ASKING, &format!("? {}", asked(question)));
    if let Some(line) = question.expires_at().and_then(expiry) {
        console.screen.indented(Style::DIM, &line);
    }
    if is_approval(question) {
        return approval::ask(console, question).await;
    }
    match form::ask(console, question).await {
        Said::This(value) => Some(question.answer(value)),
        Said::Nothing => Some(question.cancel()),
        Said::Later => None,
    }
}

/// What is asked, in the agent's words where it has any.
fn asked(question: &Question) -> String {
    let tool = question.call().map(|call| fold(&call.function.name, 60));
    match (question.message(), tool) {
        (Some(message), _) => message.to_owned(),
        (None, Some(tool)) if question.is_private() => format!("{tool} asks for a private value"),
        (None, Some(tool)) => format!("{tool} asks"),
        (None, None) => format!("the agent asks ({})", question.reason()),
    }
}

fn is_approval(question: &Question) -> bool {
    let properties = question
        .schema()
        .and_then(|schema| schema.get("properties"));
    let named = |name| properties.is_some_and(|properties| properties.get(name).is_some());
    // A form may have a field "accepted", for terms and the like; about a call it is the decision.
    let about_call = question.reason() == "tool_call";
    !question.is_private()
        && (named("approved") || (about_call && (properties.is_none() || named("accepted"))))
}

/// Shows a call's arguments, whole or their first lines. Returns whether that is all of them.
fn show_arguments(console: &mut Console, arguments: &str, lines: usize) -> bool {
    let value = serde_json::from_str::<Value>(arguments);
    let pretty = value.map_or_else(|_| arguments.to_owned(), |value| format!("{value:#}"));
    let pretty = clean(&pretty);
    console.screen.set_indent(2);
    for line in pretty.lines().take(lines) {
        console.screen.verbatim(Style::PLAIN, line);
        console.screen.newline();
    }
    let more = pretty.lines().count().saturating_sub(lines);
    if more > 0 {
        let line = format!("… {more} more lines; v shows all");
        console.screen.line(Style::DIM, &line);
    }
    console.screen.set_indent(0);
    more == 0
}

/// When a question lapses, from now.
fn expiry(at: &str) -> Option<String> {
    let at: jiff::Timestamp = at.parse().ok()?;
    let left = at.duration_since(jiff::Timestamp::now());
    let left = std::time::Duration::try_from(left).ok()?;
    Some(format!("lapses in {}", super::view::seconds(left)))
}
