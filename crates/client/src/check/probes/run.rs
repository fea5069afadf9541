//! The run of the probe, and a second one on the same thread.

use antiphon_protocol::{Event, Message};
use serde_json::{Value, json};

use super::{First, Prober, asked, posting, refusal_of, to_bytes, with};
use crate::check::stream::{Heard, judge};
use crate::client::new_id;

impl Prober<'_> {
    pub(super) async fn probe_run(&mut self, first: &First) {
        let Some(heard) = &first.heard else {
            self.record
                .broken("probe", "first run", refusal_of(&first.exchange));
            return;
        };
        let found = heard.failure().map_or(Ok(()), Err);
        self.record.note("probe", "first run", found);
        let found = match first.exchange.reads {
            0 | 1 if heard.kinds.len() > 2 => Err(format!(
                "{} events came in one piece, at the end",
                heard.kinds.len()
            )),
            _ => Ok(()),
        };
        self.record.note("streaming", "first run", found);
        if heard.is_interrupted() {
            self.probe_uncovered(first, heard).await;
        } else if heard.replica.pending_tool_call_ids().is_empty() {
            self.probe_second_turn(first, heard).await;
        }
    }

    async fn probe_second_turn(&mut self, first: &First, heard: &Heard) {
        let body = self.next_turn(first, heard);
        self.served("second-turn", "second run", &body).await;
    }

    /// Goes on without an answer to what was asked.
    async fn probe_uncovered(&mut self, first: &First, heard: &Heard) {
        let place = "second run, without an answer to the question";
        let body = self.next_turn(first, heard);
        let ask = posting(to_bytes(&body));
        let Some(exchange) = self.answered(place, ask).await else {
            return;
        };
        if exchange.status != 200 {
            return self.refusal("uncovered-interrupt", place, &exchange);
        }
        let asked = asked(&body);
        let Some(second) = judge(&mut self.record, place, &exchange, &asked) else {
            return;
        };
        let gated: Vec<&str> = heard
            .replica
            .interrupts()
            .iter()
            .filter_map(|interrupt| interrupt.tool_call_id.as_deref())
            .collect();
        let executed = second.events.iter().find_map(|event| match event {
            Event::ToolCallResult(result) if gated.contains(&result.tool_call_id.as_str()) => {
                Some(result.tool_call_id.clone())
            }
            _ => None,
        });
        let found = match executed {
            Some(call) => Err(format!("the call {call:?} that waits was executed")),
            None if second.is_interrupted() || second.failure().is_some() => Ok(()),
            None => Err("the run ended as a success".to_owned()),
        };
        self.record.note("uncovered-interrupt", place, found);
    }

    /// A second request on the first run's thread, with the history and the state that the first
    /// run made.
    fn next_turn(&self, first: &First, heard: &Heard) -> Value {
        let kept = heard.replica.messages().iter();
        let mut messages: Vec<Value> = kept
            .filter(|message| !matches!(message, Message::Activity(_)))
            .map(|message| json!(message))
            .collect();
        messages.push(json!({"id": new_id(), "role": "user", "content": self.options.probe}));
        let body = with(first.body.clone(), "runId", Some(json!(new_id())));
        let body = with(body, "messages", Some(json!(messages)));
        with(body, "state", Some(heard.replica.state().clone()))
    }
}
