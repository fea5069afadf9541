//! The end of a run, for a client that waits for it.

use antiphon_agent::store::{RunRecord, RunStatus};
use antiphon_agent::{Batch, Frame, Reader};
use antiphon_protocol::{Event, EventType, Message, Replica};

use crate::app::App;
use crate::error::ApiError;
use crate::stream::decode;

/// Reads a run to its end. With `folds`, returns what the run said after the person's last words: some
/// agents' threads are stored nowhere.
pub(crate) async fn end(reader: &mut Reader, folds: bool) -> Option<Vec<Message>> {
    let mut replica = folds.then(|| Replica::new(Vec::new(), None));
    loop {
        let frames = match reader.next().await {
            Batch::Frames(frames) => frames,
            Batch::Ended => break,
            Batch::Lagged => {
                let joined = reader.log().join(None);
                *reader = joined.reader;
                joined.prelude
            }
        };
        if let Some(replica) = &mut replica {
            frames.iter().for_each(|frame| fold(replica, frame));
        }
    }
    replica.map(|replica| said(replica.into_parts().0))
}

/// Takes a frame into what a reader holds.
pub(super) fn fold(replica: &mut Replica, frame: &Frame) {
    if let Some(event) = decode(frame) {
        replica.apply(&event);
    }
}

/// What follows the person's last words.
pub(super) fn said(mut messages: Vec<Message>) -> Vec<Message> {
    let is_user = |message: &Message| matches!(message, Message::User(_));
    let start = messages
        .iter()
        .rposition(is_user)
        .map_or(0, |last| last + 1);
    messages.split_off(start)
}

/// What is recorded of a run that this process plays, or has played to its end. A run whose end could
/// not be stored is shown as its events told it.
///
/// # Errors
/// The store is away.
pub(crate) async fn record(
    app: &App,
    user: &str,
    thread: &str,
    reader: &Reader,
) -> Result<Option<RunRecord>, ApiError> {
    let log = reader.log();
    let store = app.runtime.store();
    let mut found = store.run(user, log.run_id(), Some(thread)).await?;
    if let Some(record) = found
        .as_mut()
        .filter(|run| run.status == RunStatus::Running)
        && let Some(ending) = log.ending()
    {
        record.status = match ending.kind {
            EventType::RunError => RunStatus::Failed,
            _ => RunStatus::Cancelled,
        };
        record.ending = decode(&ending).and_then(|event: Event| serde_json::to_value(event).ok());
    }
    Ok(found)
}
