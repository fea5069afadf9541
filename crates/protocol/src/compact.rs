//! A recorded stream made shorter without changing what it means.

use serde_json::Value;

use crate::{Base, Event, StateDelta, StateSnapshot};

/// Merges what stands side by side: deltas of one message, arguments of one call, and changes
/// of the state.
///
/// Nothing is reordered, so the result folds to the same messages and state, and a legal stream
/// stays legal. Events that carry a timestamp or the event they were made from are left alone.
///
/// ```
/// use antiphon_protocol::{Event, TextMessageContent, compact};
///
/// let events = ["Hel", "lo"].map(|delta| Event::from(TextMessageContent::new("m1", delta)));
/// let compacted = compact(events.to_vec());
/// assert_eq!(compacted, [TextMessageContent::new("m1", "Hello").into()]);
/// ```
#[must_use]
pub fn compact(events: Vec<Event>) -> Vec<Event> {
    let mut compacted: Vec<Event> = Vec::with_capacity(events.len());
    for event in events {
        if let Some(last) = compacted.last_mut() {
            match merge(last, event) {
                Ok(()) => {}
                Err(event) => compacted.push(*event),
            }
        } else {
            compacted.push(event);
        }
    }
    compacted
}

/// Merges the later event into the earlier one, or gives it back.
fn merge(earlier: &mut Event, later: Event) -> Result<(), Box<Event>> {
    if !is_plain(earlier.base()) || !is_plain(later.base()) {
        return Err(Box::new(later));
    }
    match (earlier, later) {
        (Event::TextMessageContent(earlier), Event::TextMessageContent(later))
            if earlier.message_id == later.message_id
                && earlier.subagent_run_id == later.subagent_run_id =>
        {
            earlier.delta.push_str(&later.delta);
            merge_metadata(&mut earlier.base, later.base);
        }
        (Event::ReasoningMessageContent(earlier), Event::ReasoningMessageContent(later))
            if earlier.message_id == later.message_id
                && earlier.subagent_run_id == later.subagent_run_id =>
        {
            earlier.delta.push_str(&later.delta);
            merge_metadata(&mut earlier.base, later.base);
        }
        (Event::ToolCallArgs(earlier), Event::ToolCallArgs(later))
            if earlier.tool_call_id == later.tool_call_id
                && earlier.subagent_run_id == later.subagent_run_id =>
        {
            earlier.delta.push_str(&later.delta);
            merge_metadata(&mut earlier.base, later.base);
        }
        (Event::StateSnapshot(earlier), Event::StateSnapshot(later))
            if earlier.subagent_run_id == later.subagent_run_id =>
        {
            earlier.snapshot = later.snapshot;
            merge_metadata(&mut earlier.base, later.base);
        }
        (Event::StateSnapshot(earlier), Event::StateDelta(later))
            if earlier.subagent_run_id == later.subagent_run_id =>
        {
            return change(earlier, later);
        }
        (_, later) => return Err(Box::new(later)),
    }
    Ok(())
}

/// Applies a delta to the snapshot before it. One that does not apply stays, to be warned of.
fn change(earlier: &mut StateSnapshot, later: StateDelta) -> Result<(), Box<Event>> {
    let state: &mut Value = &mut earlier.snapshot;
    if later.delta.apply(state).is_err() {
        return Err(Box::new(later.into()));
    }
    merge_metadata(&mut earlier.base, later.base);
    Ok(())
}

const fn is_plain(base: &Base) -> bool {
    base.timestamp.is_none() && base.raw_event.is_none()
}

fn merge_metadata(earlier: &mut Base, later: Base) {
    if let Some(later) = later.metadata {
        earlier.metadata.get_or_insert_default().extend(later);
    }
}
