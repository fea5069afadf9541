//! What single pages want to see, and not to see, of a run.

use antiphon::protocol::Event;
use antiphon::{Filter, Middleware, Outgoing, RunContext};

/// Leaves tool calls out, for a page that shows the state alone.
pub(super) fn without_tool_calls(event: Event, out: &mut Outgoing) {
    match event {
        Event::ToolCallStart(_)
        | Event::ToolCallArgs(_)
        | Event::ToolCallEnd(_)
        | Event::ToolCallResult(_) => {}
        other => out.send(other),
    }
}

/// Leaves a prediction to the page: from the first call on, a run shows its calls and nothing of the
/// state. The page makes the state of the arguments itself, as CUSTOM `PredictState` tells it.
#[derive(Debug, Clone, Copy)]
pub(super) struct PagePredicts;

impl Middleware for PagePredicts {
    fn begin(&self, _: RunContext<'_>) -> Box<dyn Filter> {
        let mut called = false;
        Box::new(move |event: Event, out: &mut Outgoing| {
            called |= matches!(event, Event::ToolCallStart(_));
            let is_for_others = matches!(
                event,
                Event::StateSnapshot(_)
                    | Event::StateDelta(_)
                    | Event::MessagesSnapshot(_)
                    | Event::Custom(_)
            );
            if !(called && is_for_others) {
                out.send(event);
            }
        })
    }
}
