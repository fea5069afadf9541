//! A response as JSON, from what is stored of it.

use antiphon_agent::store::{Interaction, InteractionKind, RunRecord, RunStatus, Thread};
use antiphon_protocol::Message;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::action::action;
use super::item::{items, text};
use crate::app::App;
use crate::error::ApiError;

/// How far a response has come.
#[derive(Debug, PartialEq)]
enum Standing<'a> {
    /// It is at work, or another system is.
    InProgress(Option<&'a Interaction>),
    /// Its client has to do something.
    RequiresAction(Vec<&'a Interaction>),
    Completed,
    Failed {
        code: &'a str,
        message: &'a str,
    },
    Cancelled,
    /// A person declined, and the agent stops then.
    Denied,
}

/// The response that a run is the newest one of.
///
/// `live` is what the run itself said, for agents whose threads are not stored.
///
/// # Errors
/// The thread is gone, or the store is away.
pub(crate) async fn receipt(
    app: &App,
    record: &RunRecord,
    live: Option<&[Message]>,
) -> Result<Value, ApiError> {
    let thread = app.runtime.store().thread(&record.key).await?;
    let thread = thread.ok_or_else(|| ApiError::not_found("response"))?;
    let now = app.runtime.clock().now();
    let standing = standing(record, &thread.interactions, now);
    let is_over = !matches!(
        standing,
        Standing::InProgress(_) | Standing::RequiresAction(_)
    );
    let output = match (is_over, live) {
        (false, _) => Vec::new(),
        (true, Some(messages)) => items(messages),
        (true, None) => items(answer(&thread, record)),
    };
    let mut receipt = json!({
        "id": record.response_id,
        "sessionId": record.key.thread,
        "agent": record.agent,
        "status": standing.word(),
    });
    standing.explain(&mut receipt);
    receipt["outputText"] = json!(text(&output));
    receipt["output"] = json!(output);
    receipt["metadata"] = metadata(record);
    if is_over {
        // What a run says while it waits is no result of the response.
        let result = ending(record).get("result");
        if let Some(result) = result.filter(|_| record.status != RunStatus::Waiting) {
            receipt["result"] = result.clone();
        }
        receipt["usage"] = usage(ending(record));
    }
    Ok(receipt)
}

impl Standing<'_> {
    fn word(&self) -> &'static str {
        match self {
            Self::InProgress(_) => "in_progress",
            Self::RequiresAction(_) => "requires_action",
            Self::Completed => "completed",
            Self::Failed { .. } => "failed",
            Self::Cancelled => "cancelled",
            Self::Denied => "denied",
        }
    }

    /// Adds what is waited for, or what went wrong.
    fn explain(&self, receipt: &mut Value) {
        match self {
            Self::InProgress(Some(wait)) => receipt["pendingAction"] = action(wait),
            Self::RequiresAction(open) => {
                let actions: Vec<Value> = open.iter().map(|open| action(open)).collect();
                receipt["requiredAction"] = actions.first().cloned().unwrap_or_default();
                if actions.len() > 1 {
                    receipt["requiredActions"] = json!(actions);
                }
            }
            Self::Failed { code, message } => {
                receipt["error"] = json!({ "code": code, "message": message });
            }
            Self::InProgress(None) | Self::Completed | Self::Cancelled | Self::Denied => {}
        }
    }
}

/// How far a response has come, by its newest run and what is open in its thread.
fn standing<'a>(record: &'a RunRecord, open: &'a [Interaction], now: Timestamp) -> Standing<'a> {
    match record.status {
        RunStatus::Running => Standing::InProgress(None),
        RunStatus::Finished => Standing::Completed,
        RunStatus::Cancelled => Standing::Cancelled,
        RunStatus::Failed => failed(ending(record)),
        RunStatus::Waiting => waiting(record, open, now),
    }
}

fn waiting<'a>(record: &'a RunRecord, open: &'a [Interaction], now: Timestamp) -> Standing<'a> {
    let is_live =
        |open: &&Interaction| open.response_id == record.response_id && !open.has_expired(now);
    let live = open.iter().filter(is_live);
    let (elsewhere, here): (Vec<_>, Vec<_>) =
        live.partition(|open| open.kind == InteractionKind::ExternalWait);
    if !here.is_empty() {
        return Standing::RequiresAction(here);
    }
    match elsewhere.first() {
        Some(wait) => Standing::InProgress(Some(wait)),
        // A run that a crash cut ends without an outcome; its question was passed over.
        None if ending(record).get("outcome").is_none() => Standing::Failed {
            code: "interrupted",
            message: "the server stopped while the run was at work",
        },
        None => Standing::Failed {
            code: "expired",
            message: "nobody answered in time",
        },
    }
}

fn failed(ending: &Value) -> Standing<'_> {
    match ending["code"].as_str().unwrap_or("internal") {
        "approval_declined" => Standing::Denied,
        code => Standing::Failed {
            code,
            message: ending["message"].as_str().unwrap_or("the run failed"),
        },
    }
}

fn ending(record: &RunRecord) -> &Value {
    record.ending.as_ref().unwrap_or(&Value::Null)
}

/// The messages between the one that a run answers and its last one. What a later request cut from
/// the thread is not there any more.
fn answer<'a>(thread: &'a Thread, record: &'a RunRecord) -> impl Iterator<Item = &'a Message> + 'a {
    let id = |member: &str| record.invocation[member].as_str();
    let all = || thread.messages.iter().map(|stored| &stored.message);
    let place = |id: &str| all().position(|message| message.id() == id);
    let start = id("turn").and_then(place).map(|place| place + 1);
    let end = match id("last") {
        Some(last) => place(last).map(|place| place + 1),
        None => Some(usize::MAX),
    };
    let range = start.zip(end).map_or(0..0, |(start, end)| start..end);
    all()
        .skip(range.start)
        .take(range.end.saturating_sub(range.start))
        .take_while(|message| !matches!(message, Message::User(_)))
}

/// What the client gave to be kept with the response.
fn metadata(record: &RunRecord) -> Value {
    match &record.invocation["forwardedProps"]["metadata"] {
        Value::Object(metadata) => json!(metadata),
        _ => json!({}),
    }
}

/// Tokens of the newest run, over all models.
fn usage(ending: &Value) -> Value {
    let sum = |member: &str| {
        let entries = ending["usage"].as_array().into_iter().flatten();
        entries
            .filter_map(|entry| entry[member].as_u64())
            .sum::<u64>()
    };
    let (input, output, total) = (sum("inputTokens"), sum("outputTokens"), sum("totalTokens"));
    json!({
        "inputTokens": input,
        "outputTokens": output,
        "totalTokens": total.max(input.saturating_add(output)),
    })
}
