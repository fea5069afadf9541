//! A tool that a page would run: the person says what came of it.

use antiphon_client::ToolCall;
use serde_json::Value;

use super::{SHOWN_LINES, Said, show_arguments};
use crate::chat::console::{Console, Reply, Style, fold};

/// Asks for the result of a call.
pub(super) async fn ask(console: &mut Console, call: &ToolCall) -> Said<Value> {
    let name = fold(&call.function.name, 60);
    let line = format!("? the agent wants a page to run {name}; what is the result?");
    console.screen.line(Style::ASKING, &line);
    show_arguments(console, &call.function.arguments, SHOWN_LINES);
    loop {
        let prompt = "result as JSON or text, s skips > ";
        let line = match console.ask(prompt, Style::ASKING, "").await {
            Reply::Line(line) => line,
            Reply::Interrupted => return Said::Later,
            Reply::Ended => return Said::Nothing,
        };
        match line.trim() {
            "s" | "skip" => return Said::Nothing,
            "v" => {
                show_arguments(console, &call.function.arguments, usize::MAX);
            }
            "" => console.screen.line(Style::DIM, "Ctrl-C leaves it open"),
            text => match result(text) {
                Ok(result) => return Said::This(result),
                Err(why) => console.screen.line(Style::BAD, &why),
            },
        }
    }
}

/// Reads a result: JSON, or text that does not look like any.
fn result(text: &str) -> Result<Value, String> {
    match serde_json::from_str(text) {
        Ok(value) => Ok(value),
        Err(error) if text.starts_with(['{', '[', '"']) => Err(format!("that is no JSON: {error}")),
        Err(_) => Ok(Value::String(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_is_json_or_plain_text() {
        assert_eq!(result(r#"{"a": 1}"#), Ok(json!({ "a": 1 })));
        assert_eq!(result("true"), Ok(json!(true)));
        assert_eq!(result("blue sky"), Ok(json!("blue sky")));
        assert!(
            result(r#"{"a":"#)
                .unwrap_err()
                .starts_with("that is no JSON")
        );
    }
}
