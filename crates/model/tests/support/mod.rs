//! What every stream of events has to keep, and the folding of one into a turn.

use antiphon_model::{Collected, Error, ModelEvent};

/// Fails where a stream breaks a guarantee of [`ModelEvent`], and returns the turn with its error.
#[track_caller]
pub(crate) fn checked(stream: &[Result<ModelEvent, Error>]) -> (Collected, Option<Error>) {
    let mut turn = Collected::default();
    let mut ended: Vec<bool> = Vec::new();
    let mut failure = None;
    for item in stream {
        assert!(failure.is_none(), "something follows an error: {stream:?}");
        assert!(
            turn.finish.is_none(),
            "something follows the finish: {stream:?}"
        );
        let event = match item {
            Ok(event) => event,
            Err(error) => {
                failure = Some(error.clone());
                continue;
            }
        };
        match event {
            ModelEvent::Text(delta) | ModelEvent::Reasoning(delta) => assert!(!delta.is_empty()),
            ModelEvent::CallStarted { index, id, name } => {
                assert_eq!(*index, ended.len(), "calls are counted in order");
                assert!(!id.is_empty() && !name.is_empty());
                let known = turn.message.calls.iter().any(|call| call.id == *id);
                assert!(!known, "the id {id} is used twice");
                ended.push(false);
            }
            ModelEvent::CallArguments { index, delta } => {
                assert!(!delta.is_empty());
                assert!(!ended[*index], "arguments after the end of call {index}");
            }
            ModelEvent::CallEnded { index } => {
                assert!(
                    !std::mem::replace(&mut ended[*index], true),
                    "call {index} ends twice"
                );
            }
            ModelEvent::Usage(_) => assert!(turn.usage.is_none(), "usage comes twice"),
            ModelEvent::Finished(_) => assert!(
                ended.iter().all(|ended| *ended),
                "a call is open at the finish"
            ),
            other => panic!("unknown event {other:?}"),
        }
        turn.push(event);
    }
    assert!(
        failure.is_some() || turn.finish.is_some(),
        "the stream ends without a finish or an error"
    );
    (turn, failure)
}
