//! What the page sent with a request, told to the model: a line that the model can read back.

use antiphon::model::{Message, Request};
use antiphon::prelude::*;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

/// How the line begins.
const MARK: &str = "The page shows: ";

/// What of a request's data the model speaks about.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// The keys of the shared state, in order.
    pub(crate) state: Vec<String>,
    /// The names of the page's tools.
    pub(crate) tools: Vec<String>,
    /// How many pieces of context there are.
    pub(crate) context: usize,
    /// The answer to a question that was asked in the old way.
    pub(crate) resume: Option<Value>,
}

/// Tells the model what the page sent.
pub(crate) fn provide(run: RunContext<'_>) -> BoxFuture<'_, Result<Option<String>, ToolError>> {
    let told = seen(run).and_then(|seen| {
        let line = serde_json::to_string(&seen).map_err(ToolError::new)?;
        Ok(Some(format!("{MARK}{line}")))
    });
    std::future::ready(told).boxed()
}

fn seen(run: RunContext<'_>) -> Result<Seen, ToolError> {
    let input = run.input();
    let state: serde_json::Map<String, Value> = run.state().get()?;
    let mut keys: Vec<String> = state.into_iter().map(|(key, _)| key).collect();
    keys.sort();
    let props = input.forwarded_props.as_ref();
    Ok(Seen {
        state: keys,
        tools: input.tools.iter().map(|tool| tool.name.clone()).collect(),
        context: input.context.len(),
        resume: props
            .and_then(|props| props.pointer("/command/resume"))
            .cloned(),
    })
}

impl Seen {
    /// Reads the line back from what the model was sent.
    pub(crate) fn of(request: &Request) -> Self {
        let texts = request
            .messages
            .iter()
            .rev()
            .filter_map(|message| match message {
                Message::User { content } => Some(content.iter().filter_map(|part| part.as_text())),
                Message::Assistant(_) | Message::ToolResult { .. } => None,
            });
        let line = texts
            .flatten()
            .flat_map(str::lines)
            // The data of a run is quoted, line by line.
            .find_map(|line| line.trim_start_matches("| ").strip_prefix(MARK));
        line.and_then(|line| serde_json::from_str(line).ok())
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_read_back_from_among_the_messages() {
        let seen = Seen {
            tools: vec!["paint".to_owned()],
            context: 2,
            ..Seen::default()
        };
        let line = format!(
            "[Data]\n| {MARK}{}\n[End]",
            serde_json::to_string(&seen).unwrap()
        );
        let messages = vec![Message::user(line), Message::user("hello")];
        let request = Request {
            messages,
            ..Request::default()
        };
        assert_eq!(Seen::of(&request), seen);
        assert_eq!(Seen::of(&Request::default()), Seen::default());
    }
}
