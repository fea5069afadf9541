//! Which turn of a script answers a request, and what its placeholders stand for.

use serde_json::Value;

use super::{Script, ScriptTurn, When};
use crate::{Message, Part, Request};

/// What a script looks at in a request.
#[derive(Debug, Default)]
pub(super) struct Scene<'a> {
    /// The text of the last user message.
    user: String,
    /// Tools of the results that followed the latest answer.
    latest: Vec<&'a str>,
    /// The text of the last result since the user message.
    result: String,
    /// The number of the answer to be given since the user message, from 1.
    turn: usize,
    tools: Vec<&'a str>,
}

impl<'a> Scene<'a> {
    pub(super) fn of(request: &'a Request) -> Self {
        let mut scene = Self {
            turn: 1,
            tools: request
                .tools
                .iter()
                .map(|tool| tool.name.as_str())
                .collect(),
            ..Self::default()
        };
        for message in &request.messages {
            match message {
                Message::User { content } => {
                    scene = Self {
                        user: text_of(content),
                        turn: 1,
                        tools: scene.tools,
                        ..Self::default()
                    };
                }
                Message::Assistant(_) => {
                    scene.turn += 1;
                    scene.latest.clear();
                }
                Message::ToolResult { name, content, .. } => {
                    scene.latest.push(name);
                    scene.result = text_of(content);
                }
            }
        }
        scene
    }

    /// The first turn that fits.
    pub(super) fn choose<'s>(&self, script: &'s Script) -> Option<&'s ScriptTurn> {
        script.turns.iter().find(|turn| self.fits(&turn.when))
    }

    /// Whether results wait for an answer.
    pub(super) fn is_after_tools(&self) -> bool {
        !self.latest.is_empty()
    }

    fn fits(&self, when: &When) -> bool {
        let turn_fits = when.turn.is_none_or(|turn| turn == self.turn);
        // Without this, a turn with calls would answer its own results for ever.
        let speaks_of_results = when.after_tool.is_some()
            || !when.result.is_empty()
            || when.turn.is_some_and(|turn| turn > 1);
        turn_fits
            && (speaks_of_results || !self.is_after_tools())
            && contains_one(&self.user, &when.user)
            && contains_one(&self.result, &when.result)
            && when
                .after_tool
                .as_deref()
                .is_none_or(|tool| self.is_after(tool))
            && when
                .tool_offered
                .as_deref()
                .is_none_or(|tool| self.tools.contains(&tool))
    }

    fn is_after(&self, tool: &str) -> bool {
        if tool == "*" {
            self.is_after_tools()
        } else {
            self.latest.contains(&tool)
        }
    }

    /// Text with its placeholders filled in. What they stand for is not searched again.
    pub(super) fn fill(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            filled.push_str(before);
            let known = [("user}}", &self.user), ("result}}", &self.result)];
            let found = known
                .into_iter()
                .find_map(|(name, value)| Some((after.strip_prefix(name)?, value)));
            match found {
                Some((remaining, value)) => {
                    filled.push_str(value);
                    rest = remaining;
                }
                None => {
                    filled.push_str("{{");
                    rest = after;
                }
            }
        }
        filled.push_str(rest);
        filled
    }

    /// JSON with the placeholders in its strings filled in.
    pub(super) fn fill_json(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(items) => items.iter().map(|item| self.fill_json(item)).collect(),
            Value::Object(members) => members
                .iter()
                .map(|(name, value)| (name.clone(), self.fill_json(value)))
                .collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }
}

/// Whether the text contains one of these; no condition always holds.
fn contains_one(text: &str, wanted: &[String]) -> bool {
    let text = text.to_lowercase();
    wanted.is_empty()
        || wanted
            .iter()
            .any(|wanted| text.contains(&wanted.to_lowercase()))
}

fn text_of(content: &[Part]) -> String {
    content
        .iter()
        .filter_map(Part::as_text)
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AssistantMessage;

    fn script() -> Script {
        let json = r#"{"turns": [
            {"when": {"user": ["Recipe", "cook"]}, "say": "recipe"},
            {"when": {"after_tool": "write", "result": "declined"}, "say": "not written"},
            {"when": {"after_tool": "write"}, "say": "written"},
            {"when": {"after_tool": "*", "turn": 3}, "say": "third"},
            {"when": {"tool_offered": "map"}, "say": "map"},
            {"say": "else"}
        ]}"#;
        serde_json::from_str(json).unwrap()
    }

    fn chosen(messages: Vec<Message>) -> Option<String> {
        let request = Request {
            messages,
            ..Request::default()
        };
        Scene::of(&request).choose(&script())?.say.clone()
    }

    fn called() -> Message {
        Message::Assistant(AssistantMessage::default())
    }

    #[test]
    fn the_first_turn_that_fits_is_chosen() {
        assert_eq!(
            chosen(vec![Message::user("what can I COOK?")]).unwrap(),
            "recipe"
        );
        assert_eq!(chosen(vec![Message::user("hello")]).unwrap(), "else");
    }

    #[test]
    fn after_results_only_a_turn_that_speaks_of_them_is_chosen() {
        let user = || Message::user("a recipe");
        let result = |tool: &str| Message::tool_result("c", tool, "ok");
        assert_eq!(
            chosen(vec![user(), called(), result("write")]).unwrap(),
            "written"
        );
        let declined = Message::tool_result("c", "write", "Declined by the user");
        assert_eq!(
            chosen(vec![user(), called(), declined]).unwrap(),
            "not written"
        );
        assert_eq!(chosen(vec![user(), called(), result("other")]), None);
        assert_eq!(
            chosen(vec![
                user(),
                called(),
                result("other"),
                called(),
                result("other")
            ])
            .unwrap(),
            "third"
        );
        assert_eq!(
            chosen(vec![user(), called(), result("write"), user()]).unwrap(),
            "recipe"
        );
    }

    #[test]
    fn placeholders_are_filled_once() {
        let messages = vec![
            Message::user("{{result}}"),
            called(),
            Message::tool_result("c", "t", "42"),
        ];
        let request = Request {
            messages,
            ..Request::default()
        };
        let scene = Scene::of(&request);
        assert_eq!(
            scene.fill("{{user}} is {{result}}, {{other}} {{"),
            "{{result}} is 42, {{other}} {{"
        );
        assert_eq!(
            scene.fill_json(&serde_json::json!({"a": ["{{result}}", 1]})),
            serde_json::json!({"a": ["42", 1]})
        );
    }
}
