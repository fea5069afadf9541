//! Cases about reading: a recorded stream, and what its reader must hold at the end.
//!
//! The reader is the protocol crate as a client uses it: events are read with its tolerance,
//! judged by the consumer's `Verifier` and folded by the `Replica`.

use std::path::Path;

use antiphon_protocol::{Event, Message, Replica, Verifier};
use antiphon_sse::Decoder;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    case::Case,
    json::{list, same, text},
    play::{Step, Stop},
};

/// What a reader must hold at the end of a stream.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientWant {
    /// Whether the run is reported as ended well.
    ok: Option<bool>,
    /// The run is reported as failed.
    #[serde(default)]
    must_report_failure: bool,
    /// A text of the reported error.
    run_error: Option<String>,
    state: Option<Value>,
    message_ids: Option<Vec<String>>,
    /// Contents by message id.
    #[serde(default)]
    contents: Map<String, Value>,
    /// Calls by message id, as `{id, arguments}`.
    #[serde(default)]
    tool_calls: Map<String, Value>,
    #[serde(default)]
    warnings_at_least: usize,
    /// The stream with one text replaced, and what must be held then.
    #[serde(default)]
    also: Vec<Also>,
    /// How often the client posts; needs a client that runs tools.
    posts: Option<usize>,
    #[serde(default)]
    second_post_has_tool_message: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Also {
    replace: (String, String),
    client: ClientWant,
}

/// What a reader holds at the end.
struct Outcome {
    messages: Vec<Value>,
    state: Value,
    /// Why the run failed; `None` if it ended well.
    failure: Option<String>,
    warnings: usize,
}

/// Plays a recorded stream and judges what its reader holds.
///
/// # Errors
///
/// Something is not as it must be, or the case needs a whole client.
pub fn play(case: &Case, want: &ClientWant) -> Step {
    if want.posts.is_some() || want.second_post_has_tool_message {
        return Err(Stop::new("needs a client that runs tools"));
    }
    let stream = read(&case.folder.join("events.sse"))?;
    let input: Value = serde_json::from_str(&read(&case.folder.join("input.json"))?)?;
    let mut problems = want.problems(&consume(&stream, &input));
    for also in &want.also {
        let (from, to) = &also.replace;
        if !stream.contains(from) {
            problems.push(format!("the text to replace is not in the stream: {from}"));
        }
        problems.extend(
            also.client
                .problems(&consume(&stream.replace(from, to), &input)),
        );
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(Stop::new(problems.join("\n  ")))
    }
}

fn read(path: &Path) -> Step<String> {
    std::fs::read_to_string(path).map_err(|e| Stop::new(format!("{}: {e}", path.display())))
}

fn consume(stream: &str, input: &Value) -> Outcome {
    let messages = list(input, "messages").iter();
    let messages = messages.filter_map(|m| serde_json::from_value::<Message>(m.clone()).ok());
    let state = input.get("state").filter(|s| !s.is_null()).cloned();
    let mut replica = Replica::new(messages.collect(), state.unwrap_or_else(|| json!({})));
    let mut verifier = Verifier::consumer();
    let mut decoder = Decoder::new(1 << 20);
    decoder.push(stream.as_bytes());
    decoder.finish();
    let (mut warnings, mut failure) = (0, None);
    while let Some(Ok(frame)) = decoder.next_event() {
        let read = serde_json::from_slice::<Value>(&frame.data)
            .map_err(|e| e.to_string())
            .and_then(|value| Event::read(value).map_err(|e| e.to_string()));
        let event = match read {
            Ok(read) => {
                warnings += read.warnings.len();
                let Some(event) = read.value else { continue };
                event
            }
            Err(error) => {
                failure = Some(error);
                break;
            }
        };
        if let Err(violation) = verifier.check(&event) {
            failure = Some(violation.to_string());
            break;
        }
        if let Event::RunError(error) = &event {
            failure = Some(error.message.clone());
        }
        warnings += replica.apply(&event).len();
    }
    if let Err(violation) = verifier.finish() {
        failure.get_or_insert(violation.to_string());
    }
    Outcome {
        messages: replica.messages().iter().map(|m| json!(m)).collect(),
        state: replica.state().clone(),
        failure,
        warnings,
    }
}

impl ClientWant {
    fn problems(&self, got: &Outcome) -> Vec<String> {
        let mut out = Vec::new();
        let failed = got.failure.is_some();
        if self.ok.is_some_and(|ok| ok == failed) || (self.must_report_failure && !failed) {
            out.push(format!("the reported failure is {:?}", got.failure));
        }
        if let Some(want) = &self.run_error
            && !got.failure.as_ref().is_some_and(|why| why.contains(want))
        {
            out.push(format!(
                "the failure {:?} does not say {want:?}",
                got.failure
            ));
        }
        if let Some(want) = self.state.as_ref().filter(|want| !same(want, &got.state)) {
            out.push(format!("state {}, expected {want}", got.state));
        }
        let ids: Vec<_> = got.messages.iter().map(|m| text(m, "id")).collect();
        if let Some(want) = self.message_ids.as_ref().filter(|want| **want != ids) {
            out.push(format!("messages {ids:?}, expected {want:?}"));
        }
        let find = |id: &str| {
            got.messages
                .iter()
                .find(|m| text(m, "id") == id)
                .unwrap_or(&Value::Null)
        };
        for (id, want) in &self.contents {
            let content = &find(id)["content"];
            if content != want {
                out.push(format!("the content of {id} is {content}, expected {want}"));
            }
        }
        for (id, want) in &self.tool_calls {
            let calls = list(find(id), "toolCalls").iter();
            let calls: Vec<_> = calls
                .map(|c| json!({"id": c["id"], "arguments": c["function"]["arguments"]}))
                .collect();
            if json!(calls) != *want {
                out.push(format!("the calls of {id} are {calls:?}, expected {want}"));
            }
        }
        if got.warnings < self.warnings_at_least {
            out.push(format!(
                "{} warnings, expected {}",
                got.warnings, self.warnings_at_least
            ));
        }
        out
    }
}
