//! May it be done? Yes, no, or neither; or done otherwise.

use antiphon_client::{Answer, Question};
use serde_json::Value;

use super::{SHOWN_LINES, edit, show_arguments};
use crate::chat::console::{Console, Reply, Style, fold};

/// Asks for an approval; `None`: it is left open. Enter alone approves nothing.
pub(super) async fn ask(console: &mut Console, question: &Question) -> Option<Answer> {
    let call = question.call().map(|call| &call.function);
    if let Some(function) = call {
        let name = fold(&function.name, console.screen.width());
        console.screen.indented(Style::BOLD, &name);
        show_arguments(console, &function.arguments, SHOWN_LINES);
    }
    let edits = call.filter(|_| question.is_editable());
    let prompt = match edits {
        Some(_) => "y approves, n declines, e edits, c cancels > ",
        None => "y approves, n declines, c cancels > ",
    };
    loop {
        let said = match console.ask(prompt, Style::ASKING, "").await {
            Reply::Line(said) => said.trim().to_lowercase(),
            Reply::Interrupted | Reply::Ended => return None,
        };
        match (said.as_str(), call) {
            ("y" | "yes", _) => return Some(question.approve()),
            ("n" | "no", _) if !question.takes_reason() => return Some(question.decline("")),
            ("n" | "no", _) => {
                if let Some(reason) = reason(console).await {
                    return Some(question.decline(reason));
                }
            }
            ("c" | "cancel", _) => return Some(question.cancel()),
            ("v", Some(function)) => {
                show_arguments(console, &function.arguments, usize::MAX);
            }
            ("e", Some(function)) if edits.is_some() => {
                if let Some(arguments) = edited(console, &function.arguments).await {
                    return Some(question.edit(arguments));
                }
            }
            _ => console
                .screen
                .line(Style::DIM, "please type y, n or c; Ctrl-C leaves it open"),
        }
    }
}

async fn reason(console: &mut Console) -> Option<String> {
    match console
        .ask("why not? (may stay empty) > ", Style::ASKING, "")
        .await
    {
        Reply::Line(reason) => Some(reason.trim().to_owned()),
        Reply::Interrupted | Reply::Ended => None,
    }
}

/// Other arguments; they are shown once more before they are approved.
async fn edited(console: &mut Console, arguments: &str) -> Option<Value> {
    let edited = edit::json(console, arguments).await?;
    show_arguments(console, &edited.to_string(), usize::MAX);
    let prompt = "approve with these arguments? y/n > ";
    match console.ask(prompt, Style::ASKING, "").await {
        Reply::Line(said) if matches!(said.trim(), "y" | "yes") => Some(edited),
        _ => None,
    }
}
